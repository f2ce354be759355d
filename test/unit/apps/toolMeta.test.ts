/** Declarations of tools about apps (G8), with common mistakes. */
import assert from 'node:assert/strict';
import { appOf, isForAppAlone, isForApps, metaForApps } from '../../../src/core/apps/toolMeta.js';

const rows: readonly [
  what: string,
  meta: unknown,
  app: string | undefined,
  alone: boolean,
  forApps: boolean,
][] = [
  ['nothing', undefined, undefined, false, true],
  ['no object', 'ui', undefined, false, true],
  ['another extension', { other: {} }, undefined, false, true],
  ['an app', { ui: { resourceUri: 'ui://a' } }, 'ui://a', false, true],
  ['an empty address', { ui: { resourceUri: '' } }, undefined, false, true],
  ['a number as the address', { ui: { resourceUri: 7 } }, undefined, false, true],
  ['both may', { ui: { visibility: ['model', 'app'] } }, undefined, false, true],
  ['apps alone', { ui: { visibility: ['app'] } }, undefined, true, true],
  ['models alone', { ui: { visibility: ['model'] } }, undefined, false, false],
  ['nobody', { ui: { visibility: [] } }, undefined, false, false],
  ['a text', { ui: { visibility: 'app' } }, undefined, false, true],
];

describe('tools of apps (G8)', () => {
  for (const [what, meta, app, alone, forApps] of rows) {
    it(`${what}: ${JSON.stringify(meta)}`, () => {
      const tool = { name: 't', _meta: meta };
      assert.deepEqual([appOf(tool), isForAppAlone(tool), isForApps(tool)], [app, alone, forApps]);
    });
  }

  it('an entry for apps only opens nothing, and keeps other metadata', () => {
    const meta = { ui: { resourceUri: 'ui://a', visibility: ['model', 'app'] }, other: 1 };
    assert.deepEqual(metaForApps({ _meta: meta }), { ui: { visibility: ['app'] }, other: 1 });
    assert.deepEqual(metaForApps({}), { ui: { visibility: ['app'] } });
  });
});
