/** Reads another program's file, JSON with comments or TOML, in UTF-8 or UTF-16, into plain values. Never throws. */
import { withoutMark } from '../base/byteOrderMark.js';
import { parse as parseToml, TomlError } from 'smol-toml';
import { isObject } from '../base/isObject.js';
import { readJson } from '../yaml/jsonTree.js';
import type { ValueNode } from '../yaml/valueNodes.js';

type SourceReading =
  | {
      readonly kind: 'read';
      readonly root: Readonly<Record<string, unknown>>;
      /** The paths of duplicate keys. The last one counts. */
      readonly twice: readonly string[];
    }
  | { readonly kind: 'unreadable'; readonly reason: string };

/** Decodes the bytes of a file. Editors on Windows also write UTF-16, with a mark or without one. */
export function textOfBytes(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const isBig = (first === 0xfe && second === 0xff) || (first === 0 && second !== 0);
  const isLittle = (first === 0xff && second === 0xfe) || (second === 0 && first !== 0);
  return new TextDecoder(isBig ? 'utf-16be' : isLittle ? 'utf-16le' : 'utf-8').decode(bytes);
}

export function readSource(source: string, form: 'json' | 'toml'): SourceReading {
  const text = withoutMark(source);
  return form === 'toml' ? readToml(text) : readObject(text);
}

function readToml(text: string): SourceReading {
  try {
    return { kind: 'read', root: parseToml(text), twice: [] };
  } catch (error) {
    // The library's message quotes the line, and the line may hold a secret.
    const where = error instanceof TomlError ? ` in line ${error.line}` : '';
    return { kind: 'unreadable', reason: `it is not TOML${where}` };
  }
}

function readObject(text: string): SourceReading {
  const { errors, root } = readJson(text);
  const [error] = errors;
  if (error) {
    const line = text.slice(0, error.span.start).split(/\r\n|\r|\n/).length;
    return { kind: 'unreadable', reason: `it is not JSON: ${error.what} in line ${line}` };
  }
  const twice: string[] = [];
  const value = lastOf(root, '', twice);
  return isObject(value)
    ? { kind: 'read', root: value, twice }
    : { kind: 'unreadable', reason: 'it is not a JSON object' };
}

/** Returns the plain value like `JSON.parse`: the last duplicate key counts. */
function lastOf(node: ValueNode, path: string, twice: string[]): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map((item, index) => lastOf(item, `${path}${index}.`, twice));
  const entries = new Map([...node.entries].map(([key, { value }]) => [key, value]));
  for (const { again } of node.duplicates) {
    entries.set(again.key, again.value);
    twice.push(path + again.key);
  }
  return Object.fromEntries([...entries].map(([key, value]) => [key, lastOf(value, `${path}${key}.`, twice)]));
}
