import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nextEvent } from '../../../src/core/base/events.js';
import { watchFile, type WatchedFile } from '../../../src/core/files/watchedFile.js';
import type { FileContent } from '../../../src/core/base/textFile.js';
import { posixIt } from '../../support/notHere.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

describe('watchFile on a real disk', () => {
  let root: string;
  let path: string;
  let clock: FakeClock;
  let file: WatchedFile;

  async function watch(): Promise<FileContent> {
    file = watchFile(path, { clock });
    return nextEvent(file.onDidChange, () => true);
  }

  /** The reports after `change`. */
  async function after(change: () => Promise<void>): Promise<FileContent> {
    const heard = nextEvent(file.onDidChange, () => true);
    await change();
    // One interval to notice and one debounce to read; the disk itself takes real time, so time
    // goes on until it told.
    let told = false;
    void heard.then(() => (told = true));
    while (!told) await clock.flow(200);
    return heard;
  }

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'watched-file-'));
    path = join(root, '.minds', 'mcp.yaml');
    clock = new FakeClock();
    await mkdir(join(root, '.minds'));
  });

  afterEach(async () => {
    file.dispose();
    await rm(root, { recursive: true, force: true });
  });

  it('sees edits, of the same length too', async () => {
    await writeFile(path, 'one');
    assert.deepEqual(await watch(), { kind: 'text', text: 'one' });
    assert.deepEqual(await after(() => writeFile(path, 'two')), { kind: 'text', text: 'two' });
  });

  for (const [what, make] of [
    ['a device without an end', (at: string) => symlink('/dev/zero', at)],
    [
      'a pipe that nobody writes to',
      (at: string) => Promise.resolve(void execFileSync('mkfifo', [at])),
    ],
  ] as const) {
    posixIt('Windows has no devices and pipes in folders')(
      `says that ${what} is no file, and reads the file that comes`,
      async () => {
        await make(path);
        assert.deepEqual(await watch(), { kind: 'unreadable', reason: 'it is not a regular file' });
        const told = await after(async () => {
          await writeFile(`${path}.tmp`, 'one');
          await rename(`${path}.tmp`, path);
        });
        assert.deepEqual(told, { kind: 'text', text: 'one' });
      },
    );
  }

  it('says that a file is too large', async () => {
    await writeFile(path, 'x'.repeat(1024 * 1024 + 1));
    assert.deepEqual(await watch(), { kind: 'unreadable', reason: 'it is larger than 1 MiB' });
  });

  it('sees a save by rename', async () => {
    await writeFile(path, 'one');
    await watch();
    const told = await after(async () => {
      await writeFile(`${path}.tmp`, 'two');
      await rename(`${path}.tmp`, path);
    });
    assert.deepEqual(told, { kind: 'text', text: 'two' });
  });

  it('sees the folder appear later, and go', async () => {
    await rm(join(root, '.minds'), { recursive: true });
    assert.deepEqual(await watch(), { kind: 'absent' });
    const told = await after(async () => {
      await mkdir(join(root, '.minds'));
      await writeFile(path, 'late');
    });
    assert.deepEqual(told, { kind: 'text', text: 'late' });
    assert.deepEqual(await after(() => rm(join(root, '.minds'), { recursive: true })), {
      kind: 'absent',
    });
  });

  it('follows a symbolic link for the folder, and its change of target', async () => {
    await rm(join(root, '.minds'), { recursive: true });
    for (const name of ['a', 'b']) {
      await mkdir(join(root, name));
      await writeFile(join(root, name, 'mcp.yaml'), name);
    }
    await symlink(join(root, 'a'), join(root, '.minds'), 'junction');
    assert.deepEqual(await watch(), { kind: 'text', text: 'a' });
    assert.deepEqual(await after(() => writeFile(join(root, 'a', 'mcp.yaml'), 'edited')), {
      kind: 'text',
      text: 'edited',
    });
    const told = await after(async () => {
      await symlink(join(root, 'b'), join(root, 'next'), 'junction');
      // Windows replaces no folder by a rename.
      if (process.platform === 'win32') await rm(join(root, '.minds'), { recursive: true });
      await rename(join(root, 'next'), join(root, '.minds'));
    });
    assert.deepEqual(told, { kind: 'text', text: 'b' });
  });

  it('tells a folder in the place of the file', async () => {
    await mkdir(path);
    assert.deepEqual(await watch(), { kind: 'unreadable', reason: 'it is a folder' });
  });

  it('ends with the last of many saves in a row', async () => {
    await writeFile(path, 'start');
    await watch();
    let told = await after(async () => {
      for (let save = 0; save <= 50; save++) await writeFile(path, `save ${save}`);
    });
    while (told.kind !== 'text' || told.text !== 'save 50')
      told = await after(() => Promise.resolve());
    assert.deepEqual(file.content, { kind: 'text', text: 'save 50' });
  });
});
