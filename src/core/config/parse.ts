/**
 * Parses the text of `.minds/mcp.yaml` into servers and problems (C1 to C4). It reads nothing but what it is given.
 *
 * Invariants: never throws, whatever the text. A refused file has at least one error and no servers; an invalid server
 * has at least one error that bears its id. Problems stand in the order of the file.
 */
import type { Problem } from '../base/problem.js';
import { describe, EntryReader } from './entryReader.js';
import { knownKeys } from './keys.js';
import type { ConfigDeps, ConfiguredServer, ParsedSource, SourceText } from './model.js';
import { FilePlaces } from './places.js';
import * as problems from './problems.js';
import { readServer } from './serverEntry.js';
import { yamlProblems, yamlWarning } from './yamlProblems.js';
import { readYaml } from '../yaml/yamlTree.js';
import { isEmpty, type MapEntry, type MapNode } from '../yaml/valueNodes.js';

export function parseMindsFile(source: SourceText, deps: ConfigDeps): ParsedSource {
  const { file } = source;
  if (source.text === undefined) return accepted(source, [], []);
  // Editors keep the mark out of the document, so positions are counted without it.
  const text = source.text.replace(/^\uFEFF/, '');
  const places = new FilePlaces(file, text);
  const reading = readYaml(text);
  const warnings = reading.warnings.map((warning) => yamlWarning(places, warning));
  if (reading.errors.length > 0) return refused(file, [...yamlProblems(places, reading.errors), ...warnings]);
  const { root } = reading;
  if (root.kind !== 'map') {
    const spot = { place: places.place(isEmpty(root) ? { start: 0, end: 0 } : root.span) };
    const found = isEmpty(root) ? problems.versionMissing(spot) : problems.rootNotAMap(spot, describe(root));
    return refused(file, [found, ...warnings]);
  }
  const rootProblems = [...warnings, ...checkRoot(places, root)];
  const table = serversOf(places, root, rootProblems);
  if (rootProblems.some((found) => found.severity === 'error')) return refused(file, rootProblems);
  const servers: ConfiguredServer[] = [];
  const serverProblems: Problem[] = [];
  for (const entry of table?.entries.values() ?? []) {
    const reader = new EntryReader(entry.key, places, deps, source);
    servers.push(readServer(reader, entry));
    for (const problem of reader.problems) serverProblems.push(problem);
  }
  return accepted(source, servers, [...rootProblems, ...serverProblems]);
}

export function accepted(
  { file, folder, origin = 'folder' }: SourceText,
  servers: readonly ConfiguredServer[],
  found: readonly Problem[],
): ParsedSource {
  return { kind: 'accepted', file, folder, origin, servers, problems: inFileOrder(found) };
}

export function refused(file: string, found: readonly Problem[]): ParsedSource {
  return { kind: 'refused', file, problems: inFileOrder(found) };
}

function checkRoot(places: FilePlaces, root: MapNode): Problem[] {
  const found = keyProblems(places, root, places.place({ start: root.span.start, end: root.span.start }));
  const known: readonly string[] = knownKeys.root;
  for (const entry of root.entries.values()) {
    // Keys that begin with `x-` are the customary place for anchors, to which only other keys refer.
    if (known.includes(entry.key) || entry.key.startsWith('x-')) continue;
    found.push(problems.unknownKey({ place: places.key(entry) }, 'root', entry.key, root.entries));
  }
  return [...found, ...checkVersion(places, root)];
}

function checkVersion(places: FilePlaces, root: MapNode): Problem[] {
  const version = root.entries.get('version');
  if (!version) {
    const [first] = root.entries.values();
    const span = first?.keySpan ?? { start: root.span.start, end: root.span.start };
    return [problems.versionMissing({ place: places.place(span) })];
  }
  const spot = { place: places.value(version) };
  if (isEmpty(version.value)) return [problems.versionMissing(spot)];
  if (version.value.kind === 'scalar' && version.value.value === 1) return [];
  return [problems.versionUnsupported(spot, describe(version.value))];
}

/** Returns the map of servers. Problems that cost the whole file go into `found`. */
function serversOf(places: FilePlaces, root: MapNode, found: Problem[]): MapNode | undefined {
  const servers = root.entries.get('servers');
  // Where all servers are commented out, there are none.
  if (!servers || isEmpty(servers.value)) return undefined;
  if (servers.value.kind !== 'map') {
    found.push(problems.serversNotAMap({ place: places.value(servers) }, describe(servers.value)));
    return undefined;
  }
  const duplicate = (first: MapEntry, again: MapEntry): Problem =>
    problems.duplicateServer({ place: places.key(again) }, again.key, places.key(first));
  for (const problem of keyProblems(places, servers.value, places.key(servers), duplicate)) found.push(problem);
  return servers.value;
}

/** Finds duplicate keys and bad merges in the maps of the file itself, which belong to no server. */
function keyProblems(
  places: FilePlaces,
  map: MapNode,
  at: Problem['place'],
  duplicate = (first: MapEntry, again: MapEntry): Problem =>
    problems.duplicateKey({ place: places.key(again) }, again.key, places.key(first)),
): Problem[] {
  const found = map.duplicates.map(({ first, again }) => duplicate(first, again));
  for (const node of map.badMerges) {
    const place = node.span.end > node.span.start ? places.place(node.span) : at;
    found.push(problems.badMerge({ place }, describe(node)));
  }
  return found;
}

function inFileOrder(found: readonly Problem[]): Problem[] {
  return [...found].sort((a, b) => {
    const [first, second] = [a.place.range.start, b.place.range.start];
    return first.line - second.line || first.character - second.character;
  });
}
