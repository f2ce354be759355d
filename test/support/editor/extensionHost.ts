/**
 * A live extension host in the view of an outside test. The test can run code in it and wait for
 * its end.
 */
import type * as vscode from 'vscode';
import type { HostAnswer, HostIntroduction, HostWork } from './bridgeProtocol.ts';

type VSCode = typeof vscode;

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export class ExtensionHost {
  readonly pid: number;
  readonly target: string;
  /** Settles when the host has ended or its window is gone. */
  readonly ended: Promise<void>;
  readonly #pending = new Map<number, Pending>();
  readonly #queue: HostWork[] = [];
  #wake: ((work: HostWork | null) => void) | undefined;
  #end!: () => void;
  #connected = true;
  #lastId = 0;

  constructor(introduction: HostIntroduction) {
    this.pid = introduction.pid;
    this.target = introduction.target;
    this.ended = new Promise((done) => (this.#end = done));
  }

  get connected(): boolean {
    return this.#connected;
  }

  /**
   * Runs a function in the extension host. It is sent as source, so it sees only `vscode` and its
   * argument, not the variables around it. Argument and result travel as JSON.
   */
  async evaluate<Result, Argument = undefined>(
    work: (api: VSCode, argument: Argument) => Result | PromiseLike<Result>,
    ...[argument]: Argument extends undefined ? [] : [argument: Argument]
  ): Promise<Result> {
    if (!this.#connected) throw new Error('The extension host has ended');
    const id = ++this.#lastId;
    const answered = new Promise<unknown>((resolve, reject) =>
      this.#pending.set(id, { resolve, reject }),
    );
    const item: HostWork = { id, source: work.toString(), argument };
    if (this.#wake) this.#wake(item);
    else this.#queue.push(item);
    return (await answered) as Result;
  }

  /** Called by the bridge. Resolves with the next work once there is some. */
  nextWork(): Promise<HostWork | null> {
    const queued = this.#queue.shift();
    if (queued || !this.#connected) return Promise.resolve(queued ?? null);
    return new Promise((done) => {
      this.#wake = (work) => {
        this.#wake = undefined;
        done(work);
      };
    });
  }

  /** Called by the bridge with an answer to earlier work. */
  settle(answer: HostAnswer): void {
    const pending = this.#pending.get(answer.id);
    this.#pending.delete(answer.id);
    if ('error' in answer) pending?.reject(new Error(answer.error));
    else pending?.resolve(answer.value);
  }

  /** Called by the bridge when it loses the host. */
  disconnect(): void {
    if (!this.#connected) return;
    this.#connected = false;
    this.#wake?.(null);
    for (const { reject } of this.#pending.values())
      reject(new Error('The extension host ended before it answered'));
    this.#pending.clear();
    this.#end();
  }
}
