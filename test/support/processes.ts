/**
 * Which processes a test started and what is left of them, told by a variable in their environment that they inherit,
 * whatever became of their parents. Linux only: reads /proc. Those that only wait to be reaped are not counted.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

export interface TestProcess {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly command: string;
}

export const supported = process.platform === 'linux';

export function processOf(pid: number): TestProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return { pid, parent: Number(parent), group: Number(group), session: Number(session), command };
  } catch {
    return undefined;
  }
}

export function isAlive(pid: number): boolean {
  return processOf(pid) !== undefined;
}

/** All that were started with `NAME=value` in their environment. */
export function processesWith(variable: string, value: string): TestProcess[] {
  const entry = `${variable}=${value}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(entry);
      } catch {
        return false;
      }
    })
    .map((name) => processOf(Number(name)))
    .filter((found): found is TestProcess => found !== undefined);
}

export function childrenOf(pid: number): TestProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => processOf(Number(name)))
    .filter((found): found is TestProcess => found?.parent === pid);
}

/** Waits until `list` is empty; throws naming what is left after `limitMs`. Resolves with how long it took. */
export async function untilNone(list: () => readonly TestProcess[], limitMs: number): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const left = list();
    const took = performance.now() - begun;
    if (left.length === 0) return took;
    if (took > limitMs) {
      const lines = left.map(({ pid, parent, command }) => `  ${pid} (parent ${parent}) ${command.slice(0, 160)}`);
      throw new Error(`Still alive after ${limitMs} ms:\n${lines.join('\n')}`);
    }
    await pause(10);
  }
}
