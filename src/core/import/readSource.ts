/** The text of another program's file as plain values: JSON with comments, or TOML. Never throws. */
import { parse as parseToml, TomlError } from 'smol-toml';
import { isObject } from '../base/isObject.js';
import { readJson } from '../yaml/jsonTree.js';
import type { YamlNode } from '../yaml/yamlTree.js';

type SourceReading =
  | { readonly kind: 'read'; readonly root: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unreadable'; readonly reason: string };

export function readSource(source: string, form: 'json' | 'toml'): SourceReading {
  const text = source.replace(/^\uFEFF/, '');
  return form === 'toml' ? readToml(text) : readObject(text);
}

function readToml(text: string): SourceReading {
  try {
    return { kind: 'read', root: parseToml(text) };
  } catch (error) {
    // The library's message quotes the line, which may hold a secret.
    const where = error instanceof TomlError ? ` in line ${error.line}` : '';
    return { kind: 'unreadable', reason: `it is not TOML${where}` };
  }
}

function readObject(text: string): SourceReading {
  const { faults, root } = readJson(text);
  const [fault] = faults;
  if (fault) {
    const line = text.slice(0, fault.span.start).split(/\r\n|\r|\n/).length;
    return { kind: 'unreadable', reason: `it is not JSON: ${fault.what} in line ${line}` };
  }
  const value = plain(root);
  return isObject(value) ? { kind: 'read', root: value } : { kind: 'unreadable', reason: 'it is not a JSON object' };
}

function plain(node: YamlNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(plain);
  return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, plain(value)]));
}
