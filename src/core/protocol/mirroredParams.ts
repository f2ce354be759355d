/**
 * Over HTTP, headers of a modern request repeat its method, its target, and the parameters that its
 * tool marks.
 */
import { english } from '../base/language.js';
import { isObject, mapped, without, type Fields } from '../base/isObject.js';
import { deepestValue } from './json.js';
import { valueKeywords } from './shapes.js';
import { taskMethods } from './versions.js';

/** `header` is the name of its header after `Mcp-Param-`. */
export type MirroredParam = Readonly<{ header: string; path: readonly string[] }>;

const annotation = 'x-mcp-header';
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const mirroredTypes = ['string', 'integer', 'boolean'];

/** By method: the parameter in the header `Mcp-Name`. */
export const namedParams: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ...taskMethods.map((method): [string, string] => [method, 'taskId']),
]);

export function mirroredValue(
  { path }: MirroredParam,
  args: unknown,
): string | number | boolean | undefined {
  const value = path.reduce<unknown>(
    (inner, key) => (isObject(inner) ? inner[key] : undefined),
    args,
  );
  return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number'
    ? value
    : undefined;
}

/** Encodes everything but plain ASCII, and seemingly encoded text. */
export function toHeader(value: string): string {
  const isMarked = value.startsWith('=?base64?') && value.endsWith('?=');
  const isPlain = plain.test(value) && value === value.trim();
  return isPlain && !isMarked
    ? value
    : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

const plain = /^[\t\x20-\x7e]*$/;

export function fromHeader(header: string): string | undefined {
  if (!plain.test(header)) return undefined;
  const [, encoded] = /^=\?base64\?(.*)\?=$/s.exec(header) ?? [];
  if (encoded === undefined) return header;
  const bytes = Buffer.from(encoded, 'base64');
  // Node's reader accepts invalid base64, for example without padding.
  return bytes.toString('base64') === encoded ? bytes.toString('utf8') : undefined;
}

/**
 * Returns a sentence about the first mirrored parameter that is missing or different in the
 * headers.
 */
export function mirrorMismatch(
  params: readonly MirroredParam[],
  args: unknown,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): string | undefined {
  for (const param of params) {
    const name = `Mcp-Param-${param.header}`;
    const said = headers[name.toLowerCase()];
    const meant = mirroredValue(param, args);
    if (said === undefined && meant === undefined) continue;
    if (said === undefined) return `The header ${name} is missing.`;
    const value = typeof said === 'string' ? fromHeader(said) : undefined;
    if (value === undefined) return `The header ${name} has a value that is not allowed.`;
    const isSame =
      typeof meant === 'number'
        ? value.trim() !== '' && Number(value) === meant
        : value === String(meant);
    if (meant === undefined || !isSame) return `The header ${name} does not match the body.`;
  }
  return undefined;
}

/** Returns a text that completes "The tool …" for a schema with a wrong annotation. */
export function mirroredParams(schema: unknown): readonly MirroredParam[] | string {
  const params: MirroredParam[] = [];
  const seen = new Set<string>();
  let detail: string | undefined;
  const wrong = (what: string): void => void (detail ??= english`has an \`${annotation}\` ${what}`);
  const annotated = (node: Fields, path: readonly string[] | undefined): void => {
    const header = node[annotation];
    if (header === undefined) return;
    if (typeof header !== 'string' || !token.test(header))
      return wrong(english`that is not the name of a header`);
    if (!path || path.length === 0)
      return wrong(english`where it is not allowed: only \`properties\` may lead to it`);
    if (!mirroredTypes.includes(node['type'] as string))
      return wrong(english`on a parameter that is not a string, integer or boolean`);
    const lower = header.toLowerCase();
    if (seen.has(lower)) return wrong(english`"${header}" twice`);
    seen.add(lower);
    params.push({ header, path });
  };
  /** @param path undefined below any keyword but `properties` */
  const walk = (node: unknown, path: readonly string[] | undefined, depth: number): void => {
    if (depth > deepestValue) return;
    if (Array.isArray(node)) return node.forEach((item) => walk(item, undefined, depth + 1));
    if (!isObject(node)) return;
    annotated(node, path);
    for (const [key, value] of Object.entries(node)) {
      if (valueKeywords.includes(key)) continue;
      if (key !== 'properties' || !isObject(value)) walk(value, undefined, depth + 1);
      else
        for (const [name, inner] of Object.entries(value))
          walk(inner, path && [...path, name], depth + 1);
    }
  };
  walk(schema, [], 0);
  return detail ?? params;
}

export function withoutMirroring(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutMirroring);
  if (!isObject(schema)) return schema;
  return mapped(without(schema, annotation), (value, key) => {
    if (valueKeywords.includes(key)) return value;
    const isMap = key === 'properties' && isObject(value);
    return isMap ? mapped(value, withoutMirroring) : withoutMirroring(value);
  });
}
