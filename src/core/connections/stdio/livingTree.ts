/**
 * What still lives of one or more process trees, and signals for it (X5). Shared by the stop of a server and by
 * the guardian, which runs in a process of its own: imports nothing but the process table.
 *
 * A process belongs to a tree when it is in the group or session of the tree's first process, descends from one that
 * belongs, is in a group that such a one leads, or carries the tree's mark in its environment; the last finds those
 * whose parents are gone and who made a session of their own. A process that belonged once belongs for good.
 */
import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import {
  carryingMark,
  readProcessTable,
  windowsProgram,
  type ProcessEntry,
  type ProcessTable,
} from './processTable.js';

/**
 * The variable that marks every process of a tree. Its value ends in a dot, so that one is never the start of another.
 */
export const markVariable = 'MCP_TOOLSETS_TREE';

/** The first waits are short, so that a server that goes at once is seen to be gone at once. */
const pollsMs = [2, 3, 5, 5, 10, 10, 20];
const slowestPollMs = 40;
const windowsKillLimitMs = 5000;

interface TreeTarget {
  /** Ids of the first processes, which are their group's too. */
  readonly groups: readonly number[];
  /** The beginning of the mark's value. */
  readonly mark: string;
  /** No process that started before this counts as marked, which saves reading those (Linux only). */
  readonly since?: string | undefined;
}

export class LivingTree {
  private known = new Map<number, ProcessEntry>();
  private readonly ended = new Set<number>();

  constructor(private readonly target: TreeTarget) {}

  /** Finds who belongs now; with `marks` also by environment, which costs more. */
  async look(marks: boolean): Promise<number> {
    const table = await readProcessTable();
    // A table without its reader is none: the listing failed.
    if (!table.has(process.pid)) return this.someAnswer() ? Math.max(1, this.known.size) : 0;
    const find = (known: ReadonlyMap<number, ProcessEntry>): Map<number, ProcessEntry> =>
      belonging(table, this.target.groups, this.ended, known);
    let members = find(this.known);
    if (marks) {
      const others = [...table.values()].filter((entry) => !members.has(entry.pid) && this.maybeMarked(entry));
      const marked = await carryingMark(`${markVariable}=${this.target.mark}`, others);
      if (marked.length > 0) {
        for (const entry of marked) members.set(entry.pid, entry);
        members = find(members);
      }
    }
    this.known = members;
    return members.size;
  }

  /**
   * The first process of a group ended: its id may be another's from now on. The group's id is not, while it has
   * members.
   */
  firstEnded(pid: number): void {
    this.ended.add(pid);
  }

  /** Ids of those that lived at the last look. */
  get pids(): number[] {
    return [...this.known.keys()];
  }

  /** Signals the groups at once, and one by one those outside of them. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void {
    if (process.platform === 'win32') return;
    for (const group of this.target.groups) send(-group, name);
    for (const { pid, group } of this.known.values()) if (!this.target.groups.includes(group)) send(pid, name);
  }

  /** Windows: ends the trees under the first processes and what was found besides; there is no gentler way. */
  async killOnWindows(): Promise<void> {
    const firsts = this.target.groups.filter((pid) => !this.ended.has(pid));
    const pids = new Set([...firsts, ...this.known.keys()]);
    if (pids.size === 0) return;
    const args = [...pids].flatMap((pid) => ['/pid', String(pid)]);
    await new Promise<void>((resolve) => {
      const options = { windowsHide: true, timeout: windowsKillLimitMs };
      execFile(windowsProgram('taskkill.exe'), [...args, '/T', '/F'], options, () => resolve());
    });
  }

  /** Resolves with whether all are gone before `deadline()` (in the time of `performance.now`), which may move. */
  async goneBefore(deadline: () => number): Promise<boolean> {
    for (let turn = 0; ; turn++) {
      // Signal 0 also reaches the dead who wait for their parent, so a look is due now and then.
      const lookDue = turn > pollsMs.length && turn % 4 === 0;
      if ((!this.someAnswer() || lookDue) && (await this.look(false)) === 0 && (await this.look(true)) === 0)
        return true;
      const left = deadline() - performance.now();
      if (left <= 0) return false;
      await pause(Math.min(left, pollsMs[turn] ?? slowestPollMs));
    }
  }

  private someAnswer(): boolean {
    if (process.platform === 'win32') return false;
    return this.target.groups.some((group) => answers(-group)) || [...this.known.keys()].some((pid) => answers(pid));
  }

  private maybeMarked(entry: ProcessEntry): boolean {
    const { since } = this.target;
    return entry.pid !== process.pid && (since === undefined || Number(entry.started) >= Number(since));
  }
}

/** Finds who belongs, by id; `known` holds those who belonged at an earlier look. */
export function belonging(
  table: ProcessTable,
  groups: readonly number[],
  ended: ReadonlySet<number>,
  known: ReadonlyMap<number, ProcessEntry>,
): Map<number, ProcessEntry> {
  const own = new Set(groups);
  const children = new Map<number, ProcessEntry[]>();
  const byGroup = new Map<number, ProcessEntry[]>();
  const members = new Map<number, ProcessEntry>();
  const open: ProcessEntry[] = [];
  const admit = (entry: ProcessEntry): void => {
    if (members.has(entry.pid) || entry.pid === process.pid) return;
    members.set(entry.pid, entry);
    open.push(entry);
  };
  for (const entry of table.values()) {
    push(children, entry.parent, entry);
    if (entry.group !== 0) push(byGroup, entry.group, entry);
  }
  for (const entry of table.values()) {
    const first = own.has(entry.group) || own.has(entry.session) || (own.has(entry.pid) && !ended.has(entry.pid));
    if (first || known.get(entry.pid)?.started === entry.started) admit(entry);
  }
  // On Windows a process that is gone is still written as the parent of those it left.
  if (process.platform === 'win32') for (const pid of own) for (const entry of children.get(pid) ?? []) admit(entry);
  for (let entry = open.pop(); entry; entry = open.pop()) {
    for (const child of children.get(entry.pid) ?? []) admit(child);
    if (entry.group === entry.pid) for (const fellow of byGroup.get(entry.group) ?? []) admit(fellow);
  }
  return members;
}

function push(map: Map<number, ProcessEntry[]>, key: number, entry: ProcessEntry): void {
  const list = map.get(key);
  if (list) list.push(entry);
  else map.set(key, [entry]);
}

function send(pid: number, name: NodeJS.Signals): void {
  // kill(2) takes 0, 1 and -1 for this group, init and everyone.
  if (!Number.isSafeInteger(pid) || Math.abs(pid) <= 1) return;
  try {
    process.kill(pid, name);
  } catch {
    // It is gone, or never ours to signal; what is left shows in the next look.
  }
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
