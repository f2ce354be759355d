/**
 * A server's process and everything it starts (X1, X5). It spawns without a shell, in a new session
 * and group on POSIX and in a job object on Windows, and ends the whole tree: end of input, then
 * TERM, then KILL. The direct child ends with its `exit`, never with its streams, because a
 * grandchild may hold them.
 */
import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { markVariable } from './livingTree.js';
import { namedPipes, type NamedPipes, type ServerStreams } from './namedPipes.js';
import { endMembers, type TreeKeeper, type TreeMembers } from './treeMembers.js';
import { posixProgram, windowsProgram } from './program.js';

export interface ProcessStart {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly mark: string;
  readonly keeper: TreeKeeper;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

type StartedProcess =
  | { readonly kind: 'started'; readonly tree: ProcessTree }
  | { readonly kind: 'notStarted'; readonly error: NodeJS.ErrnoException };

/** The steps of a stop in milliseconds (P7: 2.3 s at worst, with the looks in between). */
const graces = {
  endOfInput: 950,
  /** The time for the rest of the tree after the end of the direct child. */
  leftBehind: 150,
  term: 950,
  /** Processes alive after this time cannot be ended. */
  kill: 2000,
} as const;

/** The process comes into being before this returns its promise. */
export async function startProcess(start: ProcessStart): Promise<StartedProcess> {
  start.keeper.prepare?.();
  let child: ChildProcess;
  let pipes: NamedPipes | undefined;
  try {
    const { command, args } = start;
    const isWindows = process.platform === 'win32';
    const program = isWindows
      ? windowsProgram(command, args, start)
      : {
          file: posixProgram(command, start.env),
          args,
          verbatim: false,
        };
    pipes = namedPipes();
    child = spawn(program.file, program.args, {
      ...(!isWindows && { argv0: command }),
      cwd: start.cwd,
      env: { ...start.env, [markVariable]: start.mark },
      stdio: pipes?.stdio ?? 'pipe',
      windowsHide: true,
      windowsVerbatimArguments: program.verbatim,
      detached: !isWindows,
    });
  } catch (error) {
    // For example, a NUL in an argument, or E2BIG.
    return { kind: 'notStarted', error: error as NodeJS.ErrnoException };
  } finally {
    pipes?.spawned();
  }
  if (child.pid === undefined) {
    const error = await new Promise<NodeJS.ErrnoException>((resolve) =>
      child.once('error', resolve),
    );
    return { kind: 'notStarted', error };
  }
  const members = start.keeper.admit(child.pid, start.mark);
  const streams = pipes ?? (child as ChildProcessWithoutNullStreams);
  const started = { child, pid: child.pid, streams };
  return {
    kind: 'started',
    tree: new ProcessTree(started, members, start.keeper),
  };
}

interface Started {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly streams: ServerStreams;
}

export class ProcessTree {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<ProcessExit>;
  private exitedAt: number | undefined;
  private stopping: Promise<readonly number[]> | undefined;

  constructor(
    { child, pid, streams }: Started,
    private readonly members: TreeMembers,
    private readonly keeper: TreeKeeper,
  ) {
    this.pid = pid;
    this.stdin = streams.stdin;
    this.stdout = streams.stdout;
    this.stderr = streams.stderr;
    // The exit or the failed write reports a broken pipe.
    for (const stream of [this.stdin, this.stdout, this.stderr]) stream.on('error', () => {});
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.exitedAt ??= performance.now();
        this.members.firstEnded();
        resolve({ code, signal });
      });
    });
    child.on('error', () => {}); // a signal that could not be sent
  }

  /** Ends the whole tree. Resolves to the ids of processes it could not end, usually none. */
  stop(): Promise<readonly number[]> {
    return (this.stopping ??= this.end().finally(() => this.keeper.release(this.pid)));
  }

  get caution(): string | undefined {
    return this.members.caution;
  }

  private async end(): Promise<readonly number[]> {
    // This comes before the end of input, because processes about to lose their parent can still be
    // found now.
    await this.members.look?.();
    const begun = performance.now();
    this.stdin.end();
    const inputDeadline = (): number =>
      Math.min(
        begun + graces.endOfInput,
        Math.max(begun, this.exitedAt ?? Infinity) + graces.leftBehind,
      );
    if (!(await this.members.goneBefore(inputDeadline))) await endMembers(this.members, graces);
    for (const stream of [this.stdin, this.stdout, this.stderr]) stream.destroy();
    return this.members.pids;
  }
}
