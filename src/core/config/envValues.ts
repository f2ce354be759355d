/**
 * The values of `env` and `headers`: texts, and copies of host variables (C2). None of them is ever quoted in a
 * problem.
 */
import { describe, describeKind, type EntryReader, noNul } from './entryReader.js';
import { nearest } from './keys.js';
import type { EnvValue, OAuthSettings } from './model.js';
import * as problems from './problems.js';
import { textOf, type MapEntry } from '../yaml/valueNodes.js';

/** `starts`: false for a server that is not started, whose host variables need not be set. */
export function readEnv(reader: EntryReader, entry: MapEntry | undefined, starts: boolean): Map<string, EnvValue> {
  const values = new Map<string, EnvValue>();
  const fix = 'Write a map from names to values, for example `env: { MODE: ci }`.';
  for (const item of reader.freeTable(entry, fix).values()) {
    if (item.key === '' || /[=\0]/.test(item.key) || !item.keyIsText) {
      reader.note(problems.envNameInvalid(reader.atKey(item), item.key));
      continue;
    }
    const value = readValue(reader, item, 'envValue', starts);
    if (value === undefined) continue;
    if (value.value.includes('\0')) {
      const what = `The value of \`${problems.shortened(item.key)}\``;
      reader.note(problems.wrongType(reader.atValue(item), what, 'a text without NUL', 'one with NUL', noNul));
    } else values.set(item.key, value);
  }
  return values;
}

export function readHeaders(reader: EntryReader, entry: MapEntry | undefined, starts: boolean): Map<string, EnvValue> {
  const values = new Map<string, EnvValue>();
  const written = new Map<string, MapEntry>();
  const fix = "Write a map from names to values, for example `headers: { X-Client: 'minds' }`.";
  for (const item of reader.freeTable(entry, fix).values()) {
    const name = problems.shortened(item.key);
    if (!item.keyIsText || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(item.key)) {
      const what = `\`${name}\` cannot be the name of an HTTP header`;
      reader.note(problems.headerInvalid(reader.atKey(item), what, 'Write a name of ASCII letters, digits and `-`.'));
      continue;
    }
    const first = written.get(item.key.toLowerCase());
    if (first) {
      reader.note(problems.duplicateKey(reader.atKey(item), item.key, reader.places.key(first), true));
      continue;
    }
    written.set(item.key.toLowerCase(), item);
    const value = readValue(reader, item, 'headerValue', starts);
    if (value === undefined) continue;
    if (!isHeaderValue(value.value)) {
      const what = `The value of header \`${name}\` holds a line break, a control character or one beyond Latin-1`;
      const next = value.kind === 'host' ? `Correct the variable \`${value.variable}\`.` : 'Remove the character.';
      reader.note(problems.headerInvalid(reader.atValue(item), what, next));
    } else values.set(item.key, value);
  }
  return values;
}

/** As fetch takes it: white space at the ends is dropped there, also the line break behind a token from a file. */
function isHeaderValue(value: string): boolean {
  const inner = value.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, '');
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(inner);
}

/** One value that is no entry of a map of such. */
function readSecret(reader: EntryReader, entry: MapEntry | undefined, starts: boolean): EnvValue | undefined {
  return entry && readValue(reader, entry, 'envValue', starts);
}

function readValue(
  reader: EntryReader,
  entry: MapEntry,
  level: 'envValue' | 'headerValue',
  starts: boolean,
): EnvValue | undefined {
  const name = problems.shortened(entry.key);
  const text = textOf(entry.value);
  if (text !== undefined) return { kind: 'literal', value: text };
  const example = level === 'envValue' ? '{ env: NAME }' : "{ prefix: 'Bearer ', env: NAME }";
  if (entry.value.kind !== 'map') {
    const fix = `Write a text (\`''\` for an empty one) or \`${example}\`.`;
    const expected = 'a text or a map with `env`';
    const found = describeKind(entry.value);
    return reader.note(problems.wrongType(reader.atValue(entry), `The value of \`${name}\``, expected, found, fix));
  }
  const entries = reader.knownEntries(level, entry.value, reader.places.key(entry));
  const source = entries.get('env');
  if (!source) {
    return reader.note(problems.missingKey(reader.atKey(entry), `The value of \`${name}\``, 'env', 'env: NAME'));
  }
  const fix = 'Write the name of an environment variable of the host.';
  const variable = reader.string(source, fix, 'secret');
  const prefixed = entries.get('prefix');
  const prefix =
    level === 'headerValue' && prefixed ? reader.string(prefixed, 'Write a text in quotes.', 'secret') : '';
  if (variable === undefined || prefix === undefined) return undefined;
  if (variable === '') {
    return reader.note(problems.wrongType(reader.atValue(source), '`env`', 'a name', 'an empty text', fix));
  }
  const { env } = reader.surroundings;
  const value = Object.hasOwn(env, variable) ? env[variable] : undefined;
  if (value !== undefined) return { kind: 'host', variable, prefix, value: prefix + value };
  if (!starts) return { kind: 'host', variable, prefix, value: '' };
  const target = level === 'envValue' ? `\`${name}\`` : `header \`${name}\``;
  const set = Object.keys(env).filter((key) => env[key] !== undefined);
  return reader.note(problems.envUnset(reader.atValue(entry), variable, target, nearest(variable, set)));
}

/** The key `oauth` of an HTTP server (X7): as whom this client signs in, where the server cannot find that out. */

/** Undefined: nothing is said. What is wrong is noted. */
export function readOAuth(
  reader: EntryReader,
  entry: MapEntry | undefined,
  starts: boolean,
): OAuthSettings | undefined {
  const entries = reader.table('oauth', entry, 'Write a map, for example `oauth: { clientId: my-client }`.');
  if (!entry || entries.size === 0) return undefined;
  const grant = readGrant(reader, entries.get('grant'));
  const clientId = reader.string(entries.get('clientId'), 'Write the id as the authorization server gave it.') ?? '';
  const settings: OAuthSettings = {
    grant,
    clientId,
    clientSecret: readSecret(reader, entries.get('clientSecret'), starts),
    privateKey: readSecret(reader, entries.get('privateKey'), starts),
    scopes:
      reader.texts(entries.get('scopes'), 'An item of `scopes`', 'Write a list, for example `scopes: [read]`.') ?? [],
    redirectPort: readPort(reader, entries.get('redirectPort')),
  };
  if (grant === 'client_credentials' && clientId === '' && !entries.has('clientId')) {
    reader.note(problems.missingKey(reader.atKey(entry), '`oauth`', 'clientId', 'clientId: my-client'));
  }
  return settings;
}

function readGrant(reader: EntryReader, entry: MapEntry | undefined): OAuthSettings['grant'] {
  const fix = 'Write `authorization_code` (a person signs in) or `client_credentials` (a program does).';
  const written = reader.string(entry, fix);
  if (written === undefined || written === 'authorization_code') return 'authorization_code';
  if (written === 'client_credentials') return written;
  if (entry) {
    const expected = '`authorization_code` or `client_credentials`';
    reader.note(problems.wrongType(reader.atValue(entry), '`grant`', expected, describe(entry.value), fix));
  }
  return 'authorization_code';
}

function readPort(reader: EntryReader, entry: MapEntry | undefined): number | undefined {
  if (!entry) return undefined;
  const { value } = entry;
  const port = value.kind === 'scalar' ? value.value : undefined;
  if (typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536) return port;
  const fix =
    'Write the port of the redirect address that the client is registered with, for example `redirectPort: 33418`.';
  return reader.note(
    problems.wrongType(reader.atValue(entry), '`redirectPort`', 'a number from 1 to 65535', describe(value), fix),
  );
}
