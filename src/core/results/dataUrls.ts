/**
 * Repairs `data:` URLs of servers in places for base64 (V1), in results of calls, in prompts and in read resources. The
 * host does this once for all clients. Everything is pure. A result without an error is returned as the same object.
 */
import { isObject } from '../base/isObject.js';
import { splitDataUrl } from './base64.js';

type Fields = Readonly<Record<string, unknown>>;

export function withoutDataUrls<Result extends object>(result: Result): Result {
  const fields = result as Fields;
  const changed: Record<string, unknown> = {};
  const replace = (key: string, by: (value: unknown) => unknown): void => {
    const value = fields[key];
    const next = Array.isArray(value) ? eachOf(value as readonly unknown[], by) : value;
    if (next !== value) changed[key] = next;
  };
  replace('content', part);
  replace('contents', (value) => plain(value, 'blob'));
  replace('messages', (value) => (isObject(value) ? message(value) : value));
  return Object.keys(changed).length === 0 ? result : { ...result, ...changed };
}

function message(fields: Fields): Fields {
  const { content } = fields;
  const next = Array.isArray(content) ? eachOf(content as readonly unknown[], part) : part(content);
  return next === content ? fields : { ...fields, content: next };
}

function part(value: unknown): unknown {
  if (!isObject(value)) return value;
  if (value['type'] === 'image' || value['type'] === 'audio') return plain(value, 'data');
  if (value['type'] !== 'resource') return value;
  const resource = plain(value['resource'], 'blob');
  return resource === value['resource'] ? value : { ...value, resource };
}

function plain(value: unknown, key: 'data' | 'blob'): unknown {
  if (!isObject(value)) return value;
  const written = value[key];
  if (typeof written !== 'string' || !/^data:/i.test(written)) return value;
  const { base64, type } = splitDataUrl(written);
  if (base64 === written) return value;
  const { mimeType } = value;
  const isDeclared = typeof mimeType === 'string' && mimeType.trim() !== '';
  return { ...value, [key]: encoded(written, base64), ...(!isDeclared && type !== undefined && { mimeType: type }) };
}

/** A data URL without `;base64` holds percent-encoded text, unless its writer forgot the marker. */
function encoded(url: string, content: string): string {
  const isMarked = /;\s*base64\s*$/i.test(url.slice(0, url.length - content.length - 1));
  if (isMarked || /^[\w+/=\s-]*$/.test(content)) return content;
  try {
    return Buffer.from(decodeURIComponent(content)).toString('base64');
  } catch {
    return content;
  }
}

/** Returns the list itself if nothing changes. */
function eachOf(list: readonly unknown[], by: (value: unknown) => unknown): readonly unknown[] {
  const next = list.map(by);
  return next.some((value, index) => value !== list[index]) ? next : list;
}
