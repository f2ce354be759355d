/**
 * Parses the text of `.minds/mcp.yaml` into servers and problems (C1 to C4). It reads nothing but its input.
 *
 * Invariants: never throws, whatever the text. A refused file has at least one error and no servers. An invalid server
 * has at least one error with its id. Problems are in the order of the file.
 */
import { withoutMark } from '../../base/byteOrderMark.js';
import type { Problem } from '../../base/problem.js';
import { describe, type Entries, EntryReader } from './entryReader.js';
import type { ConfigDeps, ConfiguredServer, ParsedSource, SourceText } from '../model.js';
import { FilePlaces } from './places.js';
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
  const reader = new EntryReader(undefined, places, deps, source);
  for (const warning of warnings) reader.note(warning);
  checkRoot(reader, root);
  const table = serversOf(reader, root);
  if (reader.failed) return refused(file, reader.whole(file));
  const servers = readServers(reader, table ? [...table.values()] : []);
  return accepted(source, servers, reader.whole(file));
}

/** The number of servers of one file (S2). */
const mostServers = 500;

/** Reads the servers of a file up to the limit. @param reader notes the problems of the whole file */
export function readServers(
  reader: EntryReader,
  entries: readonly MapEntry[],
  translated = (entry: MapEntry): MapEntry => entry,
): ConfiguredServer[] {
  const { places, deps, source } = reader;
  const next = entries[mostServers];
  if (next) reader.note(problems.tooManyServers(reader.atKey(next), entries.length, mostServers));
  return entries.slice(0, mostServers).map((entry) => {
    const own = new EntryReader(entry.key, places, deps, source, reader.room);
    const server = readServer(own, translated(entry));
    reader.takeOver(own);
    return server;
  });
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

function checkRoot(reader: EntryReader, root: MapNode): void {
  const start = reader.places.place({ start: root.span.start, end: root.span.start });
  const entries = reader.knownEntries('root', root, start);
  const version = entries.get('version');
  if (!version || isEmpty(version.value)) {
    const [first] = entries.values();
    const place = first ? reader.places.place(first.keySpan) : start;
    const spot = version ? reader.atValue(version) : { place };
    reader.missing(entries, ['version'], () => problems.versionMissing(spot));
  } else if (version.value.kind !== 'scalar' || version.value.value !== 1) {
    reader.note(problems.versionUnsupported(reader.atValue(version), describe(version.value)));
  }
}

/** Returns the entries of `servers`. Errors of the whole file are noted. */
function serversOf(reader: EntryReader, root: MapNode): Entries | undefined {
  const servers = root.entries.get('servers');
  // All servers may be commented out.
  if (!servers || isEmpty(servers.value)) return undefined;
  if (servers.value.kind !== 'map') {
    return reader.note(problems.serversNotAMap(reader.atValue(servers), describe(servers.value)));
  }
  return reader.entries(servers.value, reader.places.key(servers), problems.duplicateServer);
}

function inFileOrder(found: readonly Problem[]): Problem[] {
  return [...found].sort((a, b) => {
    const [first, second] = [a.place.range.start, b.place.range.start];
    return first.line - second.line || first.character - second.character;
  });
}
