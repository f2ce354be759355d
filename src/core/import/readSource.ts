/** Reads another program's file (JSON with comments, TOML or YAML) into plain values. Never throws. */
import { withoutMark } from '../base/byteOrderMark.js';
import { parse as parseToml, TomlError } from 'smol-toml';
import { isObject } from '../base/isObject.js';
import { readJson } from '../yaml/jsonTree.js';
import { readYaml } from '../yaml/yamlTree.js';
import type { ValueNode } from '../yaml/valueNodes.js';

export type SourceForm = 'json' | 'toml' | 'yaml';

type SourceReading =
  | {
      readonly kind: 'read';
      readonly root: Readonly<Record<string, unknown>>;
      /** The paths of duplicate keys. The last one counts. */
      readonly twice: readonly string[];
    }
  | { readonly kind: 'unreadable'; readonly reason: string };

export function readSource(source: string, form: SourceForm): SourceReading {
  const text = withoutMark(source);
  if (form === 'toml') return readToml(text);
  const { errors, root } = form === 'yaml' ? readYaml(text) : readJson(text);
  const [error] = errors;
  if (!error) return plainOf(root, form === 'yaml' ? 'a map in YAML' : 'a JSON object');
  const what = 'what' in error && form === 'json' ? `JSON: ${error.what}` : 'YAML';
  const line = text.slice(0, error.span.start).split(/\r\n|\r|\n/).length;
  return { kind: 'unreadable', reason: `it is not ${what} in line ${line}` };
}

function readToml(text: string): SourceReading {
  try {
    return { kind: 'read', root: parseToml(text), twice: [] };
  } catch (error) {
    // The library's message quotes the line, and the line may have a secret.
    const where = error instanceof TomlError ? ` in line ${error.line}` : '';
    return { kind: 'unreadable', reason: `it is not TOML${where}` };
  }
}

function plainOf(root: ValueNode, expected: string): SourceReading {
  const twice: string[] = [];
  const value = lastOf(root, '', twice);
  return isObject(value)
    ? { kind: 'read', root: value, twice }
    : { kind: 'unreadable', reason: `it is not ${expected}` };
}

/** A decimal number. Other programs read the value of any other number. */
const decimal = /^-?\d+(?:\.\d+)?$/;

/**
 * Returns the plain value as programs read JSON: the last of duplicate keys counts. A number that would be written in
 * another way is a text, because it may be an id or a version.
 */
function lastOf(node: ValueNode, path: string, twice: string[]): unknown {
  if (node.kind === 'scalar') {
    const { value, source } = node;
    return typeof value === 'number' && decimal.test(source) && String(value) !== source ? source : value;
  }
  if (node.kind === 'list') return node.items.map((item, index) => lastOf(item, `${path}${index}.`, twice));
  const entries = new Map([...node.entries].map(([key, { value }]) => [key, value]));
  for (const { again } of node.duplicates) {
    entries.set(again.key, again.value);
    twice.push(path + again.key);
  }
  return Object.fromEntries([...entries].map(([key, value]) => [key, lastOf(value, `${path}${key}.`, twice)]));
}
