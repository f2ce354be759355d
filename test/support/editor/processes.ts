/**
 * The part of the system's process table that tests need. A process is recognised by a variable in
 * its starting environment, because children inherit it. Parent ids would lose orphans. Linux only:
 * elsewhere `canListProcesses` is false and the list is empty.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export interface ProcessEntry {
  pid: number;
  ppid: number;
  command: string;
}

export const canListProcesses = process.platform === 'linux';

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * The live processes with `variable` set to `value` in their starting environment, without the
 * calling process.
 */
export function processesMarked(variable: string, value: string): ProcessEntry[] {
  if (!canListProcesses) return [];
  const marker = `${variable}=${value}`;
  const found: ProcessEntry[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(marker)) continue;
      const { state, ppid } = readStat(pid);
      if (state === 'Z') continue;
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
      found.push({ pid, ppid, command });
    } catch {
      // It ended during the read, or belongs to another user.
    }
  }
  return found;
}

/** Waits until `list` is empty. Returns the remaining processes after `limitMs`. */
export async function waitUntilGone(
  list: () => ProcessEntry[],
  limitMs: number,
): Promise<ProcessEntry[]> {
  let left: ProcessEntry[] = [];
  await waitUntil(() => (left = list()).length === 0, limitMs);
  return left;
}

/**
 * Polls until the condition holds, or returns `false` after `limitMs`. The process table gives no
 * events.
 */
export async function waitUntil(condition: () => boolean, limitMs: number): Promise<boolean> {
  const limit = Date.now() + limitMs;
  for (;;) {
    if (condition()) return true;
    if (Date.now() > limit) return false;
    await delay(50);
  }
}

/** Kills at once. A missing process is fine. A negative id is a process group. */
export function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Already gone.
  }
}

function isZombie(pid: number): boolean {
  if (!canListProcesses) return false;
  try {
    return readStat(pid).state === 'Z';
  } catch {
    return false;
  }
}

function readStat(pid: number): { state: string; ppid: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The command's name is in parentheses and may itself contain spaces and parentheses.
  const [state = '', ppid = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state, ppid: Number(ppid) };
}
