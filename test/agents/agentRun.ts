/** One run of an agent: its process, its output, and its conversation with the model. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { within } from '../support/core/within.js';
import type { Talk } from './models/scriptedModel.js';

export class AgentRun {
  private output = '';
  private readonly closed: Promise<unknown>;

  constructor(
    private readonly child: ChildProcess,
    readonly talk: Talk,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk) => (this.output = (this.output + String(chunk)).slice(-100_000)));
    }
    child.once('error', (error) => talk.gone(`the agent did not start: ${error.message}`));
    this.closed = once(child, 'close').catch(() => undefined);
    child.once('close', (code) =>
      talk.gone(`the agent ended with ${code}: ${this.output.trim().slice(-1_500)}`),
    );
  }

  get hasEnded(): boolean {
    return (
      this.child.exitCode !== null || this.child.signalCode !== null || this.child.pid === undefined
    );
  }

  /** Its last output. */
  get words(): string {
    return this.output.trim();
  }

  /** The model sends its last text, and the agent ends. */
  async finish(): Promise<void> {
    await this.talk.finish();
    await within(this.closed, 'the end of the agent', () => this.output.slice(-1_500), 60_000);
  }

  /**
   * Ends it like a crash, with its children. Gemini CLI starts itself again, and the second process
   * would live on.
   */
  async kill(): Promise<void> {
    const { pid } = this.child;
    if (this.hasEnded || pid === undefined) return;
    if (process.platform === 'win32') this.child.kill('SIGKILL');
    else process.kill(-pid, 'SIGKILL');
    await this.closed;
  }
}
