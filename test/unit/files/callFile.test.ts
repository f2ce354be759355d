/** The record of calls in the home folder. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '../../../src/core/base/clock.js';
import { jsonLines, linesOf } from '../../../src/core/base/text.js';
import { callFileOf, callLines, mostFacts } from '../../../src/core/files/callFile.js';
import { CallFile } from '../../../src/core/files/callWriter.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

describe('the record of calls', () => {
  let home: string;
  let file: string;

  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), 'calls-'));
    file = callFileOf('/ws', home);
  });

  afterEach(() => rmSync(home, { recursive: true }));

  const open = (clock = systemClock): CallFile =>
    new CallFile(file, clock, (error) => assert.fail(String(error)));

  const fill = (padding: number, count: number, end = ''): void => {
    mkdirSync(path.dirname(file), { recursive: true });
    const lines = Array.from({ length: count }, (_, index) => `old ${index}`.padEnd(padding));
    writeFileSync(file, `${lines.join('\n')}\n${end}`);
  };
  const linesIn = (path: string): number => linesOf(readFileSync(path, 'utf8')).length;

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

  it('several processes that write at once lose nothing', async () => {
    const records = [open(), open(), open()];
    for (let round = 0; round < 20; round++) {
      for (const [index, record] of records.entries()) record.note(jsonLines([{ index, round }]));
      await Promise.all(records.map((record) => record.flush()));
    }
    const lines = await callLines(file);
    assert.equal(new Set(lines).size, 60);
  });

  it('a record is shortened to its last calls when it has become large, and then only after as many new ones', async () => {
    for (const padding of [900, 2_000]) {
      fill(padding, 2 * mostFacts);
      const record = open();
      record.note(jsonLines([{ id: 'new' }]));
      await record.flush();
      const kept = await callLines(file);
      assert.deepEqual(
        [kept.length, kept.at(-1), kept[0]?.trim()],
        [mostFacts, '{"id":"new"}', `old ${mostFacts + 1}`],
      );
      const { size, ino, mode } = statSync(file);
      assert.ok(size < (padding + 1) * mostFacts, String(size));
      if (process.platform !== 'win32') assert.equal(mode & 0o777, 0o600);
      record.note(jsonLines([{ id: 'x'.repeat(8_000) }]));
      await record.flush();
      assert.deepEqual([statSync(file).ino, linesIn(file)], [ino, mostFacts + 1]);
    }
  });

  it('a record that has not become large keeps more calls than are shown', async () => {
    fill(10, 2 * mostFacts);
    const record = open();
    record.note(jsonLines([{ id: 'new' }]));
    await record.flush();
    assert.deepEqual(
      [linesIn(file), (await callLines(file)).length],
      [2 * mostFacts + 1, mostFacts],
    );
  });

  it('what is noted while the file is written is written afterwards', async () => {
    const record = open();
    const flushes: Promise<void>[] = [];
    for (let id = 0; id < 20; id++) {
      record.note(jsonLines([{ id, text: 'ü🙂\u20ac'.repeat(id * 1_000) }]));
      flushes.push(record.flush());
    }
    await Promise.all(flushes);
    const ids = (await callLines(file)).map((line) => (JSON.parse(line) as { id: number }).id);
    assert.deepEqual(
      ids,
      Array.from({ length: 20 }, (_, id) => id),
    );
  });

  for (const [padding, earlier] of [
    [3, 2],
    [3, mostFacts],
    [1_000, mostFacts],
  ] as const) {
    it(`a fact is a line whatever its texts hold, and half a line after ${earlier} lines of ${padding} characters stays apart`, async () => {
      const facts = [{ tool: '"},{"' }, { tool: '},{' }, { tool: '},{"a":"\\' }];
      fill(padding, earlier, '{"half');
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

  (process.platform === 'win32' ? it.skip : it)(
    'a pipe in its place is replaced, and nobody waits for it',
    async () => {
      mkdirSync(path.dirname(file), { recursive: true });
      execFileSync('mkfifo', [file]);
      const record = open();
      record.note(jsonLines([{ id: 1 }]));
      await record.flush();
      assert.deepEqual(await callLines(file), ['{"id":1}']);
    },
  );
});
