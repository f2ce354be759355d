/** The lanes of `npm test`: together they run every file and every window, each once. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { byWindow, insideSuites } from '../support/editor/suites.js';
import {
  editorShares,
  filesOf,
  filesOfShare,
  planLanes,
  testFolders,
} from '../support/testRun/plan.js';
import { laneSeconds, suiteSeconds } from '../support/testRun/seconds.js';
import { inShare, readShare } from '../support/testRun/shares.js';
import { root } from './modules.js';

const titlesOf = (only?: string[], grep?: string): string[] =>
  planLanes(only, grep).map(({ lane }) => lane.title);

describe('the lanes of `npm test`', () => {
  it('Every test file of a folder is in exactly one of its lanes', () => {
    for (const folder of testFolders()) {
      const files = filesOf(folder);
      assert.ok(files.length > 0, folder.title);
      for (const of of [1, 2, 3]) {
        const shares = Array.from({ length: of }, (_, index) =>
          filesOfShare(folder, { index: index + 1, of }),
        );
        assert.deepEqual(shares.flat().sort(), files);
      }
    }
  });

  it('A lane ignores the files of the others, and only those', () => {
    for (const { lane, names } of planLanes(['core', 'cli'], undefined)) {
      const [, name, share = ''] = names;
      const folder = testFolders().find((each) => each.names.at(-1) === name);
      assert.ok(folder);
      const ignored = lane.args.filter((_, index) => lane.args[index - 1] === '--ignore');
      const index = Number(share.split('-')[1]);
      const mine = filesOfShare(folder, { index, of: 2 });
      assert.deepEqual(
        filesOf(folder).filter((file) => !ignored.includes(file)),
        mine,
      );
      assert.ok(ignored.includes('test/integration/files/**'));
    }
  });

  it('Every window of the editor is in exactly one share, and the shares take about equally long', () => {
    const windows = byWindow(insideSuites());
    const seconds = (window: (typeof windows)[number]): number =>
      window.reduce((sum, { name }) => sum + (suiteSeconds[name] ?? 20), 0);
    const shares = Array.from({ length: editorShares }, (_, index) =>
      inShare(windows, seconds, { index: index + 1, of: editorShares }),
    );
    assert.deepEqual(new Set(shares.flat()), new Set(windows));
    assert.equal(shares.flat().length, windows.length);
    const [first = 0, second = 0] = shares.map((share) =>
      share.reduce((sum, window) => sum + seconds(window), 0),
    );
    assert.ok(Math.abs(first - second) < 0.15 * first, `${first} s and ${second} s`);
  });

  it('Known seconds are of lanes and suites that exist', () => {
    const titles = titlesOf();
    assert.deepEqual(
      Object.keys(laneSeconds).filter((title) => !titles.includes(title)),
      [],
    );
    assert.deepEqual(
      Object.keys(suiteSeconds).filter(
        (name) => !existsSync(path.join(root, `test/editor/suites/${name}.test.ts`)),
      ),
      [],
    );
  });

  it('`--only` takes several parts, folders and shares, and refuses a name that it does not know', () => {
    assert.deepEqual(titlesOf(['unit', 'core-2']), ['integration core 2/2', 'unit']);
    assert.deepEqual(titlesOf(['inside']), ['editor inside 1/2', 'editor inside 2/2']);
    assert.ok(!titlesOf(undefined, 'a title').includes('bench'), 'a bench has no titles');
    assert.throws(() => titlesOf(['nothing']), /--only knows editor, inside.* not nothing$/);
    for (const text of ['', '1', '0/2', '3/2', 'a/b', '1.5/2'])
      assert.throws(() => readShare(text), /A share is written as 1\/2/, text);
  });
});
