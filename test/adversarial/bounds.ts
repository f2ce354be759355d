/** What an attack may cost this process, beside a base that was measured in the same run. */
import assert from 'node:assert/strict';
import { problemLine, statusTable, toolsTable } from '../../src/cli/render.js';
import type { StatusSnapshot } from '../../src/core/reconcile/status.js';
import { heapNow, type Strain } from '../support/core/loopDelay.js';
import type { Stage } from '../support/core/stage.js';

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

/** Nothing that is secret stands in what people and other programs read. */
export function assertKeepsSecrets(stage: Stage, secrets: readonly string[]): void {
  const told = { logs: stage.logs.text(), snapshot: JSON.stringify(stage.host.snapshot) };
  for (const secret of secrets) {
    assert.ok(secret.length > 20, 'there is no such secret');
    for (const [where, text] of Object.entries(told)) assert.ok(!text.includes(secret), `a secret is in the ${where}`);
  }
}

/** What the command line makes of a snapshot has no character that acts on a terminal. */
export function assertShownWithoutControl(snapshot: StatusSnapshot): void {
  const shown = [statusTable(snapshot), toolsTable(snapshot.servers), ...snapshot.problems.map(problemLine)];
  for (const text of shown) {
    const found = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.exec(text);
    assert.equal(found, null, `U+${found?.[0].codePointAt(0)?.toString(16)} in ${JSON.stringify(text.slice(0, 500))}`);
  }
}
