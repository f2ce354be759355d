/** Reads the launch of an entry with its references (C2). No problem quotes a possible secret. */
import { english } from '../../base/language.js';
import path from 'node:path';
import { parse } from 'dotenv';
import { isLoopback } from '../../base/loopback.js';
import type { Place } from '../../base/problem.js';
import { problemOf } from '../../base/problemOf.js';
import { hasArguments, isShell } from '../../base/commandWords.js';
import type { EntryReader } from './entryReader.js';
import { suggestTransports, transportOfKey } from '../keys.js';
import {
  literal,
  type EnvFile,
  type EnvFileReading,
  type Launch,
  type HttpLaunch,
  type OAuthSettings,
  type Reference,
  type StdioLaunch,
  type Value,
} from '../model.js';
import { referenceNotReplaced, shortened } from '../problems.js';
import { argumentSyntaxes, foreignReference } from '../foreignReferences.js';
import { isReference, readReference, readValue, reportForeign } from './references.js';
import type { Table } from './shapes.js';
import { textOf, type MapEntry, type ValueNode } from '../../yaml/valueNodes.js';

type Transport = Launch['transport'];
type Server = Table<'server'>;

export function readLaunch(server: Server, id: string): Launch | undefined {
  const owner = english`Server \`${shortened(id)}\``;
  const transport = readTransport(server, owner);
  if (transport === undefined) return undefined;
  reportForeignKeys(server, transport);
  return transport === 'stdio' ? readProgram(server, owner) : readAddress(server, owner);
}

function reportForeignKeys({ reader, entries }: Server, transport: Transport): void {
  // An entry of `sse` has one mistake, whatever its other keys.
  if (textOf(entries.get('transport')?.value) === 'sse') return;
  for (const entry of entries.values()) {
    const { key } = entry;
    const owner = transportOfKey.get(key);
    if (owner === undefined || owner === transport) continue;
    reader.report('key-not-for-transport', reader.places.key(entry), { key, owner, transport });
  }
}

function readAddress(server: Server, owner: string): HttpLaunch | undefined {
  const url = readUrl(server, owner);
  const headers = readHeaders(server);
  const sessionId = readSessionId(server);
  const oauth = readOAuth(server);
  return (
    url && {
      transport: 'streamable_http',
      url,
      headers,
      sessionId,
      oauth,
    }
  );
}

function readProgram(server: Server, owner: string): StdioLaunch | undefined {
  const command = readCommand(server, owner);
  const args = readArgs(server);
  if (!isShell(command ?? '')) reportForeignArguments(server);
  const cwd = readCwd(server);
  const env = readEnv(server);
  const envFile = readEnvFile(server, env);
  if (command === undefined || cwd === undefined) return undefined;
  const { source, deps, starts } = server.reader;
  const ofPerson = source.origin === 'user' && ({ isPersons: true } as const);
  const launch: StdioLaunch = {
    transport: 'stdio',
    command,
    args,
    cwd,
    env,
    envFile,
    ...ofPerson,
  };
  const finders = starts ? deps.finders : undefined;
  const programs = finders?.programs(launch) ?? [];
  const deciding = finders?.deciding(launch) ?? [];
  return {
    ...launch,
    ...(programs.length > 0 && { programs }),
    ...(deciding.length > 0 && { deciding }),
  };
}

/** Returns the transport, guessed if it is missing or `sse`, so all keys are checked. */
function readTransport(server: Server, owner: string): Transport | undefined {
  const { reader } = server;
  const hasUrl = server.entries.has('url');
  const hasCommand = server.entries.has('command');
  const likely = hasUrl && !hasCommand ? 'streamable_http' : 'stdio';
  const entry = server.entry('transport');
  if (!entry) {
    server.missingKey(owner, `transport: ${likely}`);
    return hasUrl === hasCommand ? undefined : likely;
  }
  const written = reader.string(entry, server.fix('transport'));
  switch (written) {
    case undefined:
    case 'stdio':
    case 'streamable_http':
      return written;
    case 'sse': {
      const isProgram = hasCommand && !hasUrl;
      reader.report(isProgram ? 'transport-sse:withCommand' : 'transport-sse', entry, {});
      return isProgram ? 'stdio' : 'streamable_http';
    }
    default: {
      const meant = suggestTransports(written).map((one) => `\`transport: ${one}\``);
      const given = { transport: shortened(written), meant: meant.join(' or ') };
      return reader.report('transport-unsupported', entry, given);
    }
  }
}

const writtenOut = 'Write the value out: this key takes no reference.';

function readCommand(server: Server, owner: string): string | undefined {
  const entry = server.entry('command');
  if (!entry)
    return server.missing(['command'], () =>
      problemOf('missing-key:command', server.at, { owner }),
    );
  const command = server.read('command');
  if (command === undefined) return undefined;
  if (hasArguments(command)) return server.report('command-with-arguments', 'command', {});
  if (/^\s*(?:https?|wss?):\/\//i.test(command)) {
    const advice =
      'Write `transport: streamable_http` and the address as `url`, and remove `command` and `args`.';
    return server.wrong('command', 'a program', 'an address', advice);
  }
  const instead =
    '`command` takes no reference: write the path out (`./` is the folder in which the server starts), or only the name of a program on the `PATH`.';
  reportForeign(server.reader, entry, command, { syntaxes: argumentSyntaxes, instead });
  if (command.trim() !== '') return command;
  return server.wrong('command', 'a non-empty text', 'an empty text');
}

function readArgs(server: Server): Value[] {
  const { reader } = server;
  const references = new Map<number, Reference>();
  const readItem = (item: ValueNode, place: Place, index: number): string | undefined => {
    if (!isReference(item)) return undefined;
    const what = english`Argument ${index + 1}`;
    const target = english`argument ${index + 1}`;
    const reference = readReference(reader, item, {
      what,
      target,
      value: place,
      key: place,
    });
    if (reference) references.set(index, reference);
    return reference?.value ?? '';
  };
  const entry = server.entry('args');
  const texts = reader.texts(entry, 'An item of `args`', server.fix('args'), readItem);
  return (texts ?? []).map((text, index) => references.get(index) ?? literal(text));
}

/** A program may expand variables of its own `env`, as `mcp-remote` does. */
function reportForeignArguments(server: Server): void {
  const { reader } = server;
  const args = server.entry('args');
  const env = server.entry('env')?.value;
  if (args?.value.kind !== 'list') return;
  const isOwn = (name: string): boolean => env?.kind === 'map' && env.entries.has(name);
  for (const [index, item] of args.value.items.entries()) {
    const found = foreignReference(textOf(item) ?? '', argumentSyntaxes);
    if (!found || (found.kind === 'variable' && isOwn(found.name))) continue;
    const place = reader.places.item(args, item);
    reader.noteWarning(() => referenceNotReplaced(place, english`argument ${index + 1}`, found));
  }
}

function readCwd(server: Server): string | undefined {
  const { source, starts, deps } = server.reader;
  if (!server.entry('cwd')) return path.resolve(source.folder);
  const written = server.read('cwd');
  if (written === undefined) return undefined;
  const cwd = path.resolve(source.folder, written);
  if (!starts || deps.directoryExists(cwd)) return cwd;
  const usual = 'Create the folder, or correct `cwd`; it is relative to the workspace folder.';
  return server.report('cwd-missing', 'cwd', { cwd, fix: unexpanded(written) ?? usual });
}

function unexpanded(written: string): string | undefined {
  const isUnexpanded =
    written.startsWith('~') || foreignReference(written, argumentSyntaxes) !== undefined;
  return isUnexpanded ? 'Write the path out: `~` and variables are not expanded.' : undefined;
}

function readUrl(server: Server, owner: string): Value | undefined {
  const entry = server.entry('url');
  if (!entry) return server.missingKey(owner, 'url: https://example.com/mcp');
  const url = readUrlValue(server, entry);
  if (url === undefined || (url.kind === 'reference' && url.value === '')) return url;
  if (url.kind === 'literal' && url.value.trim() !== '')
    reportForeign(server.reader, entry, url.value);
  const why = urlMistake(url);
  if (why === undefined) return url;
  const whole =
    'Write the whole address of the server, for example `url: https://example.com/mcp`.';
  return server.report('url-invalid', 'url', { why, fix: correctionOf(url) ?? whole });
}

function readUrlValue(server: Server, entry: MapEntry): Value | undefined {
  const { reader } = server;
  if (entry.value.kind !== 'map') {
    const written = reader.string(entry, server.fix('url'), 'secret');
    return written === undefined ? undefined : literal(written);
  }
  const value = reader.places.value(entry);
  const key = reader.places.key(entry);
  return readReference(reader, entry.value, {
    what: '`url`',
    target: '`url`',
    value,
    key,
  });
}

/** Completes "`url` …". The address may hold credentials, so no reason quotes it. */
function urlMistake({ kind, value }: Value): string | undefined {
  if (value.trim() === '') return 'is empty';
  if (!URL.canParse(value)) return 'is not a complete URL';
  const { protocol } = new URL(value);
  if (protocol === 'http:' || protocol === 'https:') return undefined;
  const found = shortened(protocol);
  return kind === 'reference'
    ? 'must begin with `http://` or `https://`'
    : english`must begin with \`http://\` or \`https://\`; found \`${found}\``;
}

function readSessionId(server: Server): string {
  const sessionId = server.read('sessionId') ?? '';
  const entry = server.entry('sessionId');
  if (entry) reportForeign(server.reader, entry, sessionId, { instead: writtenOut });
  if (/^[\x21-\x7e]*$/.test(sessionId)) return sessionId;
  return server.report('header-invalid:session', 'sessionId', {}) ?? '';
}

function readEnv(server: Server): Map<string, Value> {
  const { reader } = server;
  const values = new Map<string, Value>();
  for (const item of server.free('env')) {
    const name = shortened(item.key);
    if (item.key === '' || /[=\0]/.test(item.key) || !item.keyIsText) {
      reader.report('env-name-invalid', reader.places.key(item), { name });
      continue;
    }
    const value = readValue(reader, item);
    const what = english`The value of \`${name}\``;
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

function readHeaders(server: Server): Map<string, Value> {
  const { reader } = server;
  const values = new Map<string, Value>();
  const written = new Map<string, MapEntry>();
  for (const item of server.free('headers')) {
    const small = item.key.toLowerCase();
    const first = written.get(small);
    if (!item.keyIsText || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(item.key)) {
      const name = shortened(item.key);
      reader.report('header-invalid:name', reader.places.key(item), { name });
    } else if (first) {
      reader.duplicate('duplicate-key:ofHeader', item, first);
    } else {
      written.set(small, item);
      const value = readHeader(reader, item);
      if (value) values.set(item.key, value);
    }
  }
  return values;
}

function readHeader(reader: EntryReader, item: MapEntry): Value | undefined {
  const name = shortened(item.key);
  if (protocolHeader.test(item.key)) {
    const isSession = item.key.toLowerCase() === 'mcp-session-id';
    const fix = isSession ? 'Write the session id as `sessionId` instead.' : 'Remove the header.';
    return reader.report('header-invalid:protocol', reader.places.key(item), { name, fix });
  }
  const value = readValue(
    reader,
    item,
    english`header \`${name}\``,
    "{ prefix: 'Bearer ', env: NAME }",
  );
  if (value === undefined || isHeaderValue(value.value)) return value;
  const fix = correctionOf(value) ?? 'Remove the character.';
  return reader.report('header-invalid:value', item, { name, fix });
}

function correctionOf(value: Value): string | undefined {
  if (value.kind !== 'reference' || value.source.kind === 'command') return undefined;
  return english`Correct the variable \`${value.source.name}\`.`;
}

/**
 * True if `fetch` takes the value. It drops white space at the ends, as behind a token from a file.
 */
export function isHeaderValue(value: string): boolean {
  const inner = value.replace(/^[\t\n\r ]+|(?<![\t\n\r ])[\t\n\r ]+$/g, '');
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(inner);
}

function readOAuth(server: Server): OAuthSettings | undefined {
  const oauth = server.table('oauth');
  if (oauth.entries.size === 0) return undefined;
  const grant = oauth.read('grant') ?? 'authorization_code';
  const client = oauth.entry('clientId');
  const clientId = oauth.read('clientId') ?? '';
  if (client) reportForeign(oauth.reader, client, clientId, { instead: writtenOut });
  if (grant === 'client_credentials' && !client) oauth.missingKey('`oauth`', 'clientId: my-client');
  requireIssuer(oauth);
  const secret = (key: 'clientSecret' | 'privateKey'): Value | undefined => {
    const entry = oauth.entry(key);
    return entry && readValue(oauth.reader, entry);
  };
  return {
    grant,
    clientId,
    issuer: readIssuer(oauth),
    clientSecret: secret('clientSecret'),
    privateKey: secret('privateKey'),
    scopes: oauth.read('scopes') ?? [],
    redirectPort: oauth.read('redirectPort'),
  };
}

/** Otherwise any server that the MCP server names would be shown the secret. */
function requireIssuer(oauth: Table<'oauth'>): void {
  const shown = oauth.entry('clientSecret') ?? oauth.entry('privateKey');
  if (!shown || oauth.entry('issuer')) return;
  const owner = '`oauth` with credentials of a client';
  const place = oauth.reader.places.key(shown);
  oauth.missingKey(owner, 'issuer: https://auth.example.com', place);
}

function readIssuer(oauth: Table<'oauth'>): string | undefined {
  const written = oauth.read('issuer');
  if (written === undefined) return undefined;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  const isPlain =
    url?.username === '' && url.password === '' && url.search === '' && url.hash === '';
  const isSafe =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
  if (isPlain && isSafe) return written;
  return oauth.wrong('issuer', 'an https address without user, query and fragment');
}

/** The parser takes time in the square of the length of such a run. */
const longestBlank = 1000;
const blankRun = new RegExp(`\\s{${longestBlank}}`);

function readEnvFile(server: Server, env: ReadonlyMap<string, Value>): EnvFile | undefined {
  const written = server.read('envFile');
  if (written === undefined) return undefined;
  if (written.trim() === '') return server.wrong('envFile', 'the path of a file', 'an empty text');
  const { source, starts, deps } = server.reader;
  const { folder, origin } = source;
  const file = path.resolve(folder, written);
  // A workspace must not cause reads of other files (C2b). The user's own file may name any.
  const within = origin === 'user' ? undefined : folder;
  const reading = starts ? deps.envFile?.(file, within) : undefined;
  const values = reading ? variablesOf(reading) : [];
  if (typeof values === 'string') {
    const usual = 'Make it a file of variables in the workspace folder, or correct `envFile`.';
    const fix = unexpanded(written) ?? usual;
    return server.report('env-file-unusable', 'envFile', {
      file,
      reason: values,
      fix,
    });
  }
  return { file, values: new Map(values.filter(([name]) => !env.has(name))) };
}

/** Returns the variables, or a phrase with the reason against the file. */
function variablesOf(reading: EnvFileReading): [string, string][] | string {
  if (reading.kind === 'refused') return reading.reason;
  if (blankRun.test(reading.text))
    return english`it has ${longestBlank} blanks or empty lines in a row`;
  const values = Object.entries(parse(reading.text));
  const hasNul = values.some(([, value]) => value.includes('\0'));
  return hasNul ? 'it has a NUL character in a value' : values;
}
