/**
 * A server's process and everything it starts (X1, X5). Spawns without a shell, on POSIX in a session and group of
 * its own, and ends the whole tree: end of input, then TERM, then KILL.
 *
 * Does not read the streams and does not know the protocol. Invariants: the end of the direct child is told by its
 * `exit`, never by its streams, which a grandchild may hold; `stop` resolves when no member of the tree lives, or lists
 * those that could not be killed.
 */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import spawn from 'cross-spawn';
import { LivingTree, markVariable } from './livingTree.js';
import { parseProcStat } from './processTable.js';

export interface ProcessStart {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Value of the mark that all processes of the tree carry; ends in a dot. */
  readonly mark: string;
  /** Called in the same turn in which the process comes into being. */
  readonly onSpawned: (pid: number) => void;
  /** Called when nothing of the tree is left. */
  readonly onGone: (pid: number) => void;
}

/** How the direct child ended. `notFound`: on Windows a missing command shows only after the spawn. */
export type ProcessExit =
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly kind: 'notFound'; readonly error: NodeJS.ErrnoException };

type StartedProcess =
  | { readonly kind: 'started'; readonly tree: ProcessTree }
  | { readonly kind: 'notStarted'; readonly error: NodeJS.ErrnoException };

/** The steps of a stop in milliseconds (P7: 2.3 s at worst, with the looks in between). */
const graces = {
  /** From the end of input to TERM. */
  endOfInput: 950,
  /** For what is left when the direct child has ended. */
  leftBehind: 150,
  /** From TERM to KILL. */
  term: 950,
  /** What KILL does not end in this time cannot be ended. */
  kill: 2000,
} as const;

/** The process comes into being before this returns its promise. */
export async function startProcess(start: ProcessStart): Promise<StartedProcess> {
  let child: ChildProcess;
  try {
    child = spawn(start.command, start.args, {
      cwd: start.cwd,
      env: { ...start.env, [markVariable]: start.mark },
      stdio: 'pipe',
      windowsHide: true,
      detached: process.platform !== 'win32',
    });
  } catch (error) {
    // A NUL in an argument or E2BIG does this, for example.
    return { kind: 'notStarted', error: error as NodeJS.ErrnoException };
  }
  if (child.pid === undefined) {
    const error = await new Promise<NodeJS.ErrnoException>((resolve) => child.once('error', resolve));
    return { kind: 'notStarted', error };
  }
  start.onSpawned(child.pid);
  return { kind: 'started', tree: new ProcessTree(child, child.pid, start) };
}

export class ProcessTree {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the direct child has ended. */
  readonly exited: Promise<ProcessExit>;
  private exitedAt: number | undefined;
  private stopping: Promise<readonly number[]> | undefined;
  private readonly living: LivingTree;
  private readonly onGone: (pid: number) => void;

  constructor(
    child: ChildProcess,
    readonly pid: number,
    { mark, onGone }: Pick<ProcessStart, 'mark' | 'onGone'>,
  ) {
    this.onGone = onGone;
    const { stdin, stdout, stderr } = child;
    if (!stdin || !stdout || !stderr) throw new Error('Spawned without pipes');
    this.stdin = stdin;
    this.stdout = stdout;
    this.stderr = stderr;
    // A broken pipe is told by the exit, or by the write that failed.
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {});
    this.living = new LivingTree({ groups: [pid], mark, since: startedAt(pid) });
    this.exited = new Promise((resolve) => {
      const ended = (exit: ProcessExit): void => {
        this.exitedAt ??= performance.now();
        this.living.firstEnded(pid);
        resolve(exit);
      };
      child.once('exit', (code, signal) => ended({ kind: 'exited', code, signal }));
      // cross-spawn gives this in place of the exit of a cmd.exe that found no command. Other errors after the spawn
      // are signals that could not be sent.
      child.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') ended({ kind: 'notFound', error });
      });
    });
  }

  /** Ends the whole tree. Resolves with the ids of those that could not be ended, which are none as a rule. */
  stop(): Promise<readonly number[]> {
    this.stopping ??= this.end().finally(() => this.onGone(this.pid));
    return this.stopping;
  }

  private async end(): Promise<readonly number[]> {
    return process.platform === 'win32' ? await this.endOnWindows() : await this.endOnPosix();
  }

  private async endOnPosix(): Promise<readonly number[]> {
    // This comes before the end of input, as processes that lose their parent by that can still be found now.
    await this.living.look(false);
    const begun = performance.now();
    this.stdin.end();
    const inputDeadline = (): number =>
      Math.min(begun + graces.endOfInput, Math.max(begun, this.exitedAt ?? Infinity) + graces.leftBehind);
    if (!(await this.living.goneBefore(inputDeadline))) {
      this.living.signal('SIGTERM');
      const termDeadline = performance.now() + graces.term;
      if (!(await this.living.goneBefore(() => termDeadline))) await this.kill();
    }
    this.closeStreams();
    return this.living.pids;
  }

  private async kill(): Promise<void> {
    const deadline = performance.now() + graces.kill;
    const between = 100;
    do {
      // This is repeated, because what forks while it is killed leaves children that the last look did not see.
      this.living.signal('SIGKILL');
      const turn = performance.now() + between;
      if (await this.living.goneBefore(() => Math.min(turn, deadline))) return;
    } while (performance.now() < deadline);
  }

  private async endOnWindows(): Promise<readonly number[]> {
    this.stdin.end();
    await Promise.race([this.exited, pause(graces.endOfInput, undefined, { ref: false })]);
    // With the first process alive taskkill finds the tree by itself; the listing takes half a second.
    if (this.exitedAt === undefined) await this.living.killOnWindows();
    for (let turn = 0; turn < 2 && (await this.living.look(false)) > 0; turn++) await this.living.killOnWindows();
    await Promise.race([this.exited, pause(graces.kill, undefined, { ref: false })]);
    this.closeStreams();
    return this.living.pids;
  }

  private closeStreams(): void {
    for (const stream of [this.stdin, this.stdout, this.stderr]) stream.destroy();
  }
}

/** When the process started, in the terms of /proc; undefined elsewhere. */
function startedAt(pid: number): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return parseProcStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.started;
  } catch {
    return undefined;
  }
}
