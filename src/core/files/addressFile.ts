/**
 * Keeps the addresses of a folder's gateways beside its token file, for clients without port and
 * token (G6). An editor and `serve` share one file. An engine has one for its version, so no other
 * version joins it (G6d). A file names the process too, so the token never goes to another program
 * with the same port.
 */
import { readdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { isAlive } from '../base/isAlive.js';
import { largestConfigFile, readTextFile } from '../base/textFile.js';
import { makePrivateFile } from '../base/privateFile.js';
import { hasFields, isObject } from '../base/isObject.js';
import { watchFile } from './watchedFile.js';

const kinds = ['editor', 'serve', 'engine'] as const;

export interface Program {
  readonly kind: (typeof kinds)[number];
  readonly version: string;
}

export interface NotedAddress {
  readonly port: number;
  readonly pid: number;
  readonly program: Program;
  readonly since: number;
}

export function addressFileOf(tokenFile: string, { kind, version }: Program): string {
  const { dir, name } = path.parse(tokenFile);
  return path.join(dir, `${name}${kind === 'engine' ? `.engine-${version}` : ''}.address`);
}

export async function noteAddress(
  tokenFile: string,
  noted: Omit<NotedAddress, 'pid'>,
): Promise<void> {
  const text = `${JSON.stringify({ ...noted, pid: process.pid })}\n`;
  await makePrivateFile(addressFileOf(tokenFile, noted.program), text);
}

/** Notes it again when the note is gone, because the process with the newer note has ended. */
export function keepAddress(
  tokenFile: string,
  noted: Omit<NotedAddress, 'pid'>,
  clock: Clock,
): Disposable {
  const watched = watchFile(addressFileOf(tokenFile, noted.program), { clock });
  watched.onDidChange(({ kind }) => {
    // Without the note, clients use the port of their entries.
    if (kind === 'absent') noteAddress(tokenFile, noted).catch(() => undefined);
  });
  return watched;
}

/** Removes the note of this process. A newer note of another process stays. */
export async function forgetAddress(tokenFile: string, program: Program): Promise<void> {
  const file = addressFileOf(tokenFile, program);
  const noted = await live(file);
  if (noted?.pid === process.pid) await unlink(file).catch(() => undefined);
}

export async function notedAddress(
  tokenFile: string,
  program: Program,
): Promise<NotedAddress | undefined> {
  return await live(addressFileOf(tokenFile, program));
}

export async function notedAddresses(tokenFile: string): Promise<NotedAddress[]> {
  const { dir, name } = path.parse(tokenFile);
  const names = await readdir(dir).catch(() => []);
  const files = names
    .filter(
      (file) =>
        file === `${name}.address` ||
        (file.startsWith(`${name}.engine-`) && file.endsWith('.address')),
    )
    .sort((a, b) => a.length - b.length);
  const noted = await Promise.all(files.map((file) => live(path.join(dir, file))));
  return noted.filter((each) => each !== undefined);
}

async function live(file: string): Promise<NotedAddress | undefined> {
  try {
    const noted: unknown = JSON.parse(await readTextFile(file, largestConfigFile));
    return isNoted(noted) && isAlive(noted.pid) ? noted : undefined;
  } catch {
    return undefined;
  }
}

function isNoted(noted: unknown): noted is NotedAddress {
  if (!isObject(noted) || ![noted['port'], noted['pid'], noted['since']].every(Number.isInteger))
    return false;
  const { program } = noted;
  return (
    hasFields(program, { version: 'string' }) && kinds.some((each) => each === program['kind'])
  );
}
