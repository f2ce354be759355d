/**
 * Never throws. A refused file has an error and no servers. Problems are in the order of the file.
 */
import { byPlace, type Problem } from '../../base/problem.js';
import { problemOf } from '../../base/problemOf.js';
import { describe, type Entries, EntryReader } from './entryReader.js';
import { readJoined, type LayerOf } from './layer.js';
import {
  builtInToolset,
  type ConfigDeps,
  type ConfiguredServer,
  type InstanceLimit,
  type ParsedSource,
  type SourceText,
} from '../model.js';
import { readServer } from './server.js';
import { readYamlFile } from './yamlProblems.js';
import { isEmpty, type MapEntry, type MapNode } from '../../yaml/valueNodes.js';
import { Table } from './shapes.js';

/** A file with a valid head, whose servers are not read yet. */
export interface OpenedFile {
  readonly kind: 'opened';
  readonly reader: EntryReader;
  readonly entries: readonly MapEntry[];
  readonly limit: InstanceLimit | undefined;
}

/** @param layerOf the layer over an entry, by its id (C7) */
export function parseMindsFile(
  source: SourceText,
  deps: ConfigDeps,
  layerOf?: LayerOf,
): ParsedSource {
  if (source.text === undefined) return accepted(source, [], []);
  const opened = openMindsFile(source, source.text, deps);
  if (opened.kind === 'refused') return opened;
  const { reader, entries, limit } = opened;
  const servers = readServers(reader, entries, { layerOf });
  return accepted(source, servers, reader.whole(source.file), limit);
}

export function openMindsFile(
  source: SourceText,
  text: string,
  deps: ConfigDeps,
): OpenedFile | RefusedSource {
  const { file } = source;
  const { places, root, problems: found } = readYamlFile(file, text);
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
  // A wrong limit costs itself (C4).
  const most = head.read('maxInstances');
  const entry = head.entry('maxInstances');
  const limit = entry && most !== undefined ? { most, place: places.key(entry) } : undefined;
  return {
    kind: 'opened',
    reader,
    entries: table ? [...table.values()] : [],
    limit,
  };
}

const mostServers = 500;

interface ReadingOfServers {
  readonly translated?: (entry: MapEntry) => MapEntry;
  readonly layerOf?: LayerOf | undefined;
}

export function readServers(
  reader: EntryReader,
  entries: readonly MapEntry[],
  { translated = (entry) => entry, layerOf }: ReadingOfServers = {},
): ConfiguredServer[] {
  const { places, deps, source } = reader;
  const next = entries[mostServers];
  if (next) {
    const count = entries.length.toLocaleString('en-US');
    reader.report('too-many-servers', places.key(next), { count, most: mostServers });
  }
  return entries.slice(0, mostServers).flatMap((entry) => {
    const layer = layerOf?.(entry.key);
    const owner = layer && source.origin === 'user' ? layer.source : source;
    const own = new EntryReader(entry.key, places, deps, owner, reader.room);
    const below = translated(entry);
    const server = layer ? readJoined(own, below, layer) : readServer(own, below);
    reader.takeOver(own);
    // Its tools are ours (L5).
    return server.id === builtInToolset ? [] : [server];
  });
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

export type RefusedSource = Extract<ParsedSource, { kind: 'refused' }>;

export function refused(file: string, found: readonly Problem[]): RefusedSource {
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
