/**
 * Reads another program's file (JSON with comments, TOML or YAML) into plain values. Never throws.
 */
import { english } from '../base/language.js';
import { withoutMark } from '../base/byteOrderMark.js';
import { parse as parseToml, TomlError } from 'smol-toml';
import { isObject, type Fields } from '../base/isObject.js';
import { readJson } from '../yaml/jsonTree.js';
import { readYaml } from '../yaml/yamlTree.js';
import type { ValueNode } from '../yaml/valueNodes.js';

export type SourceForm = 'json' | 'toml' | 'yaml';

type Source = Readonly<{ root: Fields; twice: readonly string[] }>;

/**
 * Returns the value with the paths of duplicate keys, of which the last counts, or a phrase for an
 * unreadable text.
 */
export function readSource(source: string, form: SourceForm): Source | string {
  const text = withoutMark(source);
  if (form === 'toml') return readToml(text);
  const { errors, root } = form === 'yaml' ? readYaml(text) : readJson(text);
  const [error] = errors;
  if (error) {
    const line = text.slice(0, error.span.start).split(/\r\n|\r|\n/).length;
    return 'what' in error
      ? english`it is not JSON: ${error.what} in line ${line}`
      : english`it is not YAML in line ${line}`;
  }
  const twice: string[] = [];
  const value = lastOf(root, '', twice);
  if (isObject(value)) return { root: value, twice };
  return form === 'yaml' ? 'it is not a map in YAML' : 'it is not a JSON object';
}

function readToml(text: string): Source | string {
  try {
    return { root: parseToml(text), twice: [] };
  } catch (error) {
    // The library's message quotes the line, and the line may have a secret.
    return error instanceof TomlError
      ? english`it is not TOML in line ${error.line}`
      : 'it is not TOML';
  }
}

/**
 * The last of duplicate keys counts. A decimal number that would be written in another way is a
 * text, perhaps an id.
 */
function lastOf(node: ValueNode, path: string, twice: string[]): unknown {
  if (node.kind === 'scalar') {
    const { value, source } = node;
    const isDecimal = typeof value === 'number' && /^-?\d+(?:\.\d+)?$/.test(source);
    return isDecimal && String(value) !== source ? source : value;
  }
  if (node.kind === 'list')
    return node.items.map((item, index) => lastOf(item, `${path}${index}.`, twice));
  const entries = new Map([...node.entries].map(([key, { value }]) => [key, value]));
  for (const { again } of node.duplicates) {
    entries.set(again.key, again.value);
    twice.push(path + again.key);
  }
  return Object.fromEntries(
    [...entries].map(([key, value]) => [key, lastOf(value, `${path}${key}.`, twice)]),
  );
}
