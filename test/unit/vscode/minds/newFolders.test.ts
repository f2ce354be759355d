/**
 * A new folder is made after the editor watches its parent, because otherwise changes in it stay
 * unnoticed.
 */
import assert from 'node:assert/strict';
import { makeFolders } from '../../../../src/vscode/minds/newFolders.js';
import { FakeClock, rest } from '../../../support/fakes/fakeClock.js';

describe('new folders', () => {
  let clock: FakeClock;
  let there: Set<string>;
  let listening: Map<string, () => void>;
  let made: string[];
  let done: boolean;

  beforeEach(() => {
    clock = new FakeClock();
    there = new Set(['/', '/work']);
    listening = new Map();
    made = [];
    done = false;
  });

  const maker = {
    exists: (folder: string) => there.has(folder),
    make: (folder: string) => {
      assert.ok(listening.has(folder), 'listened to before it is made');
      made.push(folder);
      return Promise.resolve();
    },
    listen: (folder: string, told: () => void) => {
      listening.set(folder, told);
      return { dispose: () => void listening.delete(folder) };
    },
  };

  async function begin(): Promise<void> {
    void makeFolders('/work/.github/agents', { ...maker, clock }).then(() => (done = true));
    await rest();
  }

  it('new folders are made one by one, each after the editor reports its parent', async () => {
    await begin();
    assert.deepEqual(made, ['/work/.github']);
    listening.get('/work/.github')?.();
    await rest();
    assert.deepEqual([made.at(-1), done], ['/work/.github/agents', false]);
    listening.get('/work/.github/agents')?.();
    await rest();
    assert.deepEqual([done, listening.size, clock.pending], [true, 0, 0]);
  });

  it('new folders are made after a delay if the editor reports none', async () => {
    await begin();
    await clock.flow(10_000);
    assert.deepEqual(
      [made, done, listening.size],
      [['/work/.github', '/work/.github/agents'], true, 0],
    );
  });

  it('existing folders are not made again', async () => {
    there.add('/work/.github').add('/work/.github/agents');
    await begin();
    assert.deepEqual([made, done], [[], true]);
  });

  it('a failure to make a folder rejects, and no other folder is made', async () => {
    const failing = { ...maker, clock, make: () => Promise.reject(new Error('No space left')) };
    await assert.rejects(makeFolders('/work/.github/agents', failing), /No space left/);
    assert.deepEqual([made, listening.size, clock.pending], [[], 0, 0]);
  });
});
