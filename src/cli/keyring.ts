/**
 * Secrets in the keyring of the system (C2a). The library is optional, so it is loaded with the
 * first secret.
 */
import type { AsyncEntry, Entry, findCredentials } from '@napi-rs/keyring';
import { ownPackage } from '../core/base/ownPackage.js';
import { unlessThrown } from '../core/base/unlessThrown.js';

type Library = Readonly<{
  Entry: typeof Entry;
  AsyncEntry: typeof AsyncEntry;
  findCredentials: typeof findCredentials;
}>;

/** Its message is a phrase with the reason. */
export class NoKeyring extends Error {}

const service = 'mcp-toolsets';
/** `secret list` does not list it. */
const ofSignIns = ['mcp-toolsets sign-ins', 'key'] as const;
/**
 * By default, the library may use a keyring of the kernel, which does not survive a restart of the
 * machine.
 */
const lasting = { linux: { store: 'secret-service' } } as const;

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
 * The key that seals the sign-ins. The keyring may ask the person to unlock it, so no thread waits
 * for it.
 */
export const signInKey = {
  get: async (): Promise<string | undefined> =>
    (await signInEntry().getPassword().catch(refuse)) ?? undefined,
  store: async (value: string): Promise<void> => {
    await signInEntry().setPassword(value).catch(refuse);
  },
};

function signInEntry(): AsyncEntry {
  return withKeyring(({ AsyncEntry }) => new AsyncEntry(...ofSignIns, lasting));
}

function entry(library: Library, name: string): Entry {
  return new library.Entry(service, name, lasting);
}

function refuse(error: Error): never {
  throw new NoKeyring(error.message.split('\n', 1)[0]);
}

function withKeyring<T>(use: (library: Library) => T): T {
  try {
    return use(ownPackage('@napi-rs/keyring') as Library);
  } catch (error) {
    return refuse(error as Error);
  }
}
