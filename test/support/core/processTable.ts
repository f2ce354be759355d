/**
 * What the system says of processes that a test has caused: found by a variable of their environment, which whatever
 * they start inherits, so that nobody's word is taken for what is left. Linux only; elsewhere nothing is found.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

export const runVariable = 'MCP_TOOLSETS_TEST_RUN';

export interface RunningProcess {
  readonly pid: number;
  readonly command: string;
}

/** Processes that live and carry the mark; zombies have no environment any more. */
export function processesOf(mark: string): RunningProcess[] {
  if (process.platform !== 'linux') return [];
  const wanted = `${runVariable}=${mark}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => read(`/proc/${pid}/environ`).split('\0').includes(wanted))
    .map((pid) => ({ pid: Number(pid), command: read(`/proc/${pid}/cmdline`).split('\0').join(' ').trim() }));
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return process.platform !== 'linux' || stateOf(pid) !== 'Z';
}

/** Resolves with the milliseconds until none of them lived; rejects, naming those left, when that takes too long. */
export async function untilNoneOf(left: () => readonly RunningProcess[], limitMs: number): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const living = left();
    const took = performance.now() - begun;
    if (living.length === 0) return took;
    if (took > limitMs) {
      throw new Error(`Alive after ${limitMs} ms: ${living.map(({ pid, command }) => `${pid} ${command}`).join('; ')}`);
    }
    await pause(20);
  }
}

function stateOf(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  return stat.slice(stat.lastIndexOf(')') + 2)[0];
}

/** Empty for a process that has ended meanwhile or is not ours to read. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
