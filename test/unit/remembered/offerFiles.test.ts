/** The files are real here, and everything else is not. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixIt } from '../../support/notHere.js';
import type { RememberedOffer } from '../../../src/core/reconcile/remembered.js';
import { OfferFiles } from '../../../src/core/remembered/offerFiles.js';

describe('files of remembered lists (P8)', () => {
  let root: string;
  let folder: string;
  const failures: unknown[] = [];
  const open = (): Promise<OfferFiles> => OfferFiles.open(folder, (error) => failures.push(error));

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-offers-'));
    folder = path.join(root, 'not', 'there');
    failures.length = 0;
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const launch = (n: number): string => n.toString(16).padStart(64, '0');
  const fileOf = (n: number): string => path.join(folder, `${launch(n)}.json`);
  const offer = (name: string): RememberedOffer => ({
    at: 1_000,
    declared: '{}',
    listing: { tools: [{ name, inputSchema: { type: 'object' } }], malformed: [] },
    serverInfo: { name: 's', version: '1' },
    instructions: undefined,
    capabilities: { tools: {} },
    protocolVersion: '2025-11-25',
  });
  const nothingSecret = (text: string): string => text;
  const namesIn = (files: OfferFiles, n: number): string[] | undefined =>
    files.recall(launch(n))?.listing.tools.map(({ name }) => name);

  it('the next window has the last remembered lists, and no forgotten ones', async () => {
    const files = await open();
    assert.equal(namesIn(files, 1), undefined);
    files.remember(launch(1), offer('old'), nothingSecret);
    files.remember(launch(1), offer('new'), nothingSecret);
    files.remember(launch(2), offer('gone'), nothingSecret);
    files.forget(launch(2));
    files.forget(launch(3));
    assert.deepEqual([namesIn(files, 1), namesIn(files, 2)], [['new'], undefined], 'at once');
    await files.settled();
    const next = await open();
    assert.deepEqual([namesIn(next, 1), namesIn(next, 2)], [['new'], undefined]);
    assert.deepEqual(readdirSync(folder), [`${launch(1)}.json`]);
    next.forget(launch(1));
    await next.settled();
    assert.deepEqual(readdirSync(folder), [], 'also what was only read');
    assert.deepEqual(failures, []);
  });

  it('no file has a secret in it, nor an earlier list in place of one with a secret', async () => {
    const files = await open();
    files.remember(launch(1), offer('plain'), nothingSecret);
    await files.settled();
    files.remember(launch(1), offer('canary'), (text) => text.replaceAll('canary', '…'));
    await files.settled();
    assert.deepEqual(readdirSync(folder), []);
    assert.deepEqual(namesIn(files, 1), ['canary'], 'this window has it from the server');
  });

  it('a list that is too long is not kept', async () => {
    const files = await open();
    files.remember(
      launch(1),
      { ...offer('a'), instructions: 'x'.repeat(4 * 1024 * 1024) },
      nothingSecret,
    );
    files.remember(launch(2), offer('a'), nothingSecret);
    await files.settled();
    assert.deepEqual(readdirSync(folder), [`${launch(2)}.json`]);
  });

  it('damaged files, files of another version and foreign files are skipped', async () => {
    const files = await open();
    for (const n of [1, 2, 3, 4]) files.remember(launch(n), offer('a'), nothingSecret);
    await files.settled();
    const text = readFileSync(fileOf(1), 'utf8');
    writeFileSync(fileOf(1), text.slice(0, -5));
    writeFileSync(fileOf(2), text.replace('"version":1', '"version":2'));
    writeFileSync(fileOf(3), text.replace('"at":1000', '"at":"1000"'));
    writeFileSync(path.join(folder, 'notes.json'), text);
    const next = await open();
    assert.deepEqual(
      [1, 2, 3, 4].map((n) => namesIn(next, n)),
      [undefined, undefined, undefined, ['a']],
    );
    assert.ok(!readdirSync(folder).includes('notes.json'), 'the folder holds nothing else');
  });

  it('a file is replaced and never written through, whatever is in its place', async () => {
    const precious = path.join(root, 'precious');
    writeFileSync(precious, JSON.stringify({ version: 1, ...offer('theirs') }));
    mkdirSync(fileOf(2), { recursive: true });
    symlinkSync(precious, fileOf(1));
    const before = readFileSync(precious, 'utf8');
    const files = await open();
    assert.equal(namesIn(files, 2), undefined, 'a folder');
    files.remember(launch(1), offer('ours'), nothingSecret);
    await files.settled();
    assert.ok(lstatSync(fileOf(1)).isFile());
    files.forget(launch(1));
    await files.settled();
    assert.equal(readFileSync(precious, 'utf8'), before);
    assert.deepEqual(failures, []);
  });

  posixIt('It has no devices and no pipes of that kind.')(
    'are not read where they never end',
    async () => {
      mkdirSync(folder, { recursive: true });
      symlinkSync('/dev/zero', fileOf(1));
      execFileSync('mkfifo', [fileOf(2)]);
      const files = await open();
      assert.deepEqual([namesIn(files, 1), namesIn(files, 2)], [undefined, undefined]);
      for (const n of [1, 2]) files.remember(launch(n), offer('ours'), nothingSecret);
      await files.settled();
      for (const n of [1, 2]) assert.ok(lstatSync(fileOf(n)).isFile());
    },
  );

  it('the number of files is bounded, and the oldest go', async () => {
    mkdirSync(folder, { recursive: true });
    for (let n = 0; n < 203; n++) {
      writeFileSync(fileOf(n), JSON.stringify({ version: 1, ...offer(`t${n}`) }));
      utimesSync(fileOf(n), 1_000 + n, 1_000 + n);
    }
    const files = await open();
    assert.deepEqual([namesIn(files, 2), namesIn(files, 3)], [undefined, ['t3']]);
    assert.equal(readdirSync(folder).length, 200);
  });

  it('the size of all files together is bounded', async () => {
    mkdirSync(folder, { recursive: true });
    const blank = ' '.repeat(11 * 1024 * 1024);
    for (const n of [1, 2, 3]) {
      writeFileSync(fileOf(n), `${JSON.stringify({ version: 1, ...offer('a') })}${blank}`);
      utimesSync(fileOf(n), 1_000 + n, 1_000 + n);
    }
    const files = await open();
    assert.deepEqual(
      [1, 2, 3].map((n) => namesIn(files, n)),
      [undefined, ['a'], ['a']],
    );
  });

  it('a failed write is reported, and the window goes on', async () => {
    mkdirSync(path.dirname(folder), { recursive: true });
    writeFileSync(folder, 'a file where the folder should be');
    const files = await open();
    files.remember(launch(1), offer('a'), nothingSecret);
    await files.settled();
    assert.equal(failures.length, 1);
    assert.deepEqual(namesIn(files, 1), ['a']);
  });

  it('a file is written even if another one fails', async () => {
    mkdirSync(path.join(fileOf(1), 'a folder where the file should be'), { recursive: true });
    const files = await open();
    for (const n of [1, 2]) files.remember(launch(n), offer('a'), nothingSecret);
    await files.settled();
    assert.equal(failures.length, 1);
    assert.deepEqual(namesIn(await open(), 2), ['a']);
  });
});
