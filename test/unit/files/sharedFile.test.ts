/**
 * A file changed and followed by several processes. Changes are not lost, and texts writable by others are not read.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemClock } from '../../../src/core/base/clock.js';
import { nextEvent } from '../../../src/core/base/events.js';
import { SharedFile } from '../../../src/core/files/sharedFile.js';
import { posixIt } from '../../support/notHere.js';

describe('a shared file', () => {
  let folder: string;
  let file: string;
  const opened: SharedFile[] = [];

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'shared-'));
    file = path.join(folder, 'made', 'own.json');
  });

  afterEach(() => {
    for (const each of opened.splice(0)) each.dispose();
    rmSync(folder, { recursive: true });
  });

  const open = async (): Promise<SharedFile> => {
    const shared = new SharedFile(file, systemClock, 100);
    opened.push(shared);
    await shared.open();
    return shared;
  };

  it('the first change makes a shared file, readable only by its owner, and leaves nothing beside it', async () => {
    const shared = await open();
    assert.equal(shared.text, undefined);
    assert.deepEqual(readdirSync(folder), []);
    await shared.change((text) => `${text ?? 'none'}!`);
    assert.equal(shared.text, 'none!');
    assert.deepEqual(readdirSync(path.dirname(file)), ['own.json']);
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  it('two changes of a shared file at once lose nothing', async () => {
    const both = [await open(), await open()];
    const changes = Array.from({ length: 40 }, (_, index) =>
      both[index % 2]?.change((text) => `${text ?? ''}${String.fromCharCode(65 + index)}`),
    );
    await Promise.all(changes);
    assert.equal(
      [...readFileSync(file, 'utf8')].sort().join(''),
      String.fromCharCode(...Array.from({ length: 40 }, (_, i) => 65 + i)),
    );
  });

  it('changes of several processes are not lost, and each reader finds a whole text', async () => {
    const source = pathToFileURL(path.resolve('src/core/files/sharedFile.ts')).href;
    const clock = pathToFileURL(path.resolve('src/core/base/clock.ts')).href;
    const script = `
      const load = async (url) => ((all) => all.default ?? all)(await import(url));
      const { SharedFile } = await load(${JSON.stringify(source)});
      const { systemClock } = await load(${JSON.stringify(clock)});
      const shared = new SharedFile(process.argv[1], systemClock);
      for (let n = 0; n < 15; n++) await shared.change((text) => JSON.stringify([...JSON.parse(text ?? '[]'), process.pid]));
      shared.dispose();`;
    const children = Array.from({ length: 3 }, () =>
      spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script, file], { stdio: 'inherit' }),
    );
    const ends = children.map((child) => once(child, 'exit'));
    let whole = true;
    const reading = setInterval(() => {
      try {
        JSON.parse(readFileSync(file, 'utf8'));
      } catch (error) {
        whole &&= (error as NodeJS.ErrnoException).code === 'ENOENT';
      }
    }, 1);
    const codes = (await Promise.all(ends)).map(([code]) => code as number);
    clearInterval(reading);
    assert.deepEqual(codes, [0, 0, 0]);
    assert.ok(whole);
    assert.equal((JSON.parse(readFileSync(file, 'utf8')) as unknown[]).length, 45);
  });

  it('a change of another process reaches each open shared file', async () => {
    const [one, two] = [await open(), await open()];
    const heard = nextEvent(two.onDidChange, () => two.text === 'said');
    await one.change(() => 'said');
    await heard;
  });

  it('the lock of an ended process is taken over', async () => {
    mkdirSync(path.dirname(file));
    writeFileSync(`${file}.lock`, '');
    utimesSync(`${file}.lock`, new Date(0), new Date(0));
    const shared = await open();
    await shared.change(() => 'on');
    assert.deepEqual([shared.text, readdirSync(path.dirname(file))], ['on', ['own.json']]);
  });

  posixIt('Windows has no such modes and needs a right for links')(
    'reads nothing that others may write, nor through a link, says why, and replaces it',
    async () => {
      mkdirSync(path.dirname(file));
      const elsewhere = path.join(folder, 'elsewhere');
      for (const place of [
        (): void => {
          writeFileSync(file, 'planted');
          chmodSync(file, 0o664);
        },
        (): void => {
          writeFileSync(elsewhere, 'planted');
          symlinkSync(elsewhere, file);
        },
      ]) {
        rmSync(file, { force: true });
        place();
        const shared = await open();
        assert.equal(shared.text, undefined);
        assert.match(shared.refused ?? '', /others may write it|it is a link/);
        await shared.change((text) => `${text}`);
        assert.deepEqual([shared.text, shared.refused], ['undefined', undefined]);
      }
      assert.equal(readFileSync(elsewhere, 'utf8'), 'planted');
    },
  );

  it('a failed change of a shared file has a reason, and the next change works', async () => {
    const shared = await open();
    await assert.rejects(
      shared.change(() => {
        throw new Error('not now');
      }),
      /not now/,
    );
    await shared.change(() => 'then');
    assert.equal(shared.text, 'then');
  });
});
