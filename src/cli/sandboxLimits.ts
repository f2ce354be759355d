/**
 * What `connect` needs to share servers with other clients, and a sandbox may forbid (G6g): files in
 * the home folder, and a listener on this machine.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { unlink, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { makePrivateFolder } from '../core/base/privateFile.js';

interface SandboxLimits {
  /** The code of the system, or undefined if files can be written. */
  readonly writing: string | undefined;
  readonly listening: string | undefined;
}

/** @param folder of the files that gateways share */
export async function sandboxLimits(folder: string): Promise<SandboxLimits> {
  const [writing, listening] = await Promise.all([codeOfWriting(folder), codeOf(tryToListen)]);
  return { writing, listening };
}

/** Resolves to the code of the system, or to undefined if files can be written in the folder. */
export function codeOfWriting(folder: string): Promise<string | undefined> {
  return codeOf(() => tryToWrite(folder));
}

async function codeOf(attempt: () => Promise<void>): Promise<string | undefined> {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code ?? message;
  }
}

async function tryToWrite(folder: string): Promise<void> {
  await makePrivateFolder(folder);
  const file = path.join(folder, `${randomBytes(8).toString('hex')}.tmp`);
  // A full disk takes an empty file.
  try {
    await writeFile(file, file, { mode: 0o600, flag: 'wx' });
  } finally {
    await unlink(file).catch(() => undefined);
  }
}

async function tryToListen(): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect').finally(() => socket.destroy());
  } finally {
    server.close();
  }
}

/** Returns one line about what the sandbox forbids and what follows, or undefined. */
export function limitsLine(
  { writing, listening }: SandboxLimits,
  folder: string,
): string | undefined {
  const forbidden = [
    ...(writing === undefined ? [] : [`writing files in ${folder} (${writing})`]),
    ...(listening === undefined ? [] : [`listening on this machine (${listening})`]),
  ];
  if (forbidden.length === 0) return undefined;
  const unrecorded = writing === undefined ? '' : ', and its calls are not recorded';
  return `This sandbox does not allow ${forbidden.join(' or ')}, so this client gets servers of its own${unrecorded}.`;
}
