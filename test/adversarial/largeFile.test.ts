/**
 * Help in a file of 2,000 lines (E2): each request takes a few times as long as parsing the
 * file, measured in the same run.
 */
import assert from 'node:assert/strict';
import { formatted } from '../../src/core/base/inert.js';
import { complete } from '../../src/core/authoring/completion.js';
import { hover } from '../../src/core/authoring/hover.js';
import { outline } from '../../src/core/authoring/outline.js';
import { QuickFixes } from '../../src/core/authoring/quickFixes.js';
import { setEnabled } from '../../src/core/config/edit/serverEdits.js';
import { status } from '../unit/vscode/views/statuses.js';
import { lenses } from '../../src/vscode/authoring/lensModel.js';
import { parse } from '../unit/config/fixtures.js';

const servers = Array.from({ length: 150 }, (_, index) => `  s${index}:
    # number ${index}
    transport: stdio
    command: npx
    args: ['-y', 'some-package-${index}']
    env:
      MODE: ci
    tools:
      whitelist:
        - 'browser_*'
        - open
    transform:
      - prefix: 's${index}_'
`); // oxfmt-ignore
const text = `version: 1\nservers:\n${servers.join('')}`;
const middle = text.indexOf("'browser_*'", text.length / 2) + 3;

/**
 * The fastest of some runs, in milliseconds, because other work of the machine only makes a run
 * longer.
 */
async function fastest(run: () => unknown): Promise<number> {
  let best = Infinity;
  for (let turn = 0; turn < 7; turn++) {
    const start = performance.now();
    await run();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

describe('a file of 2,000 lines', function () {
  this.timeout(60_000);
  let base: number;
  before(async () => {
    assert.ok(text.split('\n').length > 1950);
    base = await fastest(() => parse(text));
  });

  const names = Array.from({ length: 100 }, (_, index) => `browser_${index}`);
  const completion = { tools: () => names.map((original) => ({ original, description: '', arguments: new Map() })), variables: names, entries: () => Promise.resolve([]) }; // oxfmt-ignore
  const around = {
    ...completion,
    toolText: () => undefined,
    serverState: () => formatted`running`,
  };
  const fixes = {
    tools: completion.tools,
    restartable: () => true,
    isFree: () => false,
    variables: [],
  };
  // Each entry has one of the two mistakes.
  const broken = text.replace(/transport: stdio/g, (written, at: number) =>
    at % 2 === 0 ? '# none' : `${written}\n    enabld: true`,
  );
  const states = Array.from({ length: 150 }, (_, index) => status(`s${index}`));
  const crossing = (own: string, other: string): string =>
    `x-${own}: &${own}\n${Array.from({ length: 80 }, (_, index) => `  k${index}: { <<: *${other} }\n`).join('')}`;
  const crossed = `${crossing('a', 'b')}${crossing('b', 'a')}  z\n`;
  const requests: readonly (readonly [string, number, () => unknown])[] = [
    ['completion', 1.5, () => complete(text, middle, completion)],
    ['completion while the YAML is broken', 1.5, () => complete(`${text}    args: [`, text.length + 12, completion)],
    ['completion below anchors that refer to one another', 1.5, () => complete(crossed, crossed.length - 1, completion)],
    ['hover', 2.5, () => hover(text, middle, around)],
    ['lenses', 1.5, () => lenses(text, states)],
    ['outline', 1.5, () => outline(text)],
    ['quick fixes', 4, () => new QuickFixes(text, fixes).all([])],
    ['all safe quick fixes', 15, () => new QuickFixes(broken, fixes).all(parse(broken).problems)],
    ['disabling a server', 8, () => setEnabled(text, 's75', false)],
  ]; // oxfmt-ignore
  for (const [name, most, run] of requests) {
    it(`${name}: at most ${most} × parsing`, async () => {
      const took = await fastest(run);
      assert.ok(took <= most * base, `${(took / base).toFixed(2)} × parsing`);
    });
  }
});
