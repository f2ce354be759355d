/** What each key of `oauth` means and takes; part of `keyDocs`. */
import type { KeyDoc } from './keyDocs.js';
import type { knownKeys } from './keys.js';

export const oauthKeyDocs: Readonly<Record<(typeof knownKeys)['oauth'][number], KeyDoc>> = {
  grant: {
    summary: 'Who signs in.',
    byDefault: 'authorization_code',
    value: {
      kind: 'choice',
      values: [
        { value: 'authorization_code', summary: 'A person, in a browser.' },
        { value: 'client_credentials', summary: 'This client itself, with its secret or key; nobody is asked.' },
      ],
    },
    block: ': ',
  },
  clientId: {
    summary: 'The id that the authorization server knows this client by.',
    details: 'Or the https address of a client id metadata document, which is used where the server takes such.',
    value: { kind: 'text', of: 'session' },
    block: ": '$1'",
  },
  clientSecret: {
    summary: 'The secret of the client, if it has one.',
    value: { kind: 'secret', level: 'envValue' },
    block: ': { env: ${1:NAME} }',
  },
  privateKey: {
    summary: 'The private key of the client in PEM form, instead of a secret; for `client_credentials`.',
    value: { kind: 'secret', level: 'envValue' },
    block: ': { env: ${1:NAME} }',
  },
  scopes: {
    summary: 'What to ask for, instead of what the server names.',
    value: { kind: 'texts', of: 'argument' },
    block: ": ['$1']",
  },
  redirectPort: {
    summary: 'The port of the redirect address `http://127.0.0.1:PORT/callback` that the client is registered with.',
    byDefault: 'any',
    value: { kind: 'port' },
    block: ': ',
  },
};
