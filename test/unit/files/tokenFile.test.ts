/** The file with the token of other agents (G6): accepted, replaced and foreign content. */
import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { tokenIn } from '../../../src/core/files/tokenFile.js';
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

  it('a missing or empty token file is made', async () => {
    const token = await tokenIn(file);
    assert.match(token, /^[\w-]{43}$/);
    assert.deepEqual([await tokenIn(file), text()], [token, `${token}\n`]);
    assert.deepEqual(readdirSync(folder), ['own.token']);
    write('');
    assert.match(await tokenIn(file), /^[\w-]{43}$/);
  });

  for (const own of [`${'+/='.repeat(14)}A=`, `${'a.~_-'.repeat(7)}`]) {
    it(`a token file may have the person’s own token: ${own}`, async () => {
      write(`${own}\n`);
      assert.deepEqual([await tokenIn(file), text()], [own, `${own}\n`]);
    });
  }

  it('a token file with a short token is replaced', async () => {
    write('abc\n');
    assert.match(await tokenIn(file), /^[\w-]{43}$/);
  });

  posixIt('files have modes on POSIX systems alone')(
    'is replaced where others could read it',
    async () => {
      write('A'.repeat(43), 0o640);
      assert.notEqual(await tokenIn(file), 'A'.repeat(43));
    },
  );

  posixIt('links to files need a right on Windows')(
    'takes the place of a link, and what that led to stays',
    async () => {
      const notes = path.join(folder, 'notes');
      writeFileSync(notes, 'my notes\n');
      symlinkSync(notes, file);
      await tokenIn(file);
      assert.equal(readFileSync(notes, 'utf8'), 'my notes\n');
    },
  );

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
        await assert.rejects(tokenIn(file), /own\.token (?:is not a token file|cannot be read)/);
        assert.equal(text(), foreign);
        assert.deepEqual(readdirSync(folder), ['own.token']);
      });
    }
  }

  it('a folder in place of the token file is refused', async () => {
    mkdirSync(file);
    await assert.rejects(tokenIn(file), /is not a token file/);
  });
});
