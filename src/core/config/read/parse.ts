/**
 * Never throws. A refused file has an error and no servers. Problems are in the order of the file.
 */
import { byPlace, type Problem } from '../../base/problem.js';
import { problemOf } from '../../base/problemOf.js';
import { describe, type Entries, EntryReader } from './entryReader.js';
import { viewHashOf } from '../hash.js';
import { launchHashOf } from '../launchValues.js';
import { readLaunch } from './launch.js';
import {
  builtInToolset,
  type ConfigDeps,
  type ConfiguredServer,
  type InstanceLimit,
  type ParsedSource,
  type ServerDefinition,
  type SourceText,
} from '../model.js';
import { serverPlaces } from './places.js';
import { shortened } from '../problems.js';
import { readYamlFile } from './yamlProblems.js';
import { isEmpty, valueIn, type MapEntry, type MapNode } from '../../yaml/valueNodes.js';
import { Table } from './shapes.js';
import { readView } from './view.js';

export function parseMindsFile(source: SourceText, deps: ConfigDeps): ParsedSource {
  const { file } = source;
  if (source.text === undefined) return accepted(source, [], []);
  const { places, root, problems: found } = readYamlFile(file, source.text);
  if (!root) return refused(file, found);
  const reader = new EntryReader(undefined, places, deps, source);
  for (const warning of found) reader.note(warning);
  if (root.kind !== 'map') {
    if (isEmpty(root)) reader.report('version-missing', places.place({ start: 0, end: 0 }), {});
    else
      reader.report('version-missing:notAMap', places.place(root.span), { found: describe(root) });
    return refused(file, reader.whole(file));
  }
  const head = checkedHead(reader, root);
  const table = serversOf(reader, root);
  if (reader.failed) return refused(file, reader.whole(file));
  const servers = readServers(reader, table ? [...table.values()] : []);
  // A wrong limit costs itself (C4).
  const most = head.read('maxInstances');
  const entry = head.entry('maxInstances');
  const limit = entry && most !== undefined ? { most, place: places.key(entry) } : undefined;
  return accepted(source, servers, reader.whole(file), limit);
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
    const count = entries.length.toLocaleString('en-US');
    reader.report('too-many-servers', places.key(next), { count, most: mostServers });
  }
  return entries.slice(0, mostServers).flatMap((entry) => {
    const own = new EntryReader(entry.key, places, deps, source, reader.room);
    const server = readServer(own, translated(entry));
    reader.takeOver(own);
    // Its tools are ours (L5).
    return server.id === builtInToolset ? [] : [server];
  });
}

/**
 * Reads one entry under `servers:` as a definition, or as an unusable entry, because one bad entry
 * costs one entry (C4).
 */
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
    reader.report('server-id-invalid', places.key, { id: shortened(id), why });
  } else if (id === builtInToolset) {
    reader.report('server-id-invalid:builtIn', places.key, { id });
  }
  const definition = readDefinition(reader, entry, places);
  const { source } = reader;
  const from = {
    id,
    source: source.file,
    origin: source.origin ?? 'folder',
    places,
  };
  const { failed } = reader;
  if (!enabled) reader.soften();
  if (definition === undefined || failed)
    return {
      kind: 'invalid',
      ...from,
      enabled,
    };
  return {
    kind: 'valid',
    ...from,
    definition,
  };
}

function readDefinition(
  reader: EntryReader,
  entry: MapEntry,
  places: ServerDefinition['places'],
): ServerDefinition | undefined {
  const { value } = entry;
  if (value.kind !== 'map' && !isEmpty(value)) {
    const fix = 'Write the settings of the server below its id, each on its own line.';
    const what = `Server \`${shortened(entry.key)}\``;
    return reader.wrong(entry, 'a map of settings', fix, describe(value), what);
  }
  const map = value.kind === 'map' ? value : undefined;
  const server = new Table(reader, 'server', map, reader.places.key(entry));
  const enabled = server.read('enabled') ?? true;
  const trulyStateless = server.read('truely-stateless') ?? false;
  // Such an entry only switches off the same server of another file (C5).
  if (!enabled && server.entries.size === 1) return undefined;
  const launch = readLaunch(server, entry.key);
  const view = readView(server);
  if (launch === undefined) return undefined;
  const launchHash = launchHashOf(launch, trulyStateless);
  return {
    id: entry.key,
    enabled,
    trulyStateless,
    launch,
    ...view,
    places,
    launchHash,
    viewHash: viewHashOf(view),
  };
}

export function accepted(
  { file, folder, origin = 'folder' }: SourceText,
  servers: readonly ConfiguredServer[],
  found: readonly Problem[],
  limit?: InstanceLimit,
): ParsedSource {
  return {
    kind: 'accepted',
    file,
    folder,
    origin,
    servers,
    ...(limit && { limit }),
    problems: found.toSorted(byPlace),
  };
}

export function refused(file: string, found: readonly Problem[]): ParsedSource {
  return {
    kind: 'refused',
    file,
    problems: found.toSorted(byPlace),
  };
}

function checkedHead(reader: EntryReader, root: MapNode): Table<'root'> {
  const start = reader.places.place({ start: root.span.start, end: root.span.start });
  const head = new Table(reader, 'root', root, start);
  const { entries } = head;
  const version = entries.get('version');
  if (!version || isEmpty(version.value)) {
    const [first] = entries.values();
    const place = version ? reader.places.value(version) : first ? reader.places.key(first) : start;
    reader.missing(entries, ['version'], () => problemOf('version-missing', place, {}));
  } else if (version.value.kind !== 'scalar' || version.value.value !== 1) {
    reader.report('version-unsupported', version, { found: describe(version.value) });
  }
  return head;
}

function serversOf(reader: EntryReader, root: MapNode): Entries | undefined {
  const servers = root.entries.get('servers');
  // All servers may be commented out.
  if (!servers || isEmpty(servers.value)) return undefined;
  if (servers.value.kind !== 'map')
    return reader.report('servers-not-a-map', servers, { found: describe(servers.value) });
  return reader.entries(servers.value, reader.places.key(servers), 'duplicate-server');
}
