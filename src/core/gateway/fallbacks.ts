/**
 * Remembers which programs fall back to the legacy era when the modern one is refused to them (G3), whose sessions are
 * conversations. A program that is refused and comes again without having begun a session is taken to know no other
 * era; a mistake costs it the comfort of a session, and nothing else.
 */
import { BoundedMap } from '../base/boundedMap.js';
import type { Clock } from '../base/clock.js';
import { isObject } from '../base/isObject.js';

/** This many programs are remembered; the one that was heard of longest ago is forgotten. */
const mostPrograms = 256;
/** Who falls back does so within this time, in milliseconds; its other conversations may begin meanwhile. */
const fallingMs = 1_000;

export class Fallbacks {
  /** When the program was refused first. */
  private readonly refused = new BoundedMap<string, number>(mostPrograms);
  private readonly falling = new BoundedMap<string, true>(mostPrograms);

  constructor(private readonly clock: Clock) {}

  /** Notes that the program has begun a session. */
  noteSession(clientInfo: unknown): void {
    this.falling.set(nameOf(clientInfo), true);
  }

  /** Says whether the program is to be refused, and notes that it was. */
  refuses(clientInfo: unknown): boolean {
    const name = nameOf(clientInfo);
    if (this.falling.has(name)) return true;
    const since = this.refused.get(name);
    if (since === undefined) this.refused.set(name, this.clock.now());
    return since === undefined || this.clock.now() - since < fallingMs;
  }
}

/** A program and its version; those that do not say count as one. */
function nameOf(clientInfo: unknown): string {
  const { name, version } = isObject(clientInfo) ? clientInfo : {};
  return JSON.stringify([name, version]).slice(0, 200);
}
