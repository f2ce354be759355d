import assert from 'node:assert/strict';
import {
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { posixIt } from '../../support/notHere.js';
import {
  nowhere,
  type ArtifactContent,
  type ArtifactOrigin,
  type ArtifactStore,
  type SaveOutcome,
} from '../../../src/core/results/artifacts.js';
import { timeOfArtifact, DiskArtifacts } from '../../../src/core/results/diskArtifacts.js';
import { content, filesIn, Lines, newFolder, removeFolders } from './folder.js';

const origin: ArtifactOrigin = { server: 'shop', tool: 'browse_all', conversation: 'd' };
const namePattern = /^1970-01-01T00-16-40\.000Z-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.txt$/;

/** The smallest disk space of a file. */
const block = 4096;

describe('results: artifacts on disk (V2)', () => {
  let folder: string;
  let quota: number;
  let log: Lines;
  let clock: FakeClock;
  let store: ArtifactStore;

  beforeEach(() => {
    folder = newFolder();
    quota = 100 * block;
    log = new Lines();
    clock = new FakeClock();
    store = open();
  });

  afterEach(async () => {
    await store.settled();
    removeFolders();
  });

  function open(more: { readonly mostFiles?: number } = {}): ArtifactStore {
    return new DiskArtifacts({
      folder: path.join(folder, 'storage'),
      quota: () => quota,
      clock,
      log,
      ...more,
    });
  }

  const root = (): string => path.join(folder, 'storage/artifacts/mcp');

  async function saved(
    what: ArtifactContent,
    from = origin,
  ): Promise<Extract<SaveOutcome, { kind: 'saved' }>> {
    const outcome = await store.save(from, what);
    assert.ok(outcome.kind === 'saved', JSON.stringify(outcome));
    return outcome;
  }

  it('an artifact is written as <server>/<tool>/<timestamp>-<uuid>.<extension>', async () => {
    const { path: file, bytes } = await saved(content('one, ', 'two'));
    assert.equal(readFileSync(file, 'utf8'), 'one, two');
    assert.equal(bytes, 8);
    assert.equal(path.dirname(file), path.join(root(), 'shop/browse_all'));
    assert.match(path.basename(file), namePattern);
  });

  posixIt('on Windows, files have the access rights of their folder')(
    'writes for nobody else to read',
    async () => {
      const { path: file } = await saved(content('one'));
      assert.equal(statSync(file).mode & 0o777, 0o600);
      assert.equal(statSync(path.dirname(file)).mode & 0o777, 0o700);
    },
  );

  it('the name identifies the conversation, and its files are found oldest first', async () => {
    const of = (conversation: string, tool = 'look'): Promise<string> =>
      saved(content('a'), { server: 'shop', tool, conversation }).then(({ path: file }) => file);
    const first = await of('conversation-1');
    clock.advance(10);
    const second = await of('conversation-1', 'about');
    const other = await of('conversation-2');
    await saved(content('a'));
    writeFileSync(`${first}.partial`, 'of a process that died');
    assert.match(path.basename(first), namePattern, 'a name like any other');
    assert.equal(timeOfArtifact(path.basename(first)), clock.now() - 10);
    assert.equal(timeOfArtifact('notes.txt'), NaN);
    assert.deepEqual(await store.ofConversation('conversation-1'), [first, second]);
    assert.deepEqual(
      await open().ofConversation('conversation-2'),
      [other],
      'also those of an earlier window',
    );
    assert.deepEqual(await store.ofConversation('conversation-3'), []);
    rmSync(root(), { recursive: true });
    assert.deepEqual(await store.ofConversation('conversation-1'), [], 'what is gone is not told');
  });

  it('an empty artifact is written', async () => {
    assert.equal(readFileSync((await saved(content())).path, 'utf8'), '');
  });

  for (const [name, expected] of [
    ['../../up', '______up'],
    ['con', 'con_'],
    ['', '_'],
    ['x'.repeat(100), 'x'.repeat(64)],
  ] as const) {
    it(`a name that breaks rule N4 becomes a separate folder: ${name.slice(0, 20)}`, async () => {
      const { path: file } = await saved(content('a'), {
        server: name,
        tool: name,
        conversation: 'd',
      });
      assert.equal(path.dirname(file), path.join(root(), expected, expected));
    });
  }

  it('an artifact is whole or absent under its name while it is written', async () => {
    const seen: string[][] = [];
    const saving = saved(content(...Array.from({ length: 50 }, () => 'x'.repeat(8_000))));
    let isOver = false;
    void saving.finally(() => (isOver = true));
    while (!isOver) {
      seen.push(filesIn(folder));
      await new Promise((resolve) => setImmediate(resolve));
    }
    const { path: file } = await saving;
    const whole = path.relative(folder, file);
    for (const name of seen.flat()) assert.ok([whole, `${whole}.partial`].includes(name), name);
    assert.ok(seen.flat().includes(`${whole}.partial`));
    assert.deepEqual(filesIn(folder), [whole]);
  });

  it('the store is settled when every file is written', async () => {
    void store.save(origin, content('x'.repeat(900)));
    void store.save(origin, content('y'));
    await store.settled();
    assert.deepEqual(
      filesIn(root()).map((file) => path.extname(file)),
      ['.txt', '.txt'],
    );
  });

  it('a hundred artifacts at once are a hundred files', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, index) => saved(content(String(index)))),
    );
    assert.equal(new Set(outcomes.map(({ path: file }) => file)).size, 100);
    for (const [index, { path: file }] of outcomes.entries())
      assert.equal(readFileSync(file, 'utf8'), String(index));
  });

  describe('a folder without write access', () => {
    beforeEach(() => writeFileSync(path.join(folder, 'storage'), 'in the way'));

    it('a failed write is in the outcome and in the log', async () => {
      const outcome = await store.save(origin, content('a', 'b'));
      assert.ok(outcome.kind === 'notSaved');
      assert.match(
        outcome.why,
        /^(a folder of its path is a file|another file is in its place) \((ENOTDIR|EEXIST)\)$/,
      );
      assert.match(
        log.lines.join('\n'),
        /^warn: A file of shop\/browse_all was not saved in .+: (a folder of its path is a file|another file is in its place) \(/,
      );
    });

    it('writing works again as soon as it can', async () => {
      await store.save(origin, content('a'));
      rmSync(path.join(folder, 'storage'));
      await saved(content('a'));
    });
  });

  describe('the quota (V3)', () => {
    const ten = (): ArtifactContent => content('0123456789');

    /** Like `saved`, after the run of the quota. */
    async function settledSave(what: ArtifactContent = ten()): Promise<string> {
      const { path: file } = await saved(what);
      await store.settled();
      return path.relative(root(), file);
    }

    it('the oldest artifacts go first, and no more than needed', async () => {
      quota = 3 * block;
      const files: string[] = [];
      for (let index = 0; index < 5; index++) files.push(await settledSave());
      assert.deepEqual(filesIn(root()), files.slice(2).sort());
      files.push(await settledSave(content('x'.repeat(block + 1))));
      assert.deepEqual(filesIn(root()), [files[4], files[5]].sort());
    });

    it('earlier artifacts count, by age', async () => {
      const earlier = path.join(root(), 'other/tool');
      mkdirSync(earlier, { recursive: true });
      for (const [index, name] of ['newest.txt', 'oldest.txt', 'middle.txt.partial'].entries()) {
        writeFileSync(path.join(earlier, name), '0123456789');
        utimesSync(path.join(earlier, name), 0, [300, 100, 200][index] ?? 0);
      }
      quota = 2.5 * block;
      const file = await settledSave();
      assert.deepEqual(filesIn(root()), [file, path.join('other', 'tool', 'newest.txt')].sort());
    });

    it('the quota holds when many artifacts are written at once, and none of them is lost before it is whole', async () => {
      quota = 5.5 * block;
      await Promise.all(Array.from({ length: 40 }, () => saved(ten())));
      await store.settled();
      assert.equal(filesIn(root()).length, 5);
    });

    it('the quota counts blocks: a file of one byte takes as much as one of 4,096', async () => {
      quota = 5 * block;
      for (let index = 0; index < 20; index++) await settledSave(content('1'));
      assert.equal(filesIn(root()).length, 5);
    });

    it('the quota counts files besides bytes', async () => {
      store = open({ mostFiles: 3 });
      const files: string[] = [];
      for (let index = 0; index < 5; index++) files.push(await settledSave());
      assert.deepEqual(filesIn(root()), files.slice(2).sort());
    });

    it('the quota does not count files that others have removed', async () => {
      quota = 4 * block;
      const files = [
        await settledSave(),
        await settledSave(),
        await settledSave(),
        await settledSave(),
      ];
      for (const file of [files[0], files[2]]) rmSync(path.join(root(), file ?? ''));
      files.push(await settledSave());
      assert.deepEqual(filesIn(root()), [files[1], files[3], files[4]].sort());
    });

    it('the quota survives the removal of the whole folder', async () => {
      quota = 2 * block;
      await settledSave();
      await settledSave();
      rmSync(root(), { recursive: true });
      const files = [await settledSave(), await settledSave()];
      assert.deepEqual(filesIn(root()), files.sort());
    });

    it('the quota is read at each write', async () => {
      await settledSave();
      await settledSave();
      quota = block;
      assert.deepEqual([await settledSave()], filesIn(root()));
    });

    it('an artifact over the quota is not kept, and costs no other', async () => {
      quota = 2 * block;
      const file = await settledSave();
      const outcome = await store.save(origin, content('x'.repeat(block), 'y'.repeat(block), 'z'));
      assert.ok(outcome.kind === 'notSaved');
      assert.match(
        outcome.why,
        /larger than mcpToolsets\.artifactsQuota allows for all files, 8\.2 kB/,
      );
      await store.settled();
      assert.deepEqual(filesIn(root()), [file]);
    });

    it('a quota of 0 keeps nothing', async () => {
      quota = 0;
      for (const what of [ten(), content()]) {
        assert.deepEqual(await store.save(origin, what), {
          kind: 'notSaved',
          why: 'mcpToolsets.artifactsQuota is 0',
        });
      }
      assert.deepEqual(filesIn(folder), []);
    });

    it('the quota does not follow links out of the folder', async () => {
      const outside = path.join(folder, 'outside');
      mkdirSync(outside);
      writeFileSync(path.join(outside, 'precious.txt'), 'x'.repeat(500));
      mkdirSync(path.join(root(), 'shop'), { recursive: true });
      symlinkSync(outside, path.join(root(), 'shop/linked'), 'junction');
      quota = block;
      await settledSave();
      assert.equal(readFileSync(path.join(outside, 'precious.txt'), 'utf8').length, 500);
    });
  });

  it('a store without a folder saves nothing, and says why', async () => {
    const none = nowhere('no folder is open');
    assert.deepEqual(await none.save(origin, content('a')), {
      kind: 'notSaved',
      why: 'no folder is open',
    });
  });
});
