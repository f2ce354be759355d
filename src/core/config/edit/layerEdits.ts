/** Edits of a layer, `mcp.local.yaml`, in place of an edit of the file below it (C7). */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../base/isObject.js';
import * as edits from '../../yaml/edits.js';
import type { Edits, TextEdit } from '../../yaml/edits.js';
import { EditNodes, isScalar, spanOf } from '../../yaml/editNodes.js';
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
  const wanted = made && serverValues(edits.applyEdits(text, made))?.get(id);
  if (!wanted) return undefined;
  let after: string | undefined = local;
  for (const { path, value } of changesIn(now, wanted, [])) {
    const byDefault = path.join() === 'enabled' ? true : null;
    const isBelow = isDeepStrictEqual(valueAt(under, path) ?? byDefault, value);
    if (after === undefined) return undefined;
    after = withValue(after, id, path, isBelow ? undefined : value);
  }
  return after === undefined ? undefined : edits.difference(local, after);
}

/** Returns the edits of the layer that do for one person what edits would do to the file below. */
export function inLayer({ shared, local = '' }: TwoTexts, made: readonly TextEdit[]): Edits {
  const before = serverValues(shared);
  let after: string | undefined = local;
  for (const [id, wanted] of serverValues(edits.applyEdits(shared, made)) ?? [])
    for (const { path, value } of changesIn(before?.get(id), wanted, []))
      after = after === undefined ? undefined : withValue(after, id, path, value);
  return after === undefined ? undefined : edits.difference(local, after);
}

/** Moves the value at a path into the layer. The joined entry and other servers stay as they are. */
export function movedToLayer(
  { shared, local = '' }: TwoTexts,
  [id = '', ...path]: Path,
): Record<'shared' | 'local', readonly TextEdit[]> | undefined {
  const nodes = EditNodes.read(shared);
  const { now } = entryOf(id, shared, local);
  const value = valueAt(now, path);
  let place = nodes && serverPair(nodes, id);
  for (const key of path) place = place && nodes?.pairOf(place.pair.value, key);
  if (!nodes || !place || value === undefined) return undefined;
  const removed = edits.removeKey(nodes, spanOf(place.pair.key)?.start ?? -1);
  const after = withValue(local, id, path, value);
  if (!removed || after === undefined) return undefined;
  if (path.length > 0 && othersChanged(shared, id, removed)?.length !== 0) return undefined;
  const rest = edits.applyEdits(shared, removed);
  const isSame = isDeepStrictEqual(entryOf(id, rest, after).now, now);
  if (!isSame) return undefined;
  return {
    shared: removed,
    local: edits.difference(local, after),
  };
}

function entryOf(id: string, ...texts: readonly string[]) {
  const [under, over] = texts.map((text) => valueIn(readYaml(text).root, 'servers', id));
  return {
    under: plainOf(under),
    now: plainOf(over ? joined(under, over) : under),
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
  if (!isObject(wanted) || (now !== undefined && !isObject(now)))
    return [{ path, value: wanted ?? null }];
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
  if (!nodes) return undefined;
  const made = editsAt(nodes, id, path, value);
  const after = made && edits.applyEdits(text, made);
  const written = after === undefined ? undefined : valueAt(serverValues(after)?.get(id), path);
  if (isDeepStrictEqual(written, value)) return after;
  if (after === undefined || value === undefined || !isAnew) return undefined;
  return withValue(after, id, path, value, false);
}

function editsAt(nodes: EditNodes, id: string, path: Path, value: unknown): Edits {
  let place = serverPair(nodes, id);
  if (!place) {
    const entry = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
    return value === undefined ? [] : addServers(nodes.text, [{ id, entry: entry as NewEntry }]);
  }
  for (const [depth, key] of path.entries()) {
    const next = nodes.pairOf(place.pair.value, key);
    if (!next) {
      const rest = path.slice(depth);
      return value === undefined ? [] : addKeys(nodes, place, rest, edits.flowText(value), []);
    }
    place = next;
  }
  const isReplaced = value !== undefined && isScalar(place.pair.value);
  return isReplaced
    ? edits.valueEdit(nodes, place, edits.flowText(value))
    : edits.removeKey(nodes, spanOf(place.pair.key)?.start ?? -1);
}
