/**
 * The bench's side of a program in a separate process: start, requests over Node's channel, end.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Answer, Question } from './served.js';
import { root, type Run } from './run.js';

export interface ProgramOptions {
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export class Program {
  private nextId = 1;
  private readonly waiting = new Map<
    number,
    { resolve(value: unknown): void; reject(error: Error): void }
  >();
  private readonly tracked: { release(): void };

  private constructor(
    private readonly name: string,
    private readonly child: ChildProcess,
    run: Run,
  ) {
    this.tracked = run.track({ kill: () => child.kill('SIGKILL') });
    child.on('message', (message) => this.take(message as Answer));
    child.once('exit', (code, signal) => {
      this.tracked.release();
      const error = new Error(`The program ${name} ended with ${signal ?? `code ${code}`}.`);
      for (const { reject } of this.waiting.values()) reject(error);
      this.waiting.clear();
    });
  }

  static async start(
    run: Run,
    name: string,
    { execArgv = [], env = {} }: ProgramOptions = {},
  ): Promise<Program> {
    const child = fork(await run.program(name), [], {
      cwd: root,
      env: { ...run.env, ...env },
      execArgv: [...execArgv, ...profiling(run, name)],
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    await once(child, 'spawn');
    return new Program(name, child, run);
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  ask<T = void>(method: string, params?: unknown): Promise<T> {
    const id = this.nextId++;
    return new Promise<T>((resolve, reject) => {
      this.waiting.set(id, { resolve: (value) => resolve(value as T), reject });
      const question: Question = { id, method, params };
      this.child.send(question, (error) => {
        if (!error) return;
        this.waiting.delete(id);
        reject(error);
      });
    });
  }

  /** Lets it clean up after itself, if it has something to clean up. */
  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    await this.ask('end').catch(() => undefined);
    if (this.child.connected) this.child.disconnect();
    await exited;
  }

  private take(answer: Answer): void {
    const waiting = this.waiting.get(answer.id);
    this.waiting.delete(answer.id);
    if ('error' in answer) waiting?.reject(new Error(`${this.name}: ${answer.error}`));
    else waiting?.resolve(answer.value);
  }
}

function profiling({ options: { profile } }: Run, name: string): string[] {
  if (profile === undefined) return [];
  return [
    '--cpu-prof',
    `--cpu-prof-dir=${profile}`,
    `--cpu-prof-name=${name}-${Date.now()}.cpuprofile`,
  ];
}

/** For the duration of `use`. */
export async function withProgram<T>(
  run: Run,
  name: string,
  options: ProgramOptions,
  use: (program: Program) => Promise<T>,
): Promise<T> {
  const program = await Program.start(run, name, options);
  try {
    return await use(program);
  } finally {
    await program.end();
  }
}
