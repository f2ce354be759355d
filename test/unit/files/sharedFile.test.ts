/**
 * A file changed and followed by several processes. Changes are not lost, and texts writable by
 * others are not read.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
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

  const textOf = ({ content }: SharedFile): string | undefined =>
    content.kind === 'text' ? content.text : undefined;

  const open = async (): Promise<SharedFile> => {
    const shared = new SharedFile(file, systemClock, 100);
    opened.push(shared);
    await shared.open();
    return shared;
  };

  it('the first change makes a shared file, readable only by its owner, and leaves nothing beside it', async () => {
    const shared = await open();
    assert.equal(textOf(shared), undefined);
    assert.deepEqual(readdirSync(folder), []);
    await shared.change((text) => `${text ?? 'none'}!`);
    assert.equal(textOf(shared), 'none!');
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
      spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script, file], {
        stdio: 'inherit',
      }),
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
    const heard = nextEvent(two.onDidChange, () => textOf(two) === 'said');
    await one.change(() => 'said');
    await heard;
  });

  it('the lock of an ended process is taken over', async () => {
    mkdirSync(path.dirname(file));
    writeFileSync(`${file}.lock`, '');
    utimesSync(`${file}.lock`, new Date(0), new Date(0));
    const shared = await open();
    await shared.change(() => 'on');
    assert.deepEqual([textOf(shared), readdirSync(path.dirname(file))], ['on', ['own.json']]);
  });

  posixIt('Windows has no such modes and needs a right for links')(
    'a shared file that others may write, or behind a link, is not read, says how to mend it, and stays (S1h)',
    async () => {
      const made = path.dirname(file);
      mkdirSync(made);
      const elsewhere = path.join(folder, 'else where');
      const cases: [() => void, RegExp][] = [
        [
          (): void => chmodSync(file, 0o664),
          new RegExp(`others may write ${file}. .chmod 600 ${file}. mends this`),
        ],
        [
          (): void => chmodSync(made, 0o775),
          new RegExp(`others may write ${made}. .chmod go-w ${made}. mends`),
        ],
        [
          (): void => {
            renameSync(file, elsewhere);
            symlinkSync(elsewhere, file);
          },
          /it is a link$/,
        ],
        [
          (): void => {
            rmSync(file);
            mkdirSync(file);
          },
          /it is a folder$/,
        ],
      ];
      for (const [spoil, why] of cases) {
        rmSync(file, { recursive: true, force: true });
        writeFileSync(file, 'planted', { mode: 0o600 });
        spoil();
        const shared = await open();
        assert.equal(shared.content.kind, 'unreadable');
        assert.match((shared.content as { reason: string }).reason, why);
        await assert.rejects(
          shared.change(() => 'ours'),
          /cannot be read/,
        );
        chmodSync(made, 0o700);
        if (!lstatSync(file).isDirectory()) {
          if (!lstatSync(file).isSymbolicLink()) chmodSync(file, 0o600);
          assert.equal(readFileSync(file, 'utf8'), 'planted');
        }
      }
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
    assert.equal(textOf(shared), 'then');
  });
});
