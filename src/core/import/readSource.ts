/** Reads another program's file, JSON with comments or TOML, into plain values. Never throws. */
import { parse as parseToml, TomlError } from 'smol-toml';
import { isObject } from '../base/isObject.js';
import { readJson } from '../yaml/jsonTree.js';
import { plainValue } from '../yaml/valueNodes.js';

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
  const { errors, root } = readJson(text);
  const [error] = errors;
  if (error) {
    const line = text.slice(0, error.span.start).split(/\r\n|\r|\n/).length;
    return { kind: 'unreadable', reason: `it is not JSON: ${error.what} in line ${line}` };
  }
  const value = plainValue(root);
  return isObject(value) ? { kind: 'read', root: value } : { kind: 'unreadable', reason: 'it is not a JSON object' };
}
