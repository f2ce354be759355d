/**
 * Finds a test's live processes by a variable in their environment. Children inherit the variable
 * even after the end of their parents. Works on Linux and Windows. Zombies do not count.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { windowsProcesses } from './windows/processList.js';

export interface TestProcess {
  readonly pid: number;
  readonly parent: number;
  /** 0 on Windows. */
  readonly session: number;
  readonly command: string;
}

const onWindows = process.platform === 'win32';
/** The product's words for a killed process. */
export const wasKilled = onWindows ? 'exited with code 1.' : 'was ended by SIGKILL.';
export const supported = onWindows || process.platform === 'linux';

export function processOf(pid: number): TestProcess | undefined {
  return onWindows ? windowsList().find((found) => found.pid === pid) : linuxProcess(pid);
}

/**
 * The consoles of programs, which end right after them, and Wine's desktop, which starts with the
 * first window.
 */
const ofSystem = /\\conhost\.exe"? |\\explorer\.exe" \/desktop/i;

function windowsList(having = ''): TestProcess[] {
  return windowsProcesses()
    .filter(({ environment }) => having === '' || environment.includes(having))
    .filter(({ command }) => !ofSystem.test(command))
    .map(({ pid, parent, command }) => ({ pid, parent, session: 0, command }));
}

function linuxProcess(pid: number): TestProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return { pid, parent: Number(parent), session: Number(session), command };
  } catch {
    return undefined;
  }
}

export function isAlive(pid: number): boolean {
  return processOf(pid) !== undefined;
}

/** All processes started with `NAME=value` in their environment. */
export function processesWith(variable: string, value: string): TestProcess[] {
  const entry = `${variable}=${value}`;
  if (onWindows) return windowsList(entry);
  return linuxIds()
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(entry);
      } catch {
        return false;
      }
    })
    .map(linuxProcess)
    .filter((found): found is TestProcess => found !== undefined);
}

export function childrenOf(parent: number): TestProcess[] {
  const all = onWindows ? windowsList() : linuxIds().map(linuxProcess);
  return all.filter((found): found is TestProcess => found?.parent === parent);
}

function linuxIds(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

/**
 * Waits until `list` is empty, and throws the remaining processes after `limitMs`. Resolves with
 * the elapsed time.
 */
export async function untilNone(
  list: () => readonly TestProcess[],
  limitMs: number,
): Promise<number> {
  const begun = performance.now();
  // To read the table of processes takes some milliseconds.
  for (let pauseMs = 5; ; pauseMs = Math.min(2 * pauseMs, 20)) {
    const left = list();
    const took = performance.now() - begun;
    if (left.length === 0) return took;
    if (took > limitMs) {
      const lines = left.map(
        ({ pid, parent, command }) => `  ${pid} (parent ${parent}) ${command.slice(0, 160)}`,
      );
      throw new Error(`Still alive after ${limitMs} ms:\n${lines.join('\n')}`);
    }
    await pause(pauseMs);
  }
}
