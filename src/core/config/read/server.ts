import path from 'node:path';
import { english } from '../../base/language.js';
import { viewHashOf } from '../hash.js';
import { spellingsOf } from '../keys.js';
import { launchHashOf } from '../launchValues.js';
import {
  builtInToolset,
  type ConfiguredServer,
  type NamedPackage,
  type ServerDefinition,
} from '../model.js';
import { packageOf } from '../../packages/package.js';
import { shortened } from '../problems.js';
import { localPath } from '../sources.js';
import { isEmpty, valueIn, type MapEntry, type MapNode } from '../../yaml/valueNodes.js';
import { describe, type EntryReader } from './entryReader.js';
import { readLaunch } from './launch.js';
import { serverPlaces } from './places.js';
import { Table } from './shapes.js';
import { readView } from './view.js';

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
    const why =
      id.length > 64 ? english`has ${id.length} characters; at most 64 are allowed` : rule;
    reader.report('server-id-invalid', places.key, { id: shortened(id), why });
  } else if (id === builtInToolset) {
    reader.report('server-id-invalid:builtIn', places.key, { id });
  }
  const definition = readDefinition(reader, entry, places);
  const { source } = reader;
  const from = {
    id,
    source: sourceOf(reader),
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
    const what = english`Server \`${shortened(entry.key)}\``;
    return reader.wrong(entry, 'a map of settings', fix, describe(value), what);
  }
  const map = value.kind === 'map' ? value : undefined;
  const server = new Table(reader, 'server', map, reader.places.key(entry));
  const enabled = server.read('enabled') ?? true;
  const trulyStateless = isStateless(server, map) ?? false;
  // Such an entry only switches off the same server of another file (C5).
  if (!enabled && server.entries.size === 1) return undefined;
  const launch = readLaunch(server, entry.key);
  const view = readView(server);
  if (launch === undefined) return undefined;
  const named = packageOf(launch);
  if (named) reportUnpinned(reader, places, named);
  const launchHash = launchHashOf(launch, trulyStateless);
  return {
    id: entry.key,
    source: sourceOf(server.reader),
    enabled,
    trulyStateless,
    launch,
    ...(named && { package: named }),
    ...view,
    places,
    launchHash,
    viewHash: viewHashOf(view),
  };
}

/** Colleagues share the files of a folder. In one person's files, a version may be open (C8). */
function reportUnpinned(
  reader: EntryReader,
  places: ServerDefinition['places'],
  { pinned, name, requested, argument }: NamedPackage,
): void {
  const { origin = 'folder', file } = reader.source;
  if (pinned || !reader.starts || !['folder', 'mcprc'].includes(origin)) return;
  const place = places.value(['args', argument]);
  if (place.file !== file) return;
  const how = requested === undefined ? english`no version` : `\`${shortened(requested)}\``;
  reader.report('version-not-pinned', place, {
    name: shortened(name),
    how,
  });
}

/** An own key hides its other spelling behind a merge key, as it hides an equal key. */
function isStateless(server: Table<'server'>, map?: MapNode): boolean | undefined {
  const key = 'stateless';
  const written = [...server.entries.values()].filter((one) => spellingsOf(key).includes(one.key));
  const { start = 0, end = 0 } = map?.span ?? {};
  const own = written.filter(({ keySpan }) => start <= keySpan.start && keySpan.start < end);
  const [first, again] = own.length > 0 ? own : written;
  if (first && again) server.reader.duplicate('duplicate-key:stateless', again, first);
  return first && server.read(first.key as typeof key);
}

/** A layer of the main worktree counts as one of the folder (C7). */
function sourceOf({ source: { origin, folder, file } }: EntryReader): string {
  return origin === 'local' ? path.join(folder, localPath) : file;
}
