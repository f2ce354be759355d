/**
 * Entries in a JSON file of another program, each by the least change of its text: comments, order, line breaks and the
 * layout of everything else stay. Everything here is pure.
 */
import { findNodeAtLocation, parseTree, type Node } from 'jsonc-parser';
import { commaBehind } from '../yaml/jsonTree.js';

export interface EntryChange {
  readonly name: string;
  readonly keys: Readonly<Record<string, unknown>>;
  /** Keys that the existing entry loses. */
  readonly removed: readonly string[];
  /** If false, the keys are set in the existing entry. */
  readonly isNew: boolean;
}

/** @param text well-formed, or empty */
export function withJsonEntries(text: string, container: string, changes: readonly EntryChange[]): string {
  let result = text.trim() === '' ? '{}\n' : text;
  const set = (path: readonly string[], key: string, value: unknown): void => {
    result = withProperty(result, path, key, value);
  };
  if (!nodeAt(result, [container])) set([], container, {});
  for (const { name, keys, removed, isNew } of changes) {
    if (isNew) set([container], name, keys);
    else for (const [key, value] of Object.entries(keys)) set([container, name], key, value);
    for (const key of removed) result = withoutProperty(result, [container, name, key]);
  }
  return result;
}

function withProperty(text: string, path: readonly string[], key: string, value: unknown): string {
  const object = nodeAt(text, path);
  if (object?.type !== 'object') return text;
  const style = styleOf(text);
  const old = nodeAt(text, [...path, key]);
  if (old) {
    const written = json(value, indentAt(text, old.offset), style);
    return text.slice(0, old.offset) + written + text.slice(old.offset + old.length);
  }
  const last = object.children?.at(-1);
  return last ? after(text, object, last, key, value, style) : within(text, object, key, value, style);
}

/** Removes a property beside others, and the comments behind it. */
function withoutProperty(text: string, path: readonly string[]): string {
  const property = nodeAt(text, path)?.parent;
  const properties = property?.parent?.children ?? [];
  const index = property ? properties.indexOf(property) : -1;
  const [before, next] = [properties[index - 1], properties[index + 1]];
  if (!property) return text;
  if (next) return text.slice(0, property.offset) + text.slice(next.offset);
  const from = before ? before.offset + before.length : property.offset;
  return text.slice(0, from) + text.slice(property.offset + property.length);
}

/** Inserts into an object without properties, perhaps with comments. */
function within(text: string, object: Node, key: string, value: unknown, style: Style): string {
  const outer = indentAt(text, object.offset);
  const at = object.offset + 1;
  const member = style.lineBreak + outer + style.unit + property(key, value, outer + style.unit, style);
  const rest = text.slice(at, object.offset + object.length - 1);
  const close = rest.includes('\n') ? '' : style.lineBreak + outer;
  return text.slice(0, at) + member + close + text.slice(at);
}

/** Inserts behind the last property: on separate lines if that one ends a line, else beside it. */
function after(text: string, object: Node, last: Node, key: string, value: unknown, style: Style): string {
  const end = last.offset + last.length;
  const comma = commaBehind(text, end);
  const from = comma === undefined ? end : comma + 1;
  const lead = text.slice(0, end) + (comma === undefined ? ',' : '') + text.slice(end, from);
  // A comment ends with the first end mark. An ambiguous pattern would try every way to read a line.
  const line = /^(?:[ \t]|\/\*(?:(?!\*\/)[^\r\n])*\*\/)*(?:\/\/[^\r\n]*)?(?=[\r\n])/.exec(text.slice(from))?.[0];
  if (line === undefined || !text.slice(object.offset, end).includes('\n')) {
    return `${lead} ${JSON.stringify(key)}: ${JSON.stringify(value)}${comma === undefined ? '' : ','}${text.slice(from)}`;
  }
  const indent = indentAt(text, last.offset);
  const member = style.lineBreak + indent + property(key, value, indent, style) + (comma === undefined ? '' : ',');
  return lead + line + member + text.slice(from + line.length);
}

interface Style {
  readonly unit: string;
  readonly lineBreak: string;
}

function styleOf(text: string): Style {
  return { unit: /(?:^|\n)([ \t]+)["/]/.exec(text)?.[1] ?? '  ', lineBreak: text.includes('\r\n') ? '\r\n' : '\n' };
}

function property(key: string, value: unknown, indent: string, style: Style): string {
  return `${JSON.stringify(key)}: ${json(value, indent, style)}`;
}

function json(value: unknown, indent: string, { unit, lineBreak }: Style): string {
  return JSON.stringify(value, undefined, unit).replaceAll('\n', lineBreak + indent);
}

function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start))?.[0] ?? '';
}

function nodeAt(text: string, path: readonly string[]): Node | undefined {
  const root = parseTree(text, [], { allowTrailingComma: true });
  return root && findNodeAtLocation(root, [...path]);
}
