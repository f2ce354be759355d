/**
 * The headers in which a request of the modern era says over HTTP what its body says: its method, whom it is for, and
 * the parameters that the definition of a tool wants to have mirrored. Pure but for the tools that it has seen.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { isObject } from '../../base/isObject.js';
import type { Fields } from '../../protocol/client.js';

interface MirroredParam {
  readonly header: string;
  /** The keys that lead to its value. */
  readonly path: readonly string[];
}

type Mirrored =
  | { readonly kind: 'right'; readonly params: readonly MirroredParam[] }
  /** `detail` completes "The tool …". */
  | { readonly kind: 'wrong'; readonly detail: string };

const annotation = 'x-mcp-header';
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const mirroredTypes = ['string', 'integer', 'boolean'];
/** The keywords whose values are data and no schemas. */
const dataKeywords = ['default', 'const', 'enum', 'examples'];

export class RequestHeaders {
  private readonly tools = new Map<string, readonly MirroredParam[]>();

  /** @param result of `tools/list` */
  learn({ tools }: Fields): void {
    if (!Array.isArray(tools)) return;
    for (const tool of tools as unknown[]) {
      if (!isObject(tool) || typeof tool['name'] !== 'string') continue;
      const mirrored = mirroredParams(tool['inputSchema']);
      if (mirrored.kind === 'right' && mirrored.params.length > 0) this.tools.set(tool['name'], mirrored.params);
      else this.tools.delete(tool['name']);
    }
  }

  of(message: JSONRPCMessage): Record<string, string> {
    if (!('method' in message)) return {};
    const { method } = message;
    const { name, uri, arguments: args } = (message.params ?? {}) as Fields;
    const headers: Record<string, string> = { 'mcp-method': method };
    const target = method === 'resources/read' ? uri : name;
    if (namedMethods.includes(method) && typeof target === 'string') headers['mcp-name'] = encoded(target);
    if (method !== 'tools/call' || typeof name !== 'string') return headers;
    for (const { header, path } of this.tools.get(name) ?? []) {
      const value = path.reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), args);
      if (isMirrored(value)) headers[`mcp-param-${header}`] = encoded(String(value));
    }
    return headers;
  }
}

const namedMethods = ['tools/call', 'resources/read', 'prompts/get'];

function isMirrored(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number';
}

/** What is no plain text of ASCII, and what looks as if it were encoded, is encoded. */
function encoded(value: string): string {
  const isPlain = /^[\t\x20-\x7e]*$/.test(value) && value === value.trim();
  const isMarked = value.startsWith('=?base64?') && value.endsWith('?=');
  return isPlain && !isMarked ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

/** @param schema the input schema of a tool */
export function mirroredParams(schema: unknown): Mirrored {
  const params: MirroredParam[] = [];
  const seen = new Set<string>();
  let detail: string | undefined;
  const wrong = (what: string): void => void (detail ??= `has an \`${annotation}\` ${what}`);
  const annotated = (node: Readonly<Record<string, unknown>>, path: readonly string[] | undefined): void => {
    const header = node[annotation];
    if (header === undefined) return;
    if (typeof header !== 'string' || !token.test(header)) return wrong('that is no name of a header');
    if (!path || path.length === 0) return wrong('where it may not stand: only `properties` may lead to it');
    if (!mirroredTypes.includes(node['type'] as string))
      return wrong('on a parameter that is no text, integer or boolean');
    const lower = header.toLowerCase();
    if (seen.has(lower)) return wrong(`"${header}" twice`);
    seen.add(lower);
    params.push({ header, path });
  };
  /** @param path undefined where anything but `properties` has led here */
  const walk = (node: unknown, path: readonly string[] | undefined): void => {
    if (Array.isArray(node)) return node.forEach((item) => walk(item, undefined));
    if (!isObject(node)) return;
    annotated(node, path);
    for (const [key, value] of Object.entries(node)) {
      if (dataKeywords.includes(key)) continue;
      if (key !== 'properties' || !isObject(value)) walk(value, undefined);
      else for (const [name, inner] of Object.entries(value)) walk(inner, path && [...path, name]);
    }
  };
  walk(schema, []);
  return detail === undefined ? { kind: 'right', params } : { kind: 'wrong', detail };
}
