/**
 * One entry under `servers:` as a definition, or as an entry that cannot be used (C4: one bad entry costs one
 * entry). The rules for its values are C1 to C3 and N1 to N3; whether a server starts is nothing this file knows.
 */
import path from 'node:path';
import { readTimeouts, readFilter, readTransform } from './selection.js';
import { describe, type Entries, type EntryReader } from './entryReader.js';
import { readEnv, readHeaders, readOAuth } from './envValues.js';
import { launchHashOf, viewHashOf } from './hash.js';
import { transportOfKey } from './keys.js';
import type { ConfiguredServer, Launch, ServerDefinition, SourceText } from './model.js';
import { serverPlaces } from './places.js';
import * as problems from './problems.js';
import { isEmpty, type MapEntry } from '../yaml/valueNodes.js';

/** Rule L5. */
export const builtInToolset = 'mcp_admin';

type Transport = Launch['transport'];

export function readServer(reader: EntryReader, entry: MapEntry, source: SourceText): ConfiguredServer {
  const id = entry.key;
  const places = serverPlaces(reader.places, entry);
  if (!entry.keyIsText || !/^[a-zA-Z0-9_-]{1,64}$/.test(id)) {
    reader.note(problems.serverIdInvalid(reader.atKey(entry), id));
  } else if (id === builtInToolset) reader.note(problems.serverIdReserved(reader.atKey(entry), id));
  const definition = readDefinition(reader, entry, source, places);
  const from = { id, source: source.file, origin: source.origin ?? 'folder' };
  if (definition === undefined || reader.failed) return { kind: 'invalid', ...from, places };
  return { kind: 'valid', ...from, definition };
}

function readDefinition(
  reader: EntryReader,
  entry: MapEntry,
  source: SourceText,
  places: ServerDefinition['places'],
): ServerDefinition | undefined {
  const { value } = entry;
  if (value.kind !== 'map' && !isEmpty(value)) {
    const fix = 'Write the settings of the server below its id, each on a line of its own.';
    const what = `Server \`${problems.shortened(entry.key)}\``;
    return reader.note(problems.wrongType(reader.atValue(entry), what, 'a map of settings', describe(value), fix));
  }
  const entries: Entries =
    value.kind === 'map' ? reader.knownEntries('server', value, reader.places.key(entry)) : new Map();
  const enabled = reader.truth(entries.get('enabled')) ?? true;
  const trulyStateless = reader.truth(entries.get('truely-stateless')) ?? false;
  const launch = readLaunch(reader, entry, entries, source.folder, enabled);
  const tools = readFilter(reader, 'tools', entries.get('tools'));
  const transform = readTransform(reader, entries.get('transform'));
  const prompts = readFilter(reader, 'prompts', entries.get('prompts'));
  const promptTransform = readTransform(reader, prompts.entries.get('transform'));
  const resources = readFilter(reader, 'resources', entries.get('resources'));
  const timeouts = readTimeouts(reader, entries.get('timeouts'));
  if (launch === undefined) return undefined;
  const view = {
    tools: tools.filter,
    transform,
    prompts: { filter: prompts.filter, transform: promptTransform },
    resources: resources.filter,
    timeouts,
  };
  const launchHash = launchHashOf(launch, trulyStateless);
  return { id: entry.key, enabled, trulyStateless, launch, ...view, places, launchHash, viewHash: viewHashOf(view) };
}

function readLaunch(
  reader: EntryReader,
  server: MapEntry,
  entries: Entries,
  folder: string,
  starts: boolean,
): Launch | undefined {
  const transport = readTransport(reader, server, entries);
  if (transport === undefined) return undefined;
  for (const entry of entries.values()) {
    const belongsTo = transportOfKey.get(entry.key);
    if (belongsTo === undefined || belongsTo === transport) continue;
    reader.note(problems.keyNotForTransport(reader.atKey(entry), entry.key, belongsTo, transport));
  }
  switch (transport) {
    case 'stdio': {
      const command = required(reader, server, entries, 'command', 'command: npx', (entry) =>
        readCommand(reader, entry),
      );
      const args = readArgs(reader, entries.get('args'));
      const cwd = readCwd(reader, entries.get('cwd'), folder, starts);
      const env = readEnv(reader, entries.get('env'), starts);
      return command === undefined || cwd === undefined ? undefined : { transport, command, args, cwd, env };
    }
    case 'streamable_http': {
      const example = 'url: https://example.com/mcp';
      const url = required(reader, server, entries, 'url', example, (entry) => readUrl(reader, entry));
      const headers = readHeaders(reader, entries.get('headers'), starts);
      const sessionId = readSessionId(reader, entries.get('sessionId'));
      const oauth = readOAuth(reader, entries.get('oauth'), starts);
      return url === undefined ? undefined : { transport, url, headers, sessionId, ...(oauth && { oauth }) };
    }
  }
}

/** What the rest of the entry is read as; a transport that is missing or `sse` is told by the keys, so that all is checked. */
function readTransport(reader: EntryReader, server: MapEntry, entries: Entries): Transport | undefined {
  const entry = entries.get('transport');
  if (!entry) {
    const likely = entries.has('url') && !entries.has('command') ? 'streamable_http' : 'stdio';
    const owner = `Server \`${problems.shortened(server.key)}\``;
    reader.note(problems.missingKey(reader.atKey(server), owner, 'transport', `transport: ${likely}`));
    return entries.has('url') === entries.has('command') ? undefined : likely;
  }
  const fix = 'Write `transport: stdio` or `transport: streamable_http`.';
  const transport = reader.string(entry, fix);
  switch (transport) {
    case undefined:
      return undefined;
    case 'stdio':
    case 'streamable_http':
      return transport;
    case 'sse':
      reader.note(problems.transportSse(reader.atValue(entry)));
      return 'streamable_http';
    default:
      return reader.note(problems.transportUnsupported(reader.atValue(entry), transport));
  }
}

function required<T>(
  reader: EntryReader,
  server: MapEntry,
  entries: Entries,
  key: string,
  example: string,
  read: (entry: MapEntry) => T | undefined,
): T | undefined {
  const entry = entries.get(key);
  if (entry) return read(entry);
  const owner = `Server \`${problems.shortened(server.key)}\``;
  return reader.note(problems.missingKey(reader.atKey(server), owner, key, example));
}

function readCommand(reader: EntryReader, entry: MapEntry): string | undefined {
  const fix = 'Write the program to start, for example `command: npx`.';
  const command = reader.string(entry, fix);
  if (command === undefined || command.trim() !== '') return command;
  return reader.note(problems.wrongType(reader.atValue(entry), '`command`', 'a non-empty text', 'an empty text', fix));
}

function readArgs(reader: EntryReader, entry: MapEntry | undefined): readonly string[] {
  const fix = "Write a list, for example `args: ['-y', 'some-server']`.";
  return reader.texts(entry, 'An item of `args`', fix) ?? [];
}

function readCwd(
  reader: EntryReader,
  entry: MapEntry | undefined,
  folder: string,
  starts: boolean,
): string | undefined {
  if (!entry) return folder;
  const written = reader.string(entry, 'Write a path relative to the workspace folder, for example `cwd: .`.');
  if (written === undefined) return undefined;
  const cwd = path.resolve(folder, written);
  if (!starts || reader.surroundings.directoryExists(cwd)) return cwd;
  return reader.note(problems.cwdMissing(reader.atValue(entry), written, cwd));
}

function readUrl(reader: EntryReader, entry: MapEntry): string | undefined {
  const written = reader.string(entry, 'Write an address, for example `url: https://example.com/mcp`.', 'secret');
  if (written === undefined) return undefined;
  const invalid = (why: string): undefined => reader.note(problems.urlInvalid(reader.atValue(entry), why));
  if (written.trim() === '') return invalid('is empty');
  if (!URL.canParse(written)) return invalid('is not a complete URL');
  const { protocol } = new URL(written);
  if (protocol === 'http:' || protocol === 'https:') return written;
  return invalid(`must begin with \`http://\` or \`https://\`; found \`${problems.shortened(protocol)}\``);
}

function readSessionId(reader: EntryReader, entry: MapEntry | undefined): string {
  const sessionId = reader.string(entry, "Write a text in quotes, or `sessionId: ''` for none.", 'secret');
  if (entry === undefined || sessionId === undefined || /^[\x21-\x7e]*$/.test(sessionId)) return sessionId ?? '';
  const what = '`sessionId` holds a space or a character that is not visible ASCII';
  reader.note(problems.headerInvalid(reader.atValue(entry), what, 'Write the session id as the server gave it.'));
  return '';
}
