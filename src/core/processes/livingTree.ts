/**
 * Finds the living members of process trees on POSIX, and signals them (X5), for the stop of a
 * server and the guardian. A process belongs to a tree if it is in the group or session of the
 * tree's first process, descends from a member, is in a group led by a member, or carries the
 * tree's mark in its environment. The mark finds processes with a separate session after the end of
 * their parents. A member stays a member for good.
 */
import { groupedBy } from '../base/groupedBy.js';
import { isAlive } from '../base/isAlive.js';
import {
  carryingMark,
  readProcessTable,
  type ProcessEntry,
  type ProcessTable,
} from './processTable.js';
import { pollUntilGone, type TreeMembers } from './treeMembers.js';

/**
 * The variable with the mark of a tree. Its value ends in a dot, so no mark is the start of
 * another.
 */
export const markVariable = 'MCP_TOOLSETS_TREE';

interface TreeTarget {
  /** The ids of the first processes. Their groups have the same ids. */
  readonly groups: readonly number[];
  readonly mark: string;
  /** Processes started earlier do not count as marked, which saves reading them (Linux only). */
  readonly since?: string | undefined;
}

export class LivingTree implements TreeMembers {
  private known = new Map<number, ProcessEntry>();
  private readonly ended = new Set<number>();

  constructor(
    private readonly target: TreeTarget,
    private readonly readTable = readProcessTable,
  ) {}

  /** Finds the present members. With `marks` it also looks at environments, at a higher cost. */
  async look(marks = false): Promise<number> {
    const table = await this.readTable();
    // A table without this process is invalid: the listing failed.
    if (!table.has(process.pid)) return this.someAnswer() ? Math.max(1, this.known.size) : 0;
    const find = (known: ReadonlyMap<number, ProcessEntry>): Map<number, ProcessEntry> =>
      belonging(table, this.target.groups, this.ended, known);
    let members = find(this.known);
    if (marks) {
      const { since } = this.target;
      const others = [...table.values()].filter(
        ({ pid, started }) =>
          !members.has(pid) &&
          pid !== process.pid &&
          (since === undefined || Number(started) >= Number(since)),
      );
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
   * The ids of the first processes may be reused from now on. Those of groups are not while they
   * have members.
   */
  firstEnded(): void {
    for (const pid of this.target.groups) this.ended.add(pid);
  }

  get pids(): number[] {
    return [...this.known.keys()];
  }

  signal(name: 'SIGTERM' | 'SIGKILL'): void {
    for (const group of this.target.groups) send(-group, name);
    for (const { pid, group } of this.known.values())
      if (!this.target.groups.includes(group)) send(pid, name);
  }

  /**
   * Signal 0 also reaches dead processes waiting for their parent, so a look is needed now and
   * then.
   */
  goneBefore(deadline: () => number): Promise<boolean> {
    return pollUntilGone(async (turn, quick) => {
      const lookDue = !quick && turn % 4 === 0;
      return (
        (!this.someAnswer() || lookDue) &&
        (await this.look(false)) === 0 &&
        (await this.look(true)) === 0
      );
    }, deadline);
  }

  private someAnswer(): boolean {
    return (
      this.target.groups.some((group) => isAlive(-group)) ||
      [...this.known.keys()].some((pid) => isAlive(pid))
    );
  }
}

export function belonging(
  table: ProcessTable,
  groups: readonly number[],
  ended: ReadonlySet<number>,
  known: ReadonlyMap<number, ProcessEntry>,
): Map<number, ProcessEntry> {
  const own = new Set(groups);
  const all = [...table.values()];
  const children = groupedBy(all, ({ parent }) => parent);
  const byGroup = groupedBy(all, ({ group }) => group);
  const members = new Map<number, ProcessEntry>();
  const open: ProcessEntry[] = [];
  const admit = (entry: ProcessEntry): void => {
    if (members.has(entry.pid) || entry.pid === process.pid) return;
    members.set(entry.pid, entry);
    open.push(entry);
  };
  for (const entry of all) {
    const first =
      own.has(entry.group) ||
      own.has(entry.session) ||
      (own.has(entry.pid) && !ended.has(entry.pid));
    if (first || known.get(entry.pid)?.started === entry.started) admit(entry);
  }
  for (let entry = open.pop(); entry; entry = open.pop()) {
    for (const child of children.get(entry.pid) ?? []) admit(child);
    if (entry.group === entry.pid)
      for (const fellow of byGroup.get(entry.group) ?? []) admit(fellow);
  }
  return members;
}

function send(pid: number, name: NodeJS.Signals): void {
  // kill(2) takes 0, 1 and -1 for this group, init and everyone.
  if (!Number.isSafeInteger(pid) || Math.abs(pid) <= 1) return;
  try {
    process.kill(pid, name);
  } catch {
    // The process has gone, or was never ours to signal. The next look shows the rest.
  }
}
