/**
 * Lays an entry of `mcp.local.yaml` over the entry of another file (C7). The joined entry is read
 * like any other, and its problems are at the values that cause them.
 */
import type { Place, Problem } from '../../base/problem.js';
import { EntryReader, type Entries } from './entryReader.js';
import { spellingsOf } from '../keys.js';
import type { ConfiguredServer, SourceText } from '../model.js';
import { joined } from '../../yaml/joined.js';
import type { FilePlaces } from './places.js';
import { readServer } from './server.js';
import { shortened } from '../problems.js';
import { valueIn, type MapEntry, type MapNode, type ValueNode } from '../../yaml/valueNodes.js';

export interface Layer {
  readonly source: SourceText;
  readonly places: FilePlaces;
  readonly entry: MapEntry;
}

/** Returns the layer over the entry with this id, and none if nothing lies over it. */
export type LayerOf = (id: string) => Layer | undefined;

/** @param reader of the file below; its source is the layer's over an entry of the person */
export function readJoined(
  reader: EntryReader,
  below: MapEntry,
  { entry, places }: Layer,
): ConfiguredServer {
  const server = readServer(reader, under(below, entry.value));
  const readAlone = (one: MapEntry) => {
    const trial = new EntryReader(reader.server, reader.places, reader.deps, reader.source);
    return {
      read: readServer(trial, one),
      problems: trial.whole(places.file),
    };
  };
  const problemsOf = (one: MapEntry): readonly Problem[] => readAlone(one).problems;
  let ofBelow: readonly Problem[] | undefined;
  let causes: readonly Cause[] | undefined;
  const entryBelow = { message: 'It lies over the entry here.', place: reader.places.key(below) };
  reader.revise((found) => {
    if (found.place.file === places.file)
      return { ...found, related: [...(found.related ?? []), entryBelow] };
    ofBelow ??= problemsOf(below);
    if (ofBelow.some((other) => isSame(other, found))) return found;
    causes ??= causesIn(entry.value, (value) => problemsOf(under(below, value)));
    const cause = causes.find(({ problems }) => problems.some((each) => isSame(each, found)));
    const place = cause ? places.value(cause.entry) : places.key(entry);
    const other = { message: 'It does not fit the value here.', place: found.place };
    return {
      ...found,
      place,
      related: [other, ...(found.related ?? [])],
    };
  });
  const alone = valueIn(entry.value, 'tools') && readAlone(below).read;
  const listsBelow = alone?.kind === 'valid' ? alone.definition.tools : undefined;
  return {
    ...server,
    local: { ...localPart(entry, places.key(entry)), listsBelow },
  };
}

export function localPart(
  { value }: MapEntry,
  place: Place,
): NonNullable<ConfiguredServer['local']> {
  return {
    place,
    keys: pathsIn(value, '').slice(0, mostPaths),
  };
}

function under(below: MapEntry, value: ValueNode): MapEntry {
  return {
    ...below,
    value: joined(withoutOtherSpellings(below.value, value), value),
  };
}

function withoutOtherSpellings(below: ValueNode, above: ValueNode): ValueNode {
  if (below.kind !== 'map' || above.kind !== 'map') return below;
  const replaced = [...above.entries.keys()].flatMap(spellingsOf);
  const kept = [...below.entries].filter(
    ([key]) => above.entries.has(key) || !replaced.includes(key),
  );
  return { ...below, entries: new Map(kept) };
}

function isSame(one: Problem, other: Problem): boolean {
  return one.code === other.code && one.message === other.message;
}

/** A value of the layer, and the problems of the entry with this value alone laid over it. */
interface Cause {
  readonly entry: MapEntry;
  readonly problems: readonly Problem[];
}

/** Each value costs a reading of the entry, and a usual layer has a few. */
const mostCauses = 16;

function causesIn(
  layer: ValueNode,
  problemsWith: (value: ValueNode) => readonly Problem[],
): readonly Cause[] {
  if (layer.kind !== 'map' || layer.entries.size > mostCauses) return [];
  return [...layer.entries.values()].map((entry) => ({
    entry,
    problems: problemsWith(onlyWith(layer, entry)),
  }));
}

function onlyWith(map: MapNode, entry: MapEntry): MapNode {
  const entries: Entries = new Map([[entry.key, entry]]);
  return {
    ...map,
    entries,
    duplicates: [],
    badMerges: [],
  };
}

/** A view shows fewer. */
const mostPaths = 100;

function pathsIn(node: ValueNode, path: string): string[] {
  if (node.kind !== 'map' || node.entries.size === 0) return path === '' ? [] : [path];
  return [...node.entries.values()]
    .slice(0, mostPaths)
    .flatMap(({ key, value }) =>
      pathsIn(value, path === '' ? shortened(key) : `${path}.${shortened(key)}`),
    );
}
