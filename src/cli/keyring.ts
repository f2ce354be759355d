/**
 * The secrets of the command line (C2), in the keyring of the system: the Secret Service of Linux, the Keychain of macOS, the
 * Credential Manager of Windows. It is loaded when a secret is asked for, because it is an optional part of the package.
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

/** Under which the entries stand, and where a person finds them in the keyring's own program. */
const service = 'mcp-toolsets';

export function storeSecret(name: string, value: string): Attempt<void> {
  return attempt((library) => entry(library, name).setPassword(value));
}

/** Returns whether there was one. */
export function deleteSecret(name: string): Attempt<boolean> {
  return attempt((library) => entry(library, name).deleteCredential());
}

export function secretNames(): Attempt<string[]> {
  return attempt((library) => {
    // Listing asks for no store by name, so a keyring that lasts is asked for first.
    entry(library, 'any').getPassword();
    return library
      .findCredentials(service)
      .map(({ account }) => account)
      .sort();
  });
}

/** Returns the value in the keyring, or that of the environment variable of that name. */
export function secretOf(name: string): string | undefined {
  const found = attempt((library) => entry(library, name).getPassword() ?? undefined);
  return (found.kind === 'done' ? found.value : undefined) ?? process.env[name];
}

/** The library would fall back to a keyring of the kernel, which forgets everything when the machine ends. */
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
