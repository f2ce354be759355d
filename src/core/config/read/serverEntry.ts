/**
 * Reads one entry under `servers:` as a definition, or as an unusable entry, because one bad entry costs one entry
 * (C4).
 */
import { describe, type Entries, type EntryReader } from './entryReader.js';
import { readLaunch } from './launch.js';
import { launchHashOf, viewHashOf } from '../hash.js';
import { builtInToolset, type ConfiguredServer, type ServerDefinition } from '../model.js';
import { readOverrides } from './overrides.js';
import { serverPlaces } from './places.js';
import * as problems from '../problems.js';
import {
  readManual,
  readFilter,
  readResourceLimits,
  readSpare,
  readStart,
  readTimeouts,
  readToolTransform,
  readTransform,
} from './view.js';
import { isEmpty, type MapEntry } from '../../yaml/valueNodes.js';

export function readServer(reader: EntryReader, entry: MapEntry): ConfiguredServer {
  const id = entry.key;
  const places = serverPlaces(reader.places, entry);
  if (!entry.keyIsText || !/^[a-zA-Z0-9_-]{1,64}$/.test(id)) {
    reader.note(problems.serverIdInvalid(reader.atKey(entry), id));
  } else if (id === builtInToolset) reader.note(problems.serverIdReserved(reader.atKey(entry), id));
  const definition = readDefinition(reader, entry, places);
  const { source } = reader;
  const from = { id, source: source.file, origin: source.origin ?? 'folder' };
  const { failed } = reader;
  const enabled = !isSwitchedOff(entry);
  if (!enabled) reader.soften();
  if (definition === undefined || failed) return { kind: 'invalid', ...from, enabled, places };
  return { kind: 'valid', ...from, definition };
}

/** A disabled server never starts, so its mistakes are information (C1). */
function isSwitchedOff({ value }: MapEntry): boolean {
  const enabled = value.kind === 'map' ? value.entries.get('enabled')?.value : undefined;
  return enabled?.kind === 'scalar' && enabled.value === false;
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
    return reader.note(problems.wrongType(reader.atValue(entry), what, 'a map of settings', describe(value), fix));
  }
  const entries: Entries =
    value.kind === 'map' ? reader.knownEntries('server', value, reader.places.key(entry)) : new Map();
  const enabled = reader.truth(entries.get('enabled')) ?? true;
  const trulyStateless = reader.truth(entries.get('truely-stateless')) ?? false;
  const start = readStart(reader, entries.get('start'));
  const spare = readSpare(reader, entries.get('spare'));
  const launch = readLaunch(reader, entry, entries, enabled);
  const tools = readFilter(reader, 'tools', entries.get('tools'));
  const transform = readToolTransform(reader, entries.get('transform'), tools.entries.get('transform'));
  const overrides = readOverrides(reader, tools.entries.get('override'));
  const prompts = readFilter(reader, 'prompts', entries.get('prompts'));
  const promptTransform = readTransform(reader, prompts.entries.get('transform'));
  const resources = readFilter(reader, 'resources', entries.get('resources'));
  const resourceLimits = readResourceLimits(reader, resources.entries);
  const manual = readManual(reader, entries.get('manual'));
  const timeouts = readTimeouts(reader, entries.get('timeouts'));
  if (launch === undefined) return undefined;
  const view = {
    tools: tools.filter,
    transform,
    ...(overrides.size > 0 && { overrides }),
    prompts: { filter: prompts.filter, transform: promptTransform },
    resources: { ...resources.filter, ...resourceLimits },
    manual,
    timeouts,
    ...(start && { start }),
    ...(spare !== undefined && { spare }),
  };
  const launchHash = launchHashOf(launch, trulyStateless);
  return { id: entry.key, enabled, trulyStateless, launch, ...view, places, launchHash, viewHash: viewHashOf(view) };
}
