/** The key `oauth` of an HTTP server (spec X7): as whom this client signs in, where the server cannot find that out. */
import { describe, type EntryReader } from './entryReader.js';
import { readSecret } from './envValues.js';
import type { OAuthSettings } from './model.js';
import * as problems from './problems.js';
import type { YamlEntry } from './yamlTree.js';

/** Undefined: nothing is said. What is wrong is noted. */
export function readOAuth(
  reader: EntryReader,
  entry: YamlEntry | undefined,
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

function readGrant(reader: EntryReader, entry: YamlEntry | undefined): OAuthSettings['grant'] {
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

function readPort(reader: EntryReader, entry: YamlEntry | undefined): number | undefined {
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
