/**
 * Secrets in the keyring of the system (C2a). The library is optional, so it is loaded with the
 * first secret.
 */
import type { Entry, findCredentials } from '@napi-rs/keyring';
import { ownPackage } from '../core/base/ownPackage.js';
import { unlessThrown } from '../core/base/unlessThrown.js';

type Library = Readonly<{ Entry: typeof Entry; findCredentials: typeof findCredentials }>;

/** Its message is a phrase with the reason. */
export class NoKeyring extends Error {}

const service = 'mcp-toolsets';

export function storeSecret(name: string, value: string): void {
  withKeyring((library) => entry(library, name).setPassword(value));
}

/** Returns true if the keyring had the secret. */
export function deleteSecret(name: string): boolean {
  return withKeyring((library) => entry(library, name).deleteCredential());
}

export function secretNames(): string[] {
  return withKeyring((library) => {
    // `findCredentials` takes no store, so this line selects the lasting one first.
    entry(library, 'any').getPassword();
    const found = library.findCredentials(service);
    return found.map(({ account }) => account).sort();
  });
}

/** Returns the value in the keyring, or else of the environment variable of that name. */
export function secretOf(name: string): string | undefined {
  return (
    unlessThrown(() => withKeyring((library) => entry(library, name).getPassword())) ??
    process.env[name]
  );
}

/**
 * By default, the library may use a keyring of the kernel, which does not survive a restart of the
 * machine.
 */
function entry(library: Library, name: string): Entry {
  return new library.Entry(service, name, { linux: { store: 'secret-service' } });
}

function withKeyring<T>(use: (library: Library) => T): T {
  try {
    return use(ownPackage('@napi-rs/keyring') as Library);
  } catch (error) {
    throw new NoKeyring((error as Error).message.split('\n', 1)[0]);
  }
}
