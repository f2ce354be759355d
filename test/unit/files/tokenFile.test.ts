/** The file with the token of other agents (G6): accepted, replaced and foreign content. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { keptToken, renewToken, tokenIn } from '../../../src/core/files/tokenFile.js';
import { posixIt } from '../../support/notHere.js';

describe('the token file (G6)', () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'token-'));
    file = path.join(folder, 'own.token');
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  const write = (text: string, mode = 0o600): void => writeFileSync(file, text, { mode });
  const text = (): string => readFileSync(file, 'utf8');

  it('a missing or empty token file is made, but not by reading', async () => {
    assert.equal(await keptToken(file), undefined);
    assert.deepEqual(readdirSync(folder), []);
    const token = await tokenIn(file);
    assert.match(token, /^[\w-]{43}$/);
    assert.deepEqual([await keptToken(file), await tokenIn(file), text()], [token, token, `${token}\n`]);
    write('');
    assert.equal(await keptToken(file), undefined);
    assert.match(await tokenIn(file), /^[\w-]{43}$/);
  });

  for (const own of [`${'+/='.repeat(14)}A=`, `${'a.~_-'.repeat(7)}`]) {
    it(`a token file may have the person’s own token: ${own}`, async () => {
      write(`${own}\n`);
      assert.deepEqual([await tokenIn(file), await keptToken(file), text()], [own, own, `${own}\n`]);
    });
  }

  it('a token file with a short token is replaced', async () => {
    write('abc\n');
    assert.equal(await keptToken(file), undefined);
    assert.equal(text(), 'abc\n');
    assert.match(await tokenIn(file), /^[\w-]{43}$/);
  });

  posixIt('files have modes on POSIX systems alone')('is replaced where others could read it', async () => {
    write('A'.repeat(43), 0o640);
    assert.equal(await keptToken(file), undefined);
    assert.equal(text(), 'A'.repeat(43));
    assert.notEqual(await tokenIn(file), 'A'.repeat(43));
  });

  posixIt('links to files need a right on Windows')(
    'takes the place of a link, and what that led to stays',
    async () => {
      const notes = path.join(folder, 'notes');
      writeFileSync(notes, 'my notes\n');
      symlinkSync(notes, file);
      assert.equal(await keptToken(file), undefined);
      await tokenIn(file);
      assert.equal(readFileSync(notes, 'utf8'), 'my notes\n');
    },
  );

  it('any token is renewed', async () => {
    await renewToken(file);
    const first = await tokenIn(file);
    await renewToken(file);
    const second = await tokenIn(file);
    assert.notEqual(second, first);
    write('short\n', 0o644);
    await renewToken(file);
    assert.match(await tokenIn(file), /^[\w-]{43}$/);
    assert.deepEqual(readdirSync(folder), ['own.token']);
  });

  for (const [name, foreign] of [
    ['notes', 'my notes\n'],
    ['several lines', `${'A'.repeat(43)}\n${'B'.repeat(43)}\n`],
    ['JSON', '{}\n'],
    ['a long word', 'A'.repeat(513)],
    ['more than a token can be', `${' '.repeat(2 * 1024 * 1024)}A`],
  ] as const) {
    for (const mode of [0o600, 0o644]) {
      it(`a file without a token stays: ${name}, mode ${mode.toString(8)}`, async () => {
        write(foreign, mode);
        for (const use of [tokenIn, keptToken, renewToken]) {
          await assert.rejects(use(file), /own\.token (?:is not a token file|cannot be read)/);
          assert.equal(text(), foreign);
        }
        assert.deepEqual(readdirSync(folder), ['own.token']);
      });
    }
  }

  it('a folder in place of the token file is refused', async () => {
    mkdirSync(file);
    for (const use of [tokenIn, keptToken, renewToken]) await assert.rejects(use(file), /is not a token file/);
  });
});
