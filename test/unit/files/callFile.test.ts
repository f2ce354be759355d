/** The record of calls in the home folder. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../../src/core/base/clock.js';
import { jsonLines } from '../../../src/core/base/text.js';
import { CallFile, callFileOf, callLines, mostFacts } from '../../../src/core/files/callFile.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

describe('the record of calls', () => {
  let home: string;
  let file: string;

  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), 'calls-'));
    file = callFileOf('/ws', home);
  });

  afterEach(() => rmSync(home, { recursive: true }));

  const open = (clock = systemClock): CallFile => new CallFile(file, clock, (error) => assert.fail(String(error)));

  it('calls are written 750 ms after the first of them, to a file that only its owner can read', async () => {
    const clock = new FakeClock();
    const record = new CallFile(file, clock, (error) => assert.fail(String(error)));
    record.note(jsonLines([{ id: 1 }]));
    record.note(jsonLines([{ id: 2 }]));
    assert.deepEqual(await callLines(file), []);
    clock.advance(750);
    await record.flush();
    assert.deepEqual(await callLines(file), ['{"id":1}', '{"id":2}']);
    if (process.platform !== 'win32') assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual([readdirSync(path.dirname(file)).length, clock.pending], [1, 0]);
  });

  it('two processes that write at once lose nothing, and keep the last calls', async () => {
    const records = [open(), open(), open()];
    for (let round = 0; round < 20; round++) {
      for (const [index, record] of records.entries()) record.note(jsonLines([{ index, round }]));
      await Promise.all(records.map((record) => record.flush()));
    }
    const lines = await callLines(file);
    assert.equal(new Set(lines).size, 60);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, Array.from({ length: 2 * mostFacts }, (_, index) => `old ${index}\n`).join(''));
    const record = open();
    record.note(jsonLines([{ id: 'new' }]));
    await record.flush();
    const kept = await callLines(file);
    assert.deepEqual([kept.length, kept.at(-1), kept[0]], [mostFacts, '{"id":"new"}', `old ${mostFacts + 1}`]);
    const { size } = statSync(file);
    assert.ok(size < 12 * mostFacts, String(size));
  });

  for (const earlier of [2, 2 * mostFacts - 1]) {
    it(`a fact is a line whatever its texts hold, and half a line after ${earlier} facts stays apart`, async () => {
      const facts = [{ tool: '"},{"' }, { tool: '},{' }, { tool: '},{"a":"\\' }];
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, `${'{}\n'.repeat(earlier)}{"half`);
      const record = open();
      record.note(jsonLines(facts));
      await record.flush();
      const lines = await callLines(file);
      assert.deepEqual(lines.slice(-4), ['{"half', ...facts.map((fact) => JSON.stringify(fact))]);
      assert.equal(lines.length, Math.min(mostFacts, earlier + 4));
      assert.equal(readFileSync(file, 'utf8').at(-1), '\n');
    });
  }

  it('a record that is too large to be read begins again', async () => {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, 'x'.repeat(33 << 20));
    const record = open();
    record.note(jsonLines([{ id: 1 }]));
    await record.flush();
    assert.deepEqual(await callLines(file), ['{"id":1}']);
  });

  it('a record that cannot be written is said once, and no call fails', async () => {
    writeFileSync(path.join(home, '.minds'), 'no folder');
    const said: unknown[] = [];
    const record = new CallFile(file, systemClock, (error) => said.push(error));
    for (const id of ['1', '2']) {
      record.note(jsonLines([{ id }]));
      await record.flush();
    }
    assert.equal(said.length, 1);
  });
});
