/**
 * The streams of a server in a sandbox that hides what a socket is, such as the one of Codex. The
 * usual streams of a child are sockets, and a server on Node would neither read nor write them
 * there. Named pipes work, and cost a start of `mkfifo`.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { isFiltered } from '../base/confinement.js';
import { unlessThrown } from '../base/unlessThrown.js';

export interface ServerStreams {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

export interface NamedPipes extends ServerStreams {
  /** The descriptors for the server. `spawned` closes them here. */
  readonly stdio: number[];
  spawned(): void;
}

let hidden: boolean | undefined;

/** Returns undefined where the usual streams work. Throws as `node:fs` does. */
export function namedPipes(): NamedPipes | undefined {
  hidden ??= isFiltered() && hidesSockets();
  return hidden ? madePipes() : undefined;
}

/** A program on Node says nothing if it cannot find out what its output is. */
function hidesSockets(): boolean {
  const env = { ELECTRON_RUN_AS_NODE: '1' };
  const { stdout } = spawnSync(process.execPath, ['-p', '1'], { env, encoding: 'utf8' });
  return stdout === '';
}

function madePipes(): NamedPipes {
  const folder = privateFolder();
  try {
    const stdin = pipeIn(folder, 'stdin');
    const stdout = pipeIn(folder, 'stdout');
    const stderr = pipeIn(folder, 'stderr');
    const stdio = [stdin.reading, stdout.writing, stderr.writing];
    return {
      stdio,
      spawned: () => stdio.forEach((descriptor) => closeSync(descriptor)),
      stdin: new Socket({ fd: stdin.writing, readable: false, writable: true }),
      stdout: new Socket({ fd: stdout.reading, readable: true, writable: false }),
      stderr: new Socket({ fd: stderr.reading, readable: true, writable: false }),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Where nothing else can be written, the folder of shared memory can. */
function privateFolder(): string {
  const made = (parent: string): string => mkdtempSync(path.join(parent, 'mcp-toolsets-'));
  return unlessThrown(() => made(tmpdir())) ?? made('/dev/shm');
}

function pipeIn(
  folder: string,
  name: string,
): { readonly reading: number; readonly writing: number } {
  const file = path.join(folder, name);
  // The workspace may have a program of this name.
  const env = { PATH: '/usr/bin:/bin' };
  const { status, stderr } = spawnSync('mkfifo', ['-m', '600', file], { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`No named pipe could be made: ${stderr}`);
  // While one descriptor has both ends, opening either end does not wait.
  const both = openSync(file, constants.O_RDWR);
  const reading = openSync(file, constants.O_RDONLY);
  const writing = openSync(file, constants.O_WRONLY);
  closeSync(both);
  return { reading, writing };
}
