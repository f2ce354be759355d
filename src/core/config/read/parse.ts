/**
 * Parses the text of `.minds/mcp.yaml` into servers and problems (C1 to C4). It reads nothing but its input.
 *
 * Invariants: never throws, whatever the text. A refused file has at least one error and no servers. An invalid server
 * has at least one error with its id. Problems are in the order of the file.
 */
import { withoutMark } from '../../base/byteOrderMark.js';
import type { Problem } from '../../base/problem.js';
import { describe, EntryReader } from './entryReader.js';
import { keysOf } from '../keys.js';
import type { ConfigDeps, ConfiguredServer, ParsedSource, SourceText } from '../model.js';
import { FilePlaces } from './places.js';
import { ProblemList } from './problemList.js';
import * as problems from '../problems.js';
import { readServer } from './serverEntry.js';
import { yamlProblems, yamlWarning } from './yamlProblems.js';
import { readYaml } from '../../yaml/yamlTree.js';
import { isEmpty, type MapEntry, type MapNode } from '../../yaml/valueNodes.js';

export function parseMindsFile(source: SourceText, deps: ConfigDeps): ParsedSource {
  const { file } = source;
  if (source.text === undefined) return accepted(source, [], []);
  // Editors keep the mark out of the document, so positions are counted without it.
  const text = withoutMark(source.text);
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
  const found = new ProblemList();
  for (const warning of warnings) found.note(warning);
  checkRoot(places, root, found);
  const table = serversOf(places, root, found);
  if (found.failed) return refused(file, found.whole(file));
  const servers: ConfiguredServer[] = [];
  for (const entry of table ? entriesToRead(places, [...table.entries.values()], found) : []) {
    const reader = new EntryReader(entry.key, places, deps, source, found.room);
    servers.push(readServer(reader, entry));
    found.takeOver(reader);
  }
  return accepted(source, servers, found.whole(file));
}

/** The number of servers of one file (S2). */
const mostServers = 500;

/** Returns the first entries up to the limit, and notes the rest. */
export function entriesToRead(places: FilePlaces, entries: readonly MapEntry[], found: ProblemList): MapEntry[] {
  const next = entries[mostServers];
  if (next) found.note(problems.tooManyServers({ place: places.key(next) }, entries.length, mostServers));
  return entries.slice(0, mostServers);
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

function checkRoot(places: FilePlaces, root: MapNode, found: ProblemList): void {
  checkKeys(places, root, places.place({ start: root.span.start, end: root.span.start }), found);
  const known = keysOf('root');
  const misspelt: Problem[] = [];
  for (const entry of root.entries.values()) {
    // Keys with `x-` are the customary place for anchors. Only other keys refer to them.
    if (known.includes(entry.key) || entry.key.startsWith('x-')) continue;
    found.noteWarning(() => {
      const problem = problems.unknownKey({ place: places.key(entry) }, 'root', entry.key, root.entries);
      if (problem.instead === 'version') misspelt.push(problem);
      return problem;
    });
  }
  const ofVersion = versionProblem(places, root);
  const [meant] = ofVersion?.code === 'version-missing' ? misspelt : [];
  if (meant) found.worsen(meant);
  else if (ofVersion) found.note(ofVersion);
}

function versionProblem(places: FilePlaces, root: MapNode): Problem | undefined {
  const version = root.entries.get('version');
  if (!version) {
    const [first] = root.entries.values();
    const span = first?.keySpan ?? { start: root.span.start, end: root.span.start };
    return problems.versionMissing({ place: places.place(span) });
  }
  const spot = { place: places.value(version) };
  if (isEmpty(version.value)) return problems.versionMissing(spot);
  if (version.value.kind === 'scalar' && version.value.value === 1) return undefined;
  return problems.versionUnsupported(spot, describe(version.value));
}

/** Returns the map of servers. Errors of the whole file go into `found`. */
function serversOf(places: FilePlaces, root: MapNode, found: ProblemList): MapNode | undefined {
  const servers = root.entries.get('servers');
  // All servers may be commented out.
  if (!servers || isEmpty(servers.value)) return undefined;
  if (servers.value.kind !== 'map') {
    return found.note(problems.serversNotAMap({ place: places.value(servers) }, describe(servers.value)));
  }
  const duplicate = (first: MapEntry, again: MapEntry): Problem =>
    problems.duplicateServer({ place: places.key(again) }, again.key, places.key(first));
  checkKeys(places, servers.value, places.key(servers), found, duplicate);
  return servers.value;
}

/** Finds duplicate keys and bad merges in the maps of the file itself. */
function checkKeys(
  places: FilePlaces,
  map: MapNode,
  at: Problem['place'],
  found: ProblemList,
  duplicate = (first: MapEntry, again: MapEntry): Problem =>
    problems.duplicateKey({ place: places.key(again) }, again.key, places.key(first)),
): void {
  for (const { first, again } of map.duplicates) found.note(duplicate(first, again));
  for (const node of map.badMerges) {
    const place = node.span.end > node.span.start ? places.place(node.span) : at;
    found.note(problems.badMerge({ place }, describe(node)));
  }
}

function inFileOrder(found: readonly Problem[]): Problem[] {
  return [...found].sort((a, b) => {
    const [first, second] = [a.place.range.start, b.place.range.start];
    return first.line - second.line || first.character - second.character;
  });
}
