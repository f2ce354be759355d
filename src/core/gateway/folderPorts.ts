/**
 * Finds the port of a folder (G2): the same over reloads and windows, because agent sessions outlive both and keep the address
 * that they were given. It follows from the name of the folder, and is remembered only where that one was taken.
 */
import { createHash } from 'node:crypto';
import { delay, type Clock } from '../base/clock.js';
import { knowsToken } from '../files/proof.js';
import type { OtherPorts, TakenPort } from './stableEndpoint.js';

/** The range lies below the ports that systems give to programs that ask for any. */
const lowest = 20_000;
const count = 10_000;
/** More would mean that something else is wrong than ports that are taken. */
const mostAttempts = 8;

/** A window that ends is waited for so long, and the second time passes between two attempts, in milliseconds. */
const patience = 2_000;
const pause = 100;

interface FolderPortsDeps {
  /** A text that tells the folder from others, for this user. */
  readonly folder: string;
  /** The port that was kept, if any was. */
  readonly kept: number | undefined;
  readonly keep: (port: number) => void;
  readonly clock: Clock;
  readonly knowsToken?: typeof knowsToken;
}

export class FolderPorts implements OtherPorts {
  readonly first: number;
  private attempts = 0;
  /** The port that was found taken last, and when it was first. */
  private taken: { readonly port: number; readonly since: number } | undefined;

  constructor(private readonly deps: FolderPortsDeps) {
    this.first = deps.kept ?? this.candidate(0);
  }

  async after(port: number, token: string): Promise<{ readonly port: number; readonly instead?: TakenPort }> {
    const { clock } = this.deps;
    if (this.taken?.port !== port) {
      // Who is about to end proves nothing any more.
      this.taken = { port, since: clock.now() };
      return this.again(port);
    }
    const isWindow = await (this.deps.knowsToken ?? knowsToken)(port, token, clock);
    // A window that is reloaded may still have it; so may one that is open beside this one.
    if (isWindow && clock.now() - this.taken.since < patience) return this.again(port);
    this.taken = undefined;
    if (isWindow) return { port: 0, instead: { port, by: 'window' } };
    const other = this.attempts < mostAttempts ? this.candidate(++this.attempts) : 0;
    return { port: other, instead: { port, by: 'program' } };
  }

  keep(port: number): void {
    this.taken = undefined;
    if (this.attempts > 0 && port === this.candidate(this.attempts)) this.deps.keep(port);
  }

  private async again(port: number): Promise<{ readonly port: number }> {
    await delay(this.deps.clock, pause);
    return { port };
  }

  private candidate(attempt: number): number {
    const hash = createHash('sha256').update(`${this.deps.folder}\n${attempt}`).digest();
    return lowest + (hash.readUInt32BE(0) % count);
  }
}
