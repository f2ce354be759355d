/** Reads running processes, from /proc on Linux and else by `ps` (X5). It leaves out zombies. */
import { execFile, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { unlessThrown } from '../base/unlessThrown.js';
import { withoutNpm } from './environment.js';

export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** The process group and the session; 0 if the system has none or does not say. */
  readonly group: number;
  readonly session: number;
  /** Distinguishes a process from a later one with the same id. */
  readonly started: string;
}

export type ProcessTable = ReadonlyMap<number, ProcessEntry>;

/** A listing takes some 20 ms. After this limit it is given up, and the table is empty. */
const listingLimitMs = 5000;
/** The number of processes read before the event loop gets a turn. */
const readAtOnce = 250;
/** PATH may name a folder of the workspace. */
const program = '/bin/ps';

export async function readProcessTable(): Promise<ProcessTable> {
  const pids = process.platform === 'linux' ? procPids() : [];
  return pids.length > 0 ? procTable(pids) : psTable();
}

function procPids(): string[] {
  return (
    unlessThrown(() => readdirSync('/proc'))?.filter((name) => name >= '1' && name <= ':') ?? []
  );
}

async function procTable(pids: readonly string[]): Promise<ProcessTable> {
  const table = new Map<number, ProcessEntry>();
  for (const [index, pid] of pids.entries()) {
    if (index % readAtOnce === readAtOnce - 1) await nextTurn();
    const entry = procEntry(pid);
    if (entry) table.set(entry.pid, entry);
  }
  return table;
}

/**
 * Returns undefined for a process that has ended. Other systems than Linux have none of these
 * files.
 */
export function procEntry(pid: number | string): ProcessEntry | undefined {
  return parseProcStat(contentOf(`/proc/${pid}/stat`).toString('latin1'));
}

function contentOf(path: string): Buffer {
  return unlessThrown(() => readFileSync(path)) ?? Buffer.alloc(0);
}

/**
 * proc(5): `pid (name) state ppid pgrp session … starttime(22) …`; the name may hold spaces and
 * brackets.
 */
export function parseProcStat(text: string): ProcessEntry | undefined {
  const afterName = text.lastIndexOf(')');
  if (afterName < 0) return undefined;
  const fields = text.slice(afterName + 2).split(' ');
  const [state, parent, group, session] = fields;
  if (state === undefined || state === 'Z' || state === 'X') return undefined;
  return {
    pid: Number.parseInt(text, 10),
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    started: fields[19] ?? '',
  };
}

/** In POSIX `ps`, everything after `=` in one `-o` is the header, so each column has its `-o`. */
export async function psTable(): Promise<ProcessTable> {
  const columns = ['pid=', 'ppid=', 'pgid=', 'stat=', 'lstart='].flatMap((column) => [
    '-o',
    column,
  ]);
  return parsePs(await ps(['-ax', ...columns]));
}

export function parsePs(text: string): ProcessTable {
  const table = new Map<number, ProcessEntry>();
  for (const line of text.split('\n')) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*?)\s*$/.exec(line);
    if (!match || match[4]?.startsWith('Z')) continue;
    const pid = Number(match[1]);
    const parent = Number(match[2]);
    const group = Number(match[3]);
    table.set(pid, {
      pid,
      parent,
      group,
      session: 0,
      started: match[5] ?? '',
    });
  }
  return table;
}

/**
 * Finds the processes with this text in their environment. Processes of other users are unreadable.
 */
export async function carryingMark(
  mark: string,
  candidates: Iterable<ProcessEntry>,
): Promise<ProcessEntry[]> {
  if (process.platform !== 'linux') {
    const listing = await ps(['-xwwE', '-o', 'pid=', '-o', 'command=']);
    const lines = listing.split('\n').filter((line) => line.includes(mark));
    const marked = new Set(lines.map((line) => Number.parseInt(line, 10)));
    return [...candidates].filter(({ pid }) => marked.has(pid));
  }
  const found: ProcessEntry[] = [];
  let read = 0;
  for (const entry of candidates) {
    if (++read % readAtOnce === 0) await nextTurn();
    if (contentOf(`/proc/${entry.pid}/environ`).includes(mark, 0, 'latin1')) found.push(entry);
  }
  return found;
}

/** Returns the words of the command lines, in order. Elsewhere than on Linux, a blank ends a word. */
export async function commandLinesOf(pids: readonly number[]): Promise<string[][]> {
  if (process.platform === 'linux')
    return pids.map((pid) => contentOf(`/proc/${pid}/cmdline`).toString('utf8').split('\0'));
  const listing = await ps(['-ww', '-o', 'pid=', '-o', 'command=', '-p', pids.join(',')]);
  const lines = new Map(
    listing.split('\n').map((line) => [Number.parseInt(line, 10), line.trim().split(' ').slice(1)]),
  );
  return pids.map((pid) => lines.get(pid) ?? []);
}

/**
 * True if this process may read from its terminal, or has none. A job in the background would be
 * stopped.
 */
export function isInForeground(): boolean {
  const stat = contentOf('/proc/self/stat').toString('latin1');
  const [, , group, , terminal, foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (foreground !== undefined) return terminal === '0' || group === foreground;
  // Only Linux has this file. Elsewhere, `ps` marks a process of the foreground.
  const { stdout } = spawnSync(program, ['-o', 'stat=', '-p', String(process.pid)], {
    encoding: 'utf8',
  });
  return !stdout || stdout.includes('+');
}

function ps(args: readonly string[]): Promise<string> {
  const limits = {
    maxBuffer: 64 * 1024 * 1024,
    timeout: listingLimitMs,
    killSignal: 'SIGKILL',
  } as const;
  const options = { ...limits, env: { ...withoutNpm(process.env), LC_ALL: 'C' } };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout) =>
      resolve(error && stdout === '' ? '' : stdout),
    );
  });
}
