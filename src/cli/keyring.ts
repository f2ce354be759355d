/**
 * The secrets of the command line (C2) in the keyring of the system: the Secret Service of Linux, the Keychain of macOS, the
 * Credential Manager of Windows. The library is loaded with the first secret, because it is an optional dependency.
 */
import type { Entry, findCredentials } from '@napi-rs/keyring';
import { createRequire } from 'node:module';

interface Library {
  readonly Entry: typeof Entry;
  readonly findCredentials: typeof findCredentials;
}

export type Attempt<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'noKeyring'; readonly why: string };

const service = 'mcp-toolsets';

export function storeSecret(name: string, value: string): Attempt<void> {
  return attempt((library) => entry(library, name).setPassword(value));
}

/** Returns true if the keyring had the secret. */
export function deleteSecret(name: string): Attempt<boolean> {
  return attempt((library) => entry(library, name).deleteCredential());
}

export function secretNames(): Attempt<string[]> {
  return attempt((library) => {
    // `findCredentials` takes no store, so this line selects the lasting one first.
    entry(library, 'any').getPassword();
    return library
      .findCredentials(service)
      .map(({ account }) => account)
      .sort();
  });
}

/** Returns the value in the keyring, or else of the environment variable of that name. */
export function secretOf(name: string): string | undefined {
  const found = attempt((library) => entry(library, name).getPassword() ?? undefined);
  return (found.kind === 'done' ? found.value : undefined) ?? process.env[name];
}

/** By default, the library may use a keyring of the kernel, which does not survive a restart of the machine. */
function entry(library: Library, name: string): Entry {
  return new library.Entry(service, name, { linux: { store: 'secret-service' } });
}

function attempt<T>(use: (library: Library) => T): Attempt<T> {
  try {
    return { kind: 'done', value: use(createRequire(__filename)('@napi-rs/keyring') as Library) };
  } catch (error) {
    return { kind: 'noKeyring', why: (error as Error).message.split('\n', 1)[0] ?? '' };
  }
}
