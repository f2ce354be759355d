/**
 * The processes of a lane: everything with the lane's mark in its environment, and everything below
 * the lane's first process. On Linux the mark also finds orphans. On Windows the system ends the
 * whole tree.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import {
  canListProcesses,
  killNow,
  processesMarked,
  type ProcessEntry,
} from '../editor/processes.ts';

export const laneVariable = 'MCP_TOOLSETS_TEST_LANE';

/** The time for a cleanup, before the sudden end. In milliseconds. */
const cleanupMs = 10_000;
const everyMs = 100;

/** @param first the first process, which leads its own group except on Windows */
export function processesOf(mark: string, first: number): ProcessEntry[] {
  if (process.platform === 'win32') return [];
  const all = allProcesses();
  const found = new Set([first, ...processesMarked(laneVariable, mark).map(({ pid }) => pid)]);
  // A program that gives itself another title, such as npm or mocha, overwrites its mark.
  for (let before = 0; before < found.size;) {
    before = found.size;
    for (const { pid, ppid, group } of all) if (found.has(ppid) || group === first) found.add(pid);
  }
  return all.filter(({ pid }) => found.has(pid));
}

interface GroupedProcess extends ProcessEntry {
  readonly group: number;
}

/** Zombies do not count. */
function allProcesses(): GroupedProcess[] {
  if (canListProcesses) {
    const ids = readdirSync('/proc').map(Number).filter(Number.isInteger);
    return ids.flatMap((pid) => linuxProcess(pid) ?? []);
  }
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,command='], {
    encoding: 'utf8',
  });
  return (stdout ?? '').split('\n').flatMap((line) => {
    const [, pid, ppid, group, command = ''] =
      /^\s*(\d+)\s+(\d+)\s+(\d+)\s+[^Z\s]\S*\s+(.*)$/.exec(line) ?? [];
    return pid === undefined
      ? []
      : [{ pid: Number(pid), ppid: Number(ppid), group: Number(group), command }];
  });
}

function linuxProcess(pid: number): GroupedProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const [state, ppid, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
    return { pid, ppid: Number(ppid), group: Number(group), command };
  } catch {
    return undefined;
  }
}

/** Asks all of them to end, and ends what remains. */
export async function endProcesses(mark: string, first: number): Promise<void> {
  if (process.platform === 'win32') {
    spawnSync('taskkill', ['/pid', String(first), '/T', '/F']);
    return;
  }
  signalGroup(first, 'SIGTERM');
  for (
    let waited = 0;
    waited < cleanupMs && processesOf(mark, first).length > 0;
    waited += everyMs
  ) {
    await pause(everyMs);
  }
  // A process may start another one while its list is read.
  for (let left = processesOf(mark, first), tries = 0; tries < 50; tries++) {
    signalGroup(first, 'SIGKILL');
    for (const { pid } of left) killNow(pid);
    await pause(everyMs / 5);
    left = processesOf(mark, first);
    if (left.length === 0) return;
  }
}

function signalGroup(first: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-first, signal);
  } catch {
    // Nothing of the group is left.
  }
}

/** As a tree, one line for each. */
export function asTree(processes: readonly ProcessEntry[]): string[] {
  const ids = new Set(processes.map(({ pid }) => pid));
  const lines: string[] = [];
  const add = (entry: ProcessEntry, depth: number): void => {
    lines.push(`${'  '.repeat(depth)}${entry.pid} ${entry.command.slice(0, 300)}`);
    for (const child of processes) if (child.ppid === entry.pid) add(child, depth + 1);
  };
  for (const entry of processes) if (!ids.has(entry.ppid)) add(entry, 0);
  return lines;
}
