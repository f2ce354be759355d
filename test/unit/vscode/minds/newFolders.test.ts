/** A folder is made when the editor watches the one that it is in, because else nobody would hear of its files. */
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

  it('are made one by one, each when the editor has told of the one before', async () => {
    await begin();
    assert.deepEqual(made, ['/work/.github']);
    listening.get('/work/.github')?.();
    await rest();
    assert.deepEqual([made.at(-1), done], ['/work/.github/agents', false]);
    listening.get('/work/.github/agents')?.();
    await rest();
    assert.deepEqual([done, listening.size, clock.pending], [true, 0, 0]);
  });

  it('are made after a while also where the editor tells of none', async () => {
    await begin();
    await clock.flow(10_000);
    assert.deepEqual([made, done, listening.size], [['/work/.github', '/work/.github/agents'], true, 0]);
  });

  it('are left alone where they are', async () => {
    there.add('/work/.github').add('/work/.github/agents');
    await begin();
    assert.deepEqual([made, done], [[], true]);
  });

  it('reject as the making does, and nothing goes on', async () => {
    const failing = { ...maker, clock, make: () => Promise.reject(new Error('No space left')) };
    await assert.rejects(makeFolders('/work/.github/agents', failing), /No space left/);
    assert.deepEqual([made, listening.size, clock.pending], [[], 0, 0]);
  });
});
