/**
 * Keeps process trees on Windows: each tree is a job object (X5). Everything started by a member is
 * a member, whatever becomes of its parent. The system ends the members when the last handle to the
 * job is closed, and so with this process. A process enters its job in the turn of its creation;
 * children started before that are not found. Without job objects, `taskkill` ends the processes
 * below the first one while that lives.
 */
import { execFile } from 'node:child_process';
import path from 'node:path';
import {
  closeJob,
  createJob,
  enterJob,
  jobMembers,
  jobsMissing,
  terminateJob,
  type Job,
} from './jobObjects.js';
import { pollUntilGone, type TreeKeeper, type TreeMembers } from './treeMembers.js';

const endLimitMs = 5000;

export class Jobs implements TreeKeeper {
  private readonly trees = new Map<number, JobTree>();

  readonly prepare = jobsMissing;

  admit(pid: number): TreeMembers {
    const tree = new JobTree(pid);
    this.trees.set(pid, tree);
    return tree;
  }

  release(pid: number): void {
    this.trees.get(pid)?.close();
    this.trees.delete(pid);
  }

  async dispose(): Promise<void> {
    const deadline = performance.now() + endLimitMs;
    await Promise.all(
      [...this.trees].map(async ([pid, tree]) => {
        tree.signal();
        await tree.goneBefore(() => deadline);
        this.release(pid);
      }),
    );
  }
}

class JobTree implements TreeMembers {
  readonly caution: string | undefined;
  private job: Job | undefined;
  private hasEnded = false;

  constructor(private readonly pid: number) {
    const missing = jobsMissing();
    this.job = missing === undefined ? createJob() : undefined;
    const entered = this.job !== undefined && enterJob(this.job, pid);
    this.caution = entered ? undefined : (missing ?? 'The process could not enter its job object.');
  }

  get pids(): readonly number[] {
    const members = this.job === undefined ? [] : (jobMembers(this.job) ?? [this.pid]);
    return members.length === 0 && !this.hasEnded ? [this.pid] : members;
  }

  firstEnded(): void {
    this.hasEnded = true;
  }

  signal(): void {
    if (this.job !== undefined) terminateJob(this.job);
    // Until Node reports its end, it holds the process, so the id cannot belong to another.
    if (this.caution === undefined || this.hasEnded) return;
    const program = path.join(
      process.env['SystemRoot'] ?? 'C:\\Windows',
      'System32',
      'taskkill.exe',
    );
    const args = ['/pid', String(this.pid), '/T', '/F'];
    execFile(program, args, { windowsHide: true, timeout: endLimitMs }, () => {});
  }

  goneBefore(deadline: () => number): Promise<boolean> {
    return pollUntilGone(() => this.pids.length === 0, deadline);
  }

  close(): void {
    if (this.job !== undefined) closeJob(this.job);
    this.job = undefined;
  }
}
