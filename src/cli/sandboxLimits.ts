/**
 * What `connect` needs to share servers with other clients, and a sandbox may forbid (G6g): files in
 * the home folder, and a listener on this machine.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { constants, existsSync } from 'node:fs';
import { access, mkdir, unlink, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import path from 'node:path';

interface SandboxLimits {
  /** The code of the system, or undefined if files can be written. */
  readonly writing: string | undefined;
  readonly listening: string | undefined;
}

/** @param folder of the files that gateways share */
export async function sandboxLimits(folder: string): Promise<SandboxLimits> {
  const [writing, listening] = await Promise.all([
    codeOf(() => tryToWrite(folder)),
    codeOf(tryToListen),
  ]);
  return { writing, listening };
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
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch(async (error: unknown) => {
    // Node says ENOENT where a folder cannot be made.
    await access(nearestFolder(folder), constants.W_OK);
    throw error;
  });
  const file = path.join(folder, `${randomBytes(8).toString('hex')}.tmp`);
  // A full disk takes an empty file.
  await writeFile(file, file, { mode: 0o600, flag: 'wx' });
  await unlink(file);
}

function nearestFolder(folder: string): string {
  const parent = path.dirname(folder);
  return existsSync(folder) || parent === folder ? folder : nearestFolder(parent);
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
