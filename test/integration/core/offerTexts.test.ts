/** Texts of accepted offers in real files (S3). */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { offerTextsIn, type KeptText } from '../../../src/core/approval/offerTexts.js';

describe('texts of approved offers', () => {
  let folder: string;
  const one = 'a'.repeat(64);
  const other = 'b'.repeat(64);
  const kept = (text: string): KeptText => ({ print: ['p'], text: [['description', text]] });

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'offers-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('Approved texts are readable by later windows only', async () => {
    const below = path.join(folder, 'not', 'there');
    await offerTextsIn(below).write(one, new Map([['tool x', kept('one')]]));
    assert.deepEqual([...(await offerTextsIn(below).read(one))], [['tool x', kept('one')]]);
    assert.deepEqual([...(await offerTextsIn(below).read(other))], []);
    assert.deepEqual(await readdir(below), [`${one}.json`]);
    if (process.platform !== 'win32')
      assert.equal((await stat(path.join(below, `${one}.json`))).mode & 0o777, 0o600);
  });

  it('Approved texts are deleted with their launch', async () => {
    const texts = offerTextsIn(folder);
    await texts.write(one, new Map());
    await texts.write(other, new Map());
    await writeFile(path.join(folder, 'else.json'), '');
    await texts.retain(new Set([other]));
    assert.deepEqual((await readdir(folder)).sort(), [`${other}.json`, 'else.json']);
  });

  it('Approved texts stay in their folder, and foreign files do not count', async () => {
    const texts = offerTextsIn(path.join(folder, 'in'));
    await texts.write('../out', new Map([['tool x', kept('one')]]));
    assert.deepEqual(await readdir(folder), []);
    for (const content of [
      '',
      '{',
      '3',
      '[[1,2]]',
      '[["tool x",{"print":[],"text":[["a"]]}]]',
      'null',
    ]) {
      await writeFile(path.join(folder, `${one}.json`), content);
      assert.equal((await offerTextsIn(folder).read(one)).size, 0);
    }
  });

  it('Approved texts beyond a limit are deleted, the longest first', async () => {
    const texts = offerTextsIn(folder);
    const long = kept('x'.repeat(7 * 1024 * 1024));
    await texts.write(
      one,
      new Map([
        ['tool a', long],
        ['tool b', kept('b')],
        ['tool c', long],
      ]),
    );
    assert.deepEqual([...(await texts.read(one)).keys()].sort(), ['tool a', 'tool b']);
  });
});
