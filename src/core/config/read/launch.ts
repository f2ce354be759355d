/** Reads the launch of an entry with its references (C2). No problem quotes a possible secret. */
import path from 'node:path';
import { isLoopback } from '../../base/loopback.js';
import { hasArguments, isShell } from './commandWords.js';
import type { Entries, EntryReader } from './entryReader.js';
import { suggestTransports, transportOfKey } from '../keys.js';
import { literal, type EnvFile, type Launch, type OAuthSettings } from '../model.js';
import type { Reference, StdioLaunch, Value } from '../model.js';
import { referenceNotReplaced, shortened } from '../problems.js';
import { argumentSyntaxes, everySyntax, foreignReference } from '../foreignReferences.js';
import { isReference, noteForeign, readReference, readValue } from './references.js';
import { textOf, type MapEntry } from '../../yaml/valueNodes.js';
import { parse } from 'dotenv';

type Transport = Launch['transport'];

export function readLaunch(
  reader: EntryReader,
  server: MapEntry,
  entries: Entries,
): Launch | undefined {
  const owner = `Server \`${shortened(server.key)}\``;
  const required = (key: string, example: string): MapEntry | undefined =>
    entries.get(key) ?? reader.missingKey(entries, reader.places.key(server), owner, key, example);
  const transport = readTransport(reader, required, entries);
  if (transport === undefined) return undefined;
  // An entry of `sse` has one mistake, whatever its other keys.
  const isSse = textOf(entries.get('transport')?.value) === 'sse';
  for (const entry of isSse ? [] : entries.values()) {
    const belongsTo = transportOfKey.get(entry.key);
    if (belongsTo === undefined || belongsTo === transport) continue;
    const { key } = entry;
    reader.report('key-not-for-transport', reader.places.key(entry), {
      key,
      owner: belongsTo,
      transport,
    });
  }
  if (transport === 'streamable_http') {
    const url = readUrl(reader, required('url', 'url: https://example.com/mcp'));
    const headers = readHeaders(reader, entries.get('headers'));
    const sessionId = readSessionId(reader, entries.get('sessionId'));
    const oauth = readOAuth(reader, entries.get('oauth'));
    return url === undefined
      ? undefined
      : { transport, url, headers, sessionId, ...(oauth && { oauth }) };
  }
  const command = readCommand(reader, required('command', 'command: npx'));
  const args = readArgs(reader, entries.get('args'));
  if (!isShell(command ?? '')) noteForeignArguments(reader, entries);
  const cwd = readCwd(reader, entries.get('cwd'));
  const env = readEnv(reader, entries.get('env'));
  const envFile = readEnvFile(reader, entries.get('envFile'), env);
  if (command === undefined || cwd === undefined) return undefined;
  const { source, deps, starts } = reader;
  const launch: StdioLaunch = {
    transport,
    command,
    args,
    cwd,
    env,
    ...(envFile && { envFile }),
    ...(source.origin === 'user' && { isPersons: true }),
  };
  const programs = starts ? (deps.programs?.(launch) ?? []) : [];
  return programs.length === 0 ? launch : { ...launch, programs };
}

/** Returns the transport, guessed if it is missing or `sse`, so all keys are checked. */
function readTransport(
  reader: EntryReader,
  required: (key: string, example: string) => MapEntry | undefined,
  entries: Entries,
): Transport | undefined {
  const likely = entries.has('url') && !entries.has('command') ? 'streamable_http' : 'stdio';
  const entry = required('transport', `transport: ${likely}`);
  if (!entry) return entries.has('url') === entries.has('command') ? undefined : likely;
  const fix = 'Write `transport: stdio` or `transport: streamable_http`.';
  const transport = reader.string(entry, fix);
  if (transport === undefined || transport === 'stdio' || transport === 'streamable_http')
    return transport;
  if (transport !== 'sse') {
    const meant = suggestTransports(transport).map((one) => `\`transport: ${one}\``);
    const given = { transport: shortened(transport), meant: meant.join(' or ') };
    return reader.report('transport-unsupported', entry, given);
  }
  if (entries.has('command') && !entries.has('url')) {
    reader.report('transport-sse:withCommand', entry, {});
    return 'stdio';
  }
  reader.report('transport-sse', entry, {});
  return 'streamable_http';
}

const writtenOut = 'Write the value out: this key takes no reference.';

function readCommand(reader: EntryReader, entry: MapEntry | undefined): string | undefined {
  const fix = 'Write the program to start, for example `command: npx`.';
  const command = reader.string(entry, fix);
  if (!entry || command === undefined) return undefined;
  if (hasArguments(command)) return reader.report('command-with-arguments', entry, {});
  if (/^\s*(?:https?|wss?):\/\//i.test(command)) {
    const advice =
      'Write `transport: streamable_http` and the address as `url`, and remove `command` and `args`.';
    return reader.wrong(entry, 'a program', advice, 'an address');
  }
  const instead =
    '`command` takes no reference: write the path out (`./` is the folder in which the server starts), or only the name of a program on the `PATH`.';
  noteForeign(reader, entry, command, argumentSyntaxes, instead);
  return command.trim() === ''
    ? reader.wrong(entry, 'a non-empty text', fix, 'an empty text')
    : command;
}

function readArgs(reader: EntryReader, entry: MapEntry | undefined): Value[] {
  const fix = "Write a list, for example `args: ['-y', 'some-server']`.";
  const references = new Map<number, Reference>();
  const texts = reader.texts(entry, 'An item of `args`', fix, (item, place, index) => {
    if (!isReference(item)) return undefined;
    const at = {
      what: `Argument ${index + 1}`,
      target: `argument ${index + 1}`,
      value: place,
      key: place,
    };
    const reference = readReference(reader, item, at);
    if (reference) references.set(index, reference);
    return reference?.value ?? '';
  });
  return (texts ?? []).map((text, index) => references.get(index) ?? literal(text));
}

/** A program may expand variables of its own `env`, as `mcp-remote` does. */
function noteForeignArguments(reader: EntryReader, entries: Entries): void {
  const [args, env] = ['args', 'env'].map((key) => entries.get(key));
  if (args?.value.kind !== 'list') return;
  const own = env?.value.kind === 'map' ? env.value.entries : undefined;
  for (const [index, item] of args.value.items.entries()) {
    const text = textOf(item);
    const found = text === undefined ? undefined : foreignReference(text, argumentSyntaxes);
    if (!found || (found.kind === 'variable' && own?.has(found.name))) continue;
    const place = reader.places.item(args, item);
    reader.noteWarning(() => referenceNotReplaced(place, `argument ${index + 1}`, found));
  }
}

function readCwd(reader: EntryReader, entry: MapEntry | undefined): string | undefined {
  const { folder } = reader.source;
  if (!entry) return path.resolve(folder);
  const written = reader.string(
    entry,
    'Write a path relative to the workspace folder, for example `cwd: .`.',
  );
  if (written === undefined) return undefined;
  const cwd = path.resolve(folder, written);
  if (!reader.starts || reader.deps.directoryExists(cwd)) return cwd;
  const fix = 'Create the directory, or correct `cwd`; it is relative to the workspace folder.';
  return reader.report('cwd-missing', entry, { cwd, fix: unexpanded(written) ?? fix });
}

function unexpanded(written: string): string | undefined {
  const isUnexpanded =
    written.startsWith('~') || foreignReference(written, argumentSyntaxes) !== undefined;
  return isUnexpanded ? 'Write the path out: `~` and variables are not expanded.' : undefined;
}

function readUrl(reader: EntryReader, entry: MapEntry | undefined): Value | undefined {
  if (!entry) return undefined;
  const fix = 'Write an address, for example `url: https://example.com/mcp`.';
  const { value } = entry;
  const at = reader.places.value(entry);
  const place = { what: '`url`', target: '`url`', value: at, key: reader.places.key(entry) };
  const reference = value.kind === 'map' ? readReference(reader, value, place) : undefined;
  const written = value.kind === 'map' ? reference?.value : reader.string(entry, fix, 'secret');
  if (written === undefined) return undefined;
  const url = reference ?? literal(written);
  if (reference && written === '') return url;
  const whole =
    'Write the whole address of the server, for example `url: https://example.com/mcp`.';
  // The address may hold credentials, so no reason quotes it.
  const invalid = (why: string): undefined =>
    reader.report('url-invalid', at, { why, fix: correctionOf(reference) ?? whole });
  if (written.trim() === '') return invalid('is empty');
  if (!reference) noteForeign(reader, entry, written, everySyntax);
  if (!URL.canParse(written)) return invalid('is not a complete URL');
  const { protocol } = new URL(written);
  if (protocol === 'http:' || protocol === 'https:') return url;
  const found = reference ? '' : `; found \`${shortened(protocol)}\``;
  return invalid(`must begin with \`http://\` or \`https://\`${found}`);
}

function readSessionId(reader: EntryReader, entry: MapEntry | undefined): string {
  const sessionId = reader.string(
    entry,
    "Write a text in quotes, or `sessionId: ''` for none.",
    'secret',
  );
  if (!entry || sessionId === undefined) return '';
  noteForeign(reader, entry, sessionId, everySyntax, writtenOut);
  if (/^[\x21-\x7e]*$/.test(sessionId)) return sessionId;
  return reader.report('header-invalid:session', entry, {}) ?? '';
}

function readEnv(reader: EntryReader, entry: MapEntry | undefined): Map<string, Value> {
  const values = new Map<string, Value>();
  const fix = 'Write a map from names to values, for example `env: { MODE: ci }`.';
  for (const item of reader.freeTable(entry, fix).values()) {
    const name = shortened(item.key);
    if (item.key === '' || /[=\0]/.test(item.key) || !item.keyIsText) {
      reader.report('env-name-invalid', reader.places.key(item), { name });
      continue;
    }
    const value = readValue(reader, item);
    const what = `The value of \`${name}\``;
    if (value && reader.withoutNul(value.value, reader.places.value(item), what) !== undefined)
      values.set(item.key, value);
  }
  return values;
}

/**
 * The transport sends these, or could not read the answer to them. They come along in a copy from
 * curl or a browser.
 */
const protocolHeader =
  /^(?:accept|accept-encoding|content-type|content-length|content-encoding|host|transfer-encoding|connection|proxy-connection|keep-alive|upgrade|te|trailer|expect|range|if-[a-z-]+|last-event-id|mcp-.*)$/i;

function readHeaders(reader: EntryReader, entry: MapEntry | undefined): Map<string, Value> {
  const values = new Map<string, Value>();
  const written = new Map<string, MapEntry>();
  const fix = "Write a map from names to values, for example `headers: { X-Client: 'minds' }`.";
  for (const item of reader.freeTable(entry, fix).values()) {
    const name = shortened(item.key);
    const place = reader.places.key(item);
    if (!item.keyIsText || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(item.key)) {
      reader.report('header-invalid:name', place, { name });
      continue;
    }
    const first = written.get(item.key.toLowerCase());
    if (first) {
      reader.duplicate('duplicate-key:ofHeader', item, first);
      continue;
    }
    written.set(item.key.toLowerCase(), item);
    if (protocolHeader.test(item.key)) {
      const isSession = item.key.toLowerCase() === 'mcp-session-id';
      const fix = isSession ? 'Write the session id as `sessionId` instead.' : 'Remove the header.';
      reader.report('header-invalid:protocol', place, { name, fix });
      continue;
    }
    const value = readValue(reader, item, `header \`${name}\``, "{ prefix: 'Bearer ', env: NAME }");
    if (value === undefined) continue;
    if (!isHeaderValue(value.value)) {
      reader.report('header-invalid:value', item, {
        name,
        fix: correctionOf(value) ?? 'Remove the character.',
      });
    } else values.set(item.key, value);
  }
  return values;
}

function correctionOf(value: Value | undefined): string | undefined {
  if (value?.kind !== 'reference' || value.source.kind === 'command') return undefined;
  return `Correct the variable \`${value.source.name}\`.`;
}

/**
 * True if `fetch` takes the value. It drops white space at the ends, as behind a token from a file.
 */
export function isHeaderValue(value: string): boolean {
  const inner = value.replace(/^[\t\n\r ]+|(?<![\t\n\r ])[\t\n\r ]+$/g, '');
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(inner);
}

function readOAuth(reader: EntryReader, entry: MapEntry | undefined): OAuthSettings | undefined {
  const entries = reader.table(
    'oauth',
    entry,
    'Write a map, for example `oauth: { clientId: my-client }`.',
  );
  if (!entry || entries.size === 0) return undefined;
  const help =
    'Write `authorization_code` (a person signs in) or `client_credentials` (a program does).';
  const grants = ['authorization_code', 'client_credentials'] as const;
  const grant = reader.word(entries.get('grant'), grants, help) ?? 'authorization_code';
  const client = entries.get('clientId');
  const clientId = reader.string(client, 'Write the id as the authorization server gave it.') ?? '';
  if (client) noteForeign(reader, client, clientId, everySyntax, writtenOut);
  const secret = (key: string): Value | undefined => {
    const found = entries.get(key);
    return found && readValue(reader, found);
  };
  const issuer = readIssuer(reader, entries.get('issuer'));
  const clientSecret = secret('clientSecret');
  const privateKey = secret('privateKey');
  const scopesFix = 'Write a list, for example `scopes: [read]`.';
  const scopes = reader.texts(entries.get('scopes'), 'An item of `scopes`', scopesFix) ?? [];
  const portFix =
    'Write the port of the redirect address that the client is registered with, for example `redirectPort: 33418`.';
  const redirectPort = reader.positive(
    entries.get('redirectPort'),
    65_535,
    'a number from 1 to 65535',
    portFix,
  );
  if (grant === 'client_credentials' && clientId === '' && !entries.has('clientId')) {
    reader.missingKey(
      entries,
      reader.places.key(entry),
      '`oauth`',
      'clientId',
      'clientId: my-client',
    );
  }
  // Otherwise whoever the server names would be shown the secret.
  const shown = entries.get('clientSecret') ?? entries.get('privateKey');
  if (shown && !entries.has('issuer')) {
    const example = 'issuer: https://auth.example.com';
    reader.missingKey(
      entries,
      reader.places.key(shown),
      '`oauth` with credentials of a client',
      'issuer',
      example,
    );
  }
  return { grant, clientId, issuer, clientSecret, privateKey, scopes, redirectPort };
}

function readIssuer(reader: EntryReader, entry: MapEntry | undefined): string | undefined {
  const fix =
    'Write the address of the authorization server, for example `issuer: https://auth.example.com`.';
  const written = reader.string(entry, fix);
  if (written === undefined || !entry) return undefined;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  const isPlain =
    url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (isPlain && isSafe) return written;
  return reader.wrong(entry, 'an https address without user, query and fragment', fix);
}

/** The parser takes time in the square of the length of such a run. */
const longestBlank = 1000;
const blankRun = new RegExp(`\\s{${longestBlank}}`);

function readEnvFile(
  reader: EntryReader,
  entry: MapEntry | undefined,
  env: ReadonlyMap<string, Value>,
): EnvFile | undefined {
  const fix = 'Write the path of a file, for example `envFile: .env`.';
  const written = reader.string(entry, fix);
  if (!entry || written === undefined) return undefined;
  if (written.trim() === '') return reader.wrong(entry, 'the path of a file', fix, 'an empty text');
  const { folder, origin = 'folder' } = reader.source;
  const file = path.resolve(folder, written);
  if (!reader.starts) return { file, values: new Map() };
  const unusable = (reason: string): undefined =>
    reader.report('env-file-unusable', entry, {
      file,
      reason,
      fix:
        unexpanded(written) ??
        'Make it a file of variables in the workspace folder, or correct `envFile`.',
    });
  // A workspace must not cause reads of other files (C2b). The user's own file may name any.
  const reading = reader.deps.envFile?.(file, origin === 'user' ? undefined : folder);
  if (reading === undefined) return { file, values: new Map() };
  if (reading.kind === 'refused') return unusable(reading.reason);
  if (blankRun.test(reading.text))
    return unusable(`it has ${longestBlank} blanks or empty lines in a row`);
  const values = new Map(Object.entries(parse(reading.text)));
  if ([...values.values()].some((value) => value.includes('\0')))
    return unusable('it has a NUL character in a value');
  return { file, values: new Map([...values].filter(([name]) => !env.has(name))) };
}
