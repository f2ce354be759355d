/** Edits of a layer, `mcp.local.yaml`, in place of an edit of the file below it (C7). */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../base/isObject.js';
import { asText } from '../../base/text.js';
import * as edits from '../../yaml/edits.js';
import type { Edits, TextEdit } from '../../yaml/edits.js';
import { EditNodes, isMap, isScalar, spanOf, type PairPlace } from '../../yaml/editNodes.js';
import { plainValue, valueIn, type ValueNode } from '../../yaml/valueNodes.js';
import { readYaml } from '../../yaml/yamlTree.js';
import { joined } from '../../yaml/joined.js';
import { addServers, type NewEntry } from './addServers.js';
import { addKeys, othersChanged, serverPair, serverValues } from './serverEdits.js';

type Path = readonly string[];

interface TwoTexts {
  /** The file below. */
  readonly shared: string;
  /** The layer; undefined without a file. */
  readonly local: string | undefined;
}

/**
 * Returns the edits of the layer after which the joined entry is as an edit would make it. A value
 * that the file below has anyway leaves the layer.
 */
export function editsForMe(
  { shared, local = '' }: TwoTexts,
  id: string,
  editsOf: (text: string) => Edits,
): Edits {
  const { under, now } = entryOf(id, shared, local);
  // The edit sees a file with the joined entry alone.
  const text = edits.applyEdits('', addServers('', [{ id, entry: now as NewEntry }]) ?? []);
  const made = editsOf(text);
  if (!made) return undefined;
  const edited = edits.applyEdits(text, made);
  const wanted = serverValues(edited)?.get(id);
  if (!wanted) return undefined;
  let after = local;
  for (const { path, value } of changesIn(now, wanted, [])) {
    const byDefault = path.join() === 'enabled' ? true : null;
    const valueBelow = valueAt(under, path) ?? byDefault;
    const isBelow = isDeepStrictEqual(valueBelow, value);
    const next = withValue(after, id, path, isBelow ? undefined : value);
    if (next === undefined) return undefined;
    after = next;
  }
  return edits.difference(local, after);
}

/** Returns the edits of the layer that do for one person what edits would do to the file below. */
export function inLayer({ shared, local = '' }: TwoTexts, made: readonly TextEdit[]): Edits {
  const before = serverValues(shared);
  const wanted = serverValues(edits.applyEdits(shared, made));
  let after = local;
  for (const [id, entry] of wanted ?? []) {
    const changes = changesIn(before?.get(id), entry, []);
    for (const { path, value } of changes) {
      const next = withValue(after, id, path, value);
      if (next === undefined) return undefined;
      after = next;
    }
  }
  return edits.difference(local, after);
}

/**
 * Moves the key at a path into the layer, with its comments. The joined entry and other servers stay
 * as they are. Returns a sentence if that is impossible, and undefined if there is no such key.
 */
export function movedToLayer(
  { shared, local = '' }: TwoTexts,
  [id = '', ...path]: Path,
): Record<'shared' | 'local', readonly TextEdit[]> | string | undefined {
  const nodes = EditNodes.read(shared);
  const { now } = entryOf(id, shared, local);
  const value = valueAt(now, path);
  const place = nodes && pairAt(nodes, id, path);
  if (!place || value === undefined) return undefined;
  const removed = edits.removeKey(nodes, spanOf(place.pair.key)?.start ?? -1);
  if (!removed) return 'It has an anchor or shares a line, so move it yourself.';
  if (path.length > 0 && othersChanged(shared, id, removed)?.length !== 0) {
    return 'Another server has it too, by an alias or a merge key.';
  }
  const rest = edits.applyEdits(shared, removed);
  const comments = commentsIn(local) + commentsIn(writtenText(nodes, place));
  const after = [
    withPair(local, [id, ...path], nodes, place),
    // An alias becomes its value.
    withValue(local, id, path, value),
  ].find(
    (text) =>
      text !== undefined &&
      commentsIn(text) >= comments &&
      isDeepStrictEqual(entryOf(id, rest, text).now, now),
  );
  if (after === undefined) {
    return 'The server would change, or comments would be lost. Move it yourself.';
  }
  return {
    shared: removed,
    local: edits.difference(local, after),
  };
}

/**
 * Writes a pair of another text into the layer. Values that the layer has already stay.
 * @param above the end of what is above the pair and its comments
 */
function withPair(
  text: string,
  [id = '', ...path]: Path,
  from: EditNodes,
  place: PairPlace,
  above?: number,
): string | undefined {
  const there = valueAt(serverValues(text)?.get(id), path);
  const { pair } = place;
  if (there === undefined) {
    const marked = withValue(text, id, path, { [marker]: marker });
    return marked && inPlaceOf(marked, id, path, writtenText(from, place, above));
  }
  const map = pair.value;
  if (!isObject(there) || !isMap(map)) return text;
  // Each key becomes the first of its map.
  return map.items.reduceRight<string | undefined>((after, one, index) => {
    const key = isScalar(one.key) ? asText(one.key.value) : '';
    const before = map.items[index - 1];
    const end = before ? from.endOf(before) : from.afterColon(pair);
    return after && withPair(after, [id, ...path, key], from, { map, index, pair: one }, end);
  }, text);
}

/** Too long for a line with other keys. */
const marker = 'x'.repeat(100);

function inPlaceOf(text: string, id: string, path: Path, written: string): string | undefined {
  const nodes = EditNodes.read(text);
  const place = nodes && pairAt(nodes, id, path);
  if (!place) return undefined;
  const span = nodes.extent(place.pair);
  if (!nodes.beginsLine(span.start)) return undefined;
  const indent = ' '.repeat(nodes.column(span.start));
  const [first = '', ...more] = written.split('\n');
  const lines = [first, ...more.map((line) => line && indent + line)];
  return edits.applyEdits(text, [{ span, text: lines.join(nodes.lineBreak) }]);
}

/** The text of a pair with its comments, without the common indentation. */
function writtenText(nodes: EditNodes, { map, pair }: PairPlace, above?: number): string {
  const { start, end } = nodes.extent(pair);
  const column = nodes.column(start);
  const isBelow = above !== undefined && nodes.beginsLine(start);
  const from = isBelow ? Math.min(nodes.nextLine(above), start) : start;
  const text = nodes.text.slice(from, map.flow ? end : nodes.lineEnd(end));
  const lines = text.split(/\r\n|\r|\n/);
  return lines.map((line) => line.slice(Math.min(column, line.search(/\S|$/)))).join('\n');
}

function commentsIn(text: string): number {
  return text.match(/(?:^|\s)#/g)?.length ?? 0;
}

function pairAt(nodes: EditNodes, id: string, path: Path): PairPlace | undefined {
  return path.reduce(
    (place, key) => place && nodes.pairOf(place.pair.value, key),
    serverPair(nodes, id),
  );
}

function entryOf(id: string, ...texts: readonly string[]) {
  const [under, over] = texts.map((text) => valueIn(readYaml(text).root, 'servers', id));
  const both = over ? joined(under, over) : under;
  return {
    under: plainOf(under),
    // A null of the file below is no value either.
    now: plainOf(both && joined(undefined, both)),
  };
}

function plainOf(node: ValueNode | undefined): Readonly<Record<string, unknown>> {
  const plain = node && plainValue(node);
  return isObject(plain) ? plain : {};
}

interface Change {
  readonly path: Path;
  /** Null takes the key away. */
  readonly value: unknown;
}

function changesIn(now: unknown, wanted: unknown, path: Path): Change[] {
  if (isDeepStrictEqual(now, wanted)) return [];
  if (!isObject(wanted) || (now !== undefined && !isObject(now))) {
    return [{ path, value: wanted ?? null }];
  }
  const keys = [...new Set([...Object.keys(now ?? {}), ...Object.keys(wanted)])];
  return keys.flatMap((key) => changesIn(now?.[key], wanted[key], [...path, key]));
}

function valueAt(map: unknown, path: Path): unknown {
  return path.reduce((one, key) => (isObject(one) ? one[key] : undefined), map);
}

/**
 * @param value undefined to take the key out of the layer itself
 * @param isAnew false after a list or map was removed to be written anew
 */
function withValue(
  text: string,
  id: string,
  path: Path,
  value: unknown,
  isAnew = true,
): string | undefined {
  const nodes = EditNodes.read(text);
  const made = nodes && editsAt(nodes, id, path, value);
  if (!made) return undefined;
  const after = edits.applyEdits(text, made);
  const entry = serverValues(after)?.get(id);
  const written = valueAt(entry, path);
  if (isDeepStrictEqual(written, value)) return after;
  if (value === undefined || !isAnew) return undefined;
  return withValue(after, id, path, value, false);
}

function editsAt(nodes: EditNodes, id: string, path: Path, value: unknown): Edits {
  let place = serverPair(nodes, id);
  if (!place) {
    if (value === undefined) return [];
    const entry = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
    return addServers(nodes.text, [{ id, entry: entry as NewEntry }]);
  }
  for (const [depth, key] of path.entries()) {
    const next = nodes.pairOf(place.pair.value, key);
    if (!next) {
      if (value === undefined) return [];
      const missing = path.slice(depth);
      return addKeys(nodes, place, missing, edits.flowText(value), []);
    }
    place = next;
  }
  if (value !== undefined && isScalar(place.pair.value)) {
    return edits.valueEdit(nodes, place, edits.flowText(value));
  }
  const start = spanOf(place.pair.key)?.start ?? -1;
  return edits.removeKey(nodes, start);
}
