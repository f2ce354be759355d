/**
 * A lock between processes, as a file. It names its holder, who touches it every second, so the work
 * under it may take any time. It counts as left behind as soon as the holder is dead. If nobody here
 * can see the holder, for example in another container, it counts as left behind after 5 s without
 * a touch. A holder that is seen to live has a minute, because a busy machine or Ctrl-Z may stop it.
 * After the sleep of the computer, a holder has time to touch it again.
 */
import { lstat, open, unlink, writeFile, type FileHandle } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../base/clock.js';
import { confinementHere } from '../base/confinement.js';
import type { Disposable } from '../base/disposables.js';
import { isAlive } from '../base/isAlive.js';
import { makePrivateFolder } from '../base/privateFile.js';
import { readTextFile } from '../base/textFile.js';

const touchMs = 1000;
const unseenMs = 5000;
const livingMs = 60_000;
/** How long this process is awake before it believes that nobody touches the lock. */
const watchedMs = 2 * touchMs;
/** More than the name of a holder has. */
const longestName = 1024;
/** A longer wait for the lock fails, because it cannot be removed or is never free. */
const usualPatienceMs = 15_000;

/** Resolves with the function that gives the lock back. Rejects as `node:fs/promises` does. */
export async function lock(
  file: string,
  clock: Clock,
  patienceMs = usualPatienceMs,
): Promise<() => Promise<void>> {
  await makePrivateFolder(path.dirname(file));
  const began = clock.awake();
  let seen: Seen | undefined;
  for (;;) {
    try {
      const handle = await open(file, 'wx', 0o600);
      return await hold(handle, file, clock);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const waitedMs = clock.awake() - began;
      if (code !== 'EEXIST' || waitedMs > patienceMs) throw error;
    }
    seen = await look(file, clock, seen);
    if (seen && (await isLeft(file, seen, clock))) await breakLock(file, seen, clock);
    // A timer of the clock would let the process end here.
    await pause(5 + Math.random() * 20);
  }
}

export async function underLock<T>(file: string, clock: Clock, work: () => Promise<T>): Promise<T> {
  const unlock = await lock(`${file}.lock`, clock);
  try {
    return await work();
  } finally {
    await unlock();
  }
}

async function hold(handle: FileHandle, file: string, clock: Clock): Promise<() => Promise<void>> {
  let isGiven = false;
  let timer: Disposable | undefined;
  await handle.writeFile(nameOf(process.pid)).catch(() => undefined);
  const touch = async (): Promise<void> => {
    const now = clock.now() / 1000;
    await handle.utimes(now, now).catch(() => undefined);
    if (!isGiven) timer = clock.after(touchMs, () => void touch());
  };
  timer = clock.after(touchMs, () => void touch());
  return async () => {
    if (isGiven) return;
    isGiven = true;
    timer?.dispose();
    // Another process may have broken it and hold its own. An open file keeps its number.
    const [own, found] = await Promise.all([handle.stat(), lstat(file)]).catch(() => []);
    if (own && own.ino === found?.ino) await unlink(file).catch(() => undefined);
    await handle.close().catch(() => undefined);
  };
}

/** The lock at its last touch. */
interface Seen {
  readonly ino: number;
  readonly touched: number;
  /** By `awake` of this process. */
  readonly since: number;
}

async function look(file: string, clock: Clock, before?: Seen): Promise<Seen | undefined> {
  const found = await lstat(file).catch(() => undefined);
  if (!found) return undefined;
  const { ino, mtimeMs: touched } = found;
  if (before?.ino === ino && before.touched === touched) return before;
  return { ino, touched, since: clock.awake() };
}

async function isLeft(file: string, { touched, since }: Seen, clock: Clock): Promise<boolean> {
  const name = await readTextFile(file, longestName).catch(() => '');
  const pid = Number(/^\d+/.exec(name)?.[0]);
  const isSeen = name !== '' && name === nameOf(pid);
  if (isSeen && !isAlive(pid)) return true;
  const limitMs = isSeen ? livingMs : unseenMs;
  // The time of the system may go back.
  const silentMs = Math.abs(clock.now() - touched);
  const seenMs = clock.awake() - since;
  return silentMs >= limitMs && seenMs >= watchedMs;
}

/** Processes see each other if they have one machine, one start of it and one table of processes. */
function nameOf(pid: number): string {
  const { boot = '', 'process namespace': processes = '' } = confinementHere();
  return [pid, boot, processes, hostname()].join(' ');
}

/**
 * One process at a time breaks a lock and looks again first, because another may have broken it and
 * taken it. Numbers of files are used again, so a number alone does not show that.
 */
async function breakLock(file: string, seen: Seen, clock: Clock): Promise<void> {
  const breaking = `${file}.break`;
  try {
    await writeFile(breaking, '', { mode: 0o600, flag: 'wx' });
  } catch {
    const found = await lstat(breaking).catch(() => undefined);
    if (!found) return;
    const silentMs = Math.abs(clock.now() - found.mtimeMs);
    if (silentMs >= unseenMs) await unlink(breaking).catch(() => undefined);
    return;
  }
  try {
    const again = await look(file, clock, seen);
    const isStillLeft = again === seen && (await isLeft(file, seen, clock));
    if (isStillLeft) await unlink(file).catch(() => undefined);
  } finally {
    await unlink(breaking).catch(() => undefined);
  }
}
