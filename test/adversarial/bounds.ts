/** Limits for an attack: its cost for this process, and the secrets it must not reveal. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { problemLine, statusTable, toolsTable } from '../../src/cli/render.js';
import type { StatusSnapshot } from '../../src/core/reconcile/status.js';
import { heapNow, strainOf } from '../support/core/loopDelay.js';
import { linearPass } from './longTexts.js';
import type { Stage } from '../support/core/stage.js';

/**
 * The maximum hold-up of the loop in linear passes over a mebibyte, in processor time. 20 passes
 * are some 100 ms on a machine of 2020. The makers of the messages and the collector share the loop
 * with the product.
 */
const mostPasses = 20;
/** `atMost` includes memory that waits for the collector. */
const heapMegabytes = { atMost: 600, left: 60 };

/**
 * The effect of an attack repeats with the attack. A noise of the machine or the collector does
 * not.
 */
const mostAttempts = 3;

/**
 * Fails if the attack holds up the loop each time, or takes memory. The attack may run several
 * times.
 */
export async function assertBounded(attack: () => Promise<unknown>): Promise<void> {
  for (let attempts = 1; !(await isBounded(attack, attempts === mostAttempts)); attempts++);
  assertNotPolluted();
}

/** @param isLast fails if the loop was held up */
async function isBounded(attack: () => Promise<unknown>, isLast: boolean): Promise<boolean> {
  const heapBefore = heapNow();
  const { max, heapGrown } = await strainOf(attack);
  const bound = mostPasses * (await linearPass(undefined, true));
  assert.ok(heapGrown < heapMegabytes.atMost, `${heapGrown} MB of heap`);
  const left = heapNow() - heapBefore;
  assert.ok(left < heapMegabytes.left, `${left} MB of heap are left`);
  if (process.env['MCP_TOOLSETS_FIGURES']) {
    console.log(
      `      held up ${max.toFixed(0)} ms of ${bound.toFixed(0)}; ${heapGrown.toFixed(0)} MB of heap, ${left.toFixed(0)} left`,
    );
  }
  if (isLast) assert.ok(max < bound, `the loop was held up for ${max} ms, of ${bound} ms`);
  return max < bound;
}

export function assertNotPolluted(): void {
  assert.equal(({} as { polluted?: unknown }).polluted, undefined, 'Object.prototype is polluted');
}

/**
 * No secret is in texts for people and other programs, nor in any file: the config file, lists of
 * servers, artifacts and their names.
 * @param files must exist at least, or nothing was tried
 */
export async function assertKeepsSecrets(
  stage: Stage,
  secrets: readonly string[],
  files: RegExp,
): Promise<void> {
  await stage.untilStored();
  const root = path.dirname(stage.folder);
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' });
  assert.ok(
    names.some((name) => files.test(name)),
    `there is no file like ${String(files)}`,
  );
  const contents = names
    .filter((name) => statSync(path.join(root, name)).isFile())
    .map((name): [string, string] => [
      `file ${name}`,
      readFileSync(path.join(root, name), 'latin1'),
    ]);
  const told = [
    ['logs', stage.logs.text()],
    ['snapshot', JSON.stringify(stage.host.snapshot)],
    ['names of files', names.join('\n')],
    ...contents,
  ] as const;
  for (const secret of secrets) {
    assert.ok(secret.length > 20, 'there is no such secret');
    for (const [where, text] of told)
      assert.ok(!text.includes(secret), `a secret is in the ${where}`);
  }
}

/** The command line's form of a snapshot has no character with an effect on a terminal. */
export function assertShownWithoutControl(snapshot: StatusSnapshot): void {
  const shown = [
    statusTable(snapshot),
    toolsTable(snapshot.servers),
    ...snapshot.problems.map(problemLine),
  ];
  for (const text of shown) {
    const found = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.exec(text);
    assert.equal(
      found,
      null,
      `U+${found?.[0].codePointAt(0)?.toString(16)} in ${JSON.stringify(text.slice(0, 500))}`,
    );
  }
}
