/**
 * Secrets in the keyring of the system (C2a). The library is optional, so it is loaded with the
 * first secret.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import type { Entry, findCredentials } from '@napi-rs/keyring';
import { ownPackage } from '../core/base/ownPackage.js';
import { messageOf } from '../core/base/text.js';
import { unlessThrown } from '../core/base/unlessThrown.js';
import type { Words } from './options.js';
import { complain, print } from './output.js';

type Library = Readonly<{
  Entry: typeof Entry;
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

/** The bytes of the key that seals the sign-ins. */
export const keyBytes = 32;

/**
 * Resolves to the key that seals the sign-ins, in base64; empty without one. @param makes true if a
 * key is made then
 */
export type AskKey = (makes: boolean, signal: AbortSignal) => Promise<string>;

/**
 * Another process asks, because the keyring may ask the person to unlock it. A process with a thread
 * that waits for the answer cannot end.
 */
export function keyAskedBy(script: string): AskKey {
  return async (makes, signal) => {
    const args = [script, 'sign-in-key', ...(makes ? ['make'] : [])];
    const options = { signal, windowsHide: true };
    const asked = promisify(execFile)(process.execPath, args, options);
    const { stdout } = await asked.catch(({ stderr, message }: Error & { stderr: string }) =>
      refuse(new Error(stderr || message)),
    );
    return stdout.trim();
  };
}

/** Prints the key for `keyAskedBy`. */
export function printSignInKey(_: unknown, [action]: Words): number {
  try {
    return print(
      withKeyring((library) => {
        const entry = new library.Entry(...ofSignIns, lasting);
        const kept = entry.getPassword() ?? '';
        if (action !== 'make' || Buffer.from(kept, 'base64').length === keyBytes) return kept;
        const made = randomBytes(keyBytes).toString('base64');
        entry.setPassword(made);
        return made;
      }),
    );
  } catch (error) {
    return complain(messageOf(error));
  }
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
