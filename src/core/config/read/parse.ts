/** Never throws. A refused file has an error and no servers. Problems are in the order of the file (C1 to C4). */
import { byPlace, type Place, type Problem } from '../../base/problem.js';
import { describe, type Entries, EntryReader } from './entryReader.js';
import { launchHashOf, viewHashOf } from '../hash.js';
import { readLaunch } from './launch.js';
import { builtInToolset } from '../model.js';
import type { ConfigDeps, ConfiguredServer, ParsedSource, ServerDefinition, SourceText } from '../model.js';
import { serverPlaces } from './places.js';
import * as problems from '../problems.js';
import { readYamlFile } from './yamlProblems.js';
import { isEmpty, valueIn, type MapEntry, type MapNode } from '../../yaml/valueNodes.js';
import { readView } from './view.js';

export function parseMindsFile(source: SourceText, deps: ConfigDeps): ParsedSource {
  const { file } = source;
  if (source.text === undefined) return accepted(source, [], []);
  const { places, root, problems: found } = readYamlFile(file, source.text);
  if (!root) return refused(file, found);
  const reader = new EntryReader(undefined, places, deps, source);
  for (const warning of found) reader.note(warning);
  if (root.kind !== 'map') {
    if (isEmpty(root)) reader.note(versionMissing(places.place({ start: 0, end: 0 })));
    else {
      const message = `The file is ${describe(root)}; expected a map with \`version\` and \`servers\`.`;
      const fix = 'Begin the file with `version: 1` and a map `servers:`.';
      reader.error('version-missing', places.place(root.span), message, fix);
    }
    return refused(file, reader.whole(file));
  }
  checkRoot(reader, root);
  const table = serversOf(reader, root);
  if (reader.failed) return refused(file, reader.whole(file));
  const servers = readServers(reader, table ? [...table.values()] : []);
  return accepted(source, servers, reader.whole(file));
}

const mostServers = 500;

export function readServers(
  reader: EntryReader,
  entries: readonly MapEntry[],
  translated = (entry: MapEntry): MapEntry => entry,
): ConfiguredServer[] {
  const { places, deps, source } = reader;
  const next = entries[mostServers];
  if (next) {
    const message = `The file has ${entries.length.toLocaleString('en-US')} servers; only the first ${mostServers} are read.`;
    reader.error('too-many-servers', places.key(next), message, 'Remove the servers that you do not need.');
  }
  return entries.slice(0, mostServers).flatMap((entry) => {
    const own = new EntryReader(entry.key, places, deps, source, reader.room);
    const server = readServer(own, translated(entry));
    reader.takeOver(own);
    // Its tools are ours (L5).
    return server.id === builtInToolset ? [] : [server];
  });
}

/** Reads one entry under `servers:` as a definition, or as an unusable entry, because one bad entry costs one entry (C4). */
export function readServer(reader: EntryReader, entry: MapEntry): ConfiguredServer {
  const id = entry.key;
  const written = valueIn(entry.value, 'enabled');
  // A disabled server never starts, so its mistakes are information (C1).
  const enabled = written?.kind !== 'scalar' || written.value !== false;
  reader.starts = enabled;
  const places = serverPlaces(reader.places, entry);
  if (!entry.keyIsText || !/^[a-zA-Z0-9_-]{1,64}$/.test(id)) {
    const rule = 'may hold only ASCII letters, digits, `_` and `-`, at least one of them';
    const why = id.length > 64 ? `has ${id.length} characters; at most 64 are allowed` : rule;
    const message = `Server id \`${problems.shortened(id)}\` ${why}.`;
    reader.error('server-id-invalid', places.key, message, 'Rename the server to match ^[a-zA-Z0-9_-]{1,64}$.');
  } else if (id === builtInToolset) {
    const message = `Server id \`${id}\` is the id of a built-in toolset.`;
    reader.error('server-id-invalid', places.key, message, 'Rename the server.');
  }
  const definition = readDefinition(reader, entry, places);
  const { source } = reader;
  const from = { id, source: source.file, origin: source.origin ?? 'folder', places };
  const { failed } = reader;
  if (!enabled) reader.soften();
  if (definition === undefined || failed) return { kind: 'invalid', ...from, enabled };
  return { kind: 'valid', ...from, definition };
}

function readDefinition(
  reader: EntryReader,
  entry: MapEntry,
  places: ServerDefinition['places'],
): ServerDefinition | undefined {
  const { value } = entry;
  if (value.kind !== 'map' && !isEmpty(value)) {
    const fix = 'Write the settings of the server below its id, each on its own line.';
    const what = `Server \`${problems.shortened(entry.key)}\``;
    return reader.wrong(entry, 'a map of settings', fix, describe(value), what);
  }
  const entries: Entries =
    value.kind === 'map' ? reader.knownEntries('server', value, reader.places.key(entry)) : new Map();
  const enabled = reader.truth(entries.get('enabled')) ?? true;
  const trulyStateless = reader.truth(entries.get('truely-stateless')) ?? false;
  // Such an entry only switches off the same server of another file (C5).
  if (!enabled && entries.size === 1) return undefined;
  const launch = readLaunch(reader, entry, entries);
  const view = readView(reader, entries);
  if (launch === undefined) return undefined;
  const launchHash = launchHashOf(launch, trulyStateless);
  return { id: entry.key, enabled, trulyStateless, launch, ...view, places, launchHash, viewHash: viewHashOf(view) };
}

export function accepted(
  { file, folder, origin = 'folder' }: SourceText,
  servers: readonly ConfiguredServer[],
  found: readonly Problem[],
): ParsedSource {
  return { kind: 'accepted', file, folder, origin, servers, problems: found.toSorted(byPlace) };
}

export function refused(file: string, found: readonly Problem[]): ParsedSource {
  return { kind: 'refused', file, problems: found.toSorted(byPlace) };
}

function checkRoot(reader: EntryReader, root: MapNode): void {
  const start = reader.places.place({ start: root.span.start, end: root.span.start });
  const entries = reader.knownEntries('root', root, start);
  const version = entries.get('version');
  if (!version || isEmpty(version.value)) {
    const [first] = entries.values();
    const place = version ? reader.places.value(version) : first ? reader.places.key(first) : start;
    reader.missing(entries, ['version'], () => versionMissing(place));
  } else if (version.value.kind !== 'scalar' || version.value.value !== 1) {
    const message = `\`version\` is ${describe(version.value)}; only the number 1 is supported.`;
    reader.error('version-unsupported', reader.places.value(version), message, 'Write `version: 1`, without quotes.');
  }
}

function versionMissing(place: Place): Problem {
  const message = 'The file does not say its `version`.';
  return problems.problem('version-missing', 'error', place, message, 'Write `version: 1` as the first line.');
}

function serversOf(reader: EntryReader, root: MapNode): Entries | undefined {
  const servers = root.entries.get('servers');
  // All servers may be commented out.
  if (!servers || isEmpty(servers.value)) return undefined;
  if (servers.value.kind !== 'map') {
    const message = `\`servers\` is ${describe(servers.value)}; expected a map from server ids to their settings.`;
    const fix =
      'Write each server as a separate key under `servers:`, for example `search:` with its settings below it.';
    return reader.error('servers-not-a-map', reader.places.value(servers), message, fix);
  }
  return reader.entries(servers.value, reader.places.key(servers), problems.duplicateServer);
}
