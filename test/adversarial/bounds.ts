/** What an attack may cost this process, beside a base that was measured in the same run. */
import assert from 'node:assert/strict';
import { heapNow, type Strain } from '../support/core/loopDelay.js';

const worseThanBase = 25;
/** What waits for the collector counts in the first. */
const heapMegabytes = { atMost: 600, left: 60 };

export interface Bounds {
  readonly base: Strain;
  /** A base that is shorter counts as this: hold-ups by the machine and by the test itself are of that order. */
  readonly leastBaseMs: number;
  /** In MB, before the attack. */
  readonly heapBefore: number;
}

export function assertWithinBounds(strain: Strain, { base, leastBaseMs, heapBefore }: Bounds): void {
  const bound = worseThanBase * Math.max(leastBaseMs, base.max);
  assert.ok(strain.max < bound, `the loop was held up for ${strain.max} ms; by the good one alone ${base.max} ms`);
  assert.ok(strain.heapGrown < heapMegabytes.atMost, `${strain.heapGrown} MB of heap`);
  const left = heapNow() - heapBefore;
  assert.ok(left < heapMegabytes.left, `${left} MB of heap are left`);
  assertNotPolluted();
}

export function assertNotPolluted(): void {
  assert.equal(({} as { polluted?: unknown }).polluted, undefined, 'Object.prototype is polluted');
}
