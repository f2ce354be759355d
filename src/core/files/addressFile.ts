/**
 * Keeps the addresses of a folder's gateways beside its token file, for clients without port and
 * token (G6). Each gateway has a note of its own, with its id in the name. A note names the process
 * and what confines it too (G6h), so the token never goes to another program with the same port.
 */
import { randomBytes } from 'node:crypto';
import { readdir, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import {
  confinementHere,
  sharesBoot,
  sharesProcesses,
  type Confinement,
} from '../base/confinement.js';
import { isAlive } from '../base/isAlive.js';
import { largestConfigFile, readTextFile } from '../base/textFile.js';
import { makePrivateFile } from '../base/privateFile.js';
import { hasFields, isObject } from '../base/isObject.js';
import { unlessThrown } from '../base/unlessThrown.js';

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
  readonly confinement: Confinement;
  /** The name of the machine. */
  readonly host: string;
}

/** Resolves to the function that removes the note. Rejects as `node:fs/promises` does. */
export async function noteAddress(
  tokenFile: string,
  noted: Pick<NotedAddress, 'port' | 'program' | 'since'>,
): Promise<() => Promise<void>> {
  const { dir, name } = path.parse(tokenFile);
  const id = randomBytes(8).toString('hex');
  const file = path.join(dir, `${name}.${id}.address`);
  const full: NotedAddress = {
    ...noted,
    pid: process.pid,
    confinement: confinementHere(),
    host: hostname(),
  };
  await makePrivateFile(file, `${JSON.stringify(full)}\n`);
  return () => unlink(file).catch(() => undefined);
}

/** The newest first. A note whose process is certainly gone is removed. */
export async function notedAddresses(tokenFile: string): Promise<NotedAddress[]> {
  const { dir, name } = path.parse(tokenFile);
  const names = await readdir(dir).catch(() => []);
  const files = names.filter(
    (file) =>
      file.startsWith(`${name}.`) && /^[0-9a-f]{16}\.address$/.test(file.slice(name.length + 1)),
  );
  const noted = await Promise.all(files.map((file) => live(path.join(dir, file))));
  return noted.filter((each) => each !== undefined).sort((a, b) => b.since - a.since);
}

async function live(file: string): Promise<NotedAddress | undefined> {
  const text = await readTextFile(file, largestConfigFile).catch(() => '');
  const noted = unlessThrown(() => JSON.parse(text) as unknown);
  if (!isNoted(noted)) return undefined;
  if (!isDead(noted)) return noted;
  await unlink(file).catch(() => undefined);
  return undefined;
}

/** The processes of another sandbox or machine cannot be seen from here. */
function isDead({ confinement, host, pid }: NotedAddress): boolean {
  const here = confinementHere();
  if (!sharesBoot(confinement, here)) return host === hostname();
  return sharesProcesses(confinement, here) && !isAlive(pid);
}

function isNoted(noted: unknown): noted is NotedAddress {
  if (!isObject(noted) || ![noted['port'], noted['pid'], noted['since']].every(Number.isInteger))
    return false;
  const { program, confinement, host } = noted;
  return (
    hasFields(program, { version: 'string' }) &&
    kinds.some((each) => each === program['kind']) &&
    typeof host === 'string' &&
    isObject(confinement) &&
    Object.values(confinement).every((value) => typeof value === 'string')
  );
}
