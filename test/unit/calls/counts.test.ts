/** The counts of tools beside the record of calls (H1d), by the real recorder with a clock of its own. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redactor } from '../../../src/core/base/log.js';
import { jsonLines, linesOf } from '../../../src/core/base/text.js';
import {
  countLines,
  countsIn,
  FolderUse,
  shortenedCounts,
  type ToolsetUse,
} from '../../../src/core/calls/counts.js';
import { Recorder } from '../../../src/core/calls/recorder.js';
import {
  callFileOf,
  countedLines,
  clearCalls,
  countFileOf,
} from '../../../src/core/files/callFile.js';
import { CallFile } from '../../../src/core/files/callWriter.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { callFact, lineOf, serverFact } from './facts.js';

const hour = 3_600_000;
const day = 24 * hour;
const tools = ['read', 'list', 'write', 'move', 'never'];
const server = { id: 'files', countedAs: 'program', listed: tools };

describe('the counts of tools', () => {
  let home: string;
  let file: string;
  let clock: FakeClock;
  let redactor: Redactor;
  let isWanted: boolean;

  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), 'counts-'));
    file = callFileOf('/ws', home);
    clock = new FakeClock();
    clock.sleep(20_000 * day);
    redactor = new Redactor();
    isWanted = true;
  });

  afterEach(() => rmSync(home, { recursive: true }));

  /** One process that serves the folder. */
  const open = () => {
    const recorder = new Recorder({ clock, redactor, isWanted: () => isWanted });
    const fail = (error: unknown): void => assert.fail(String(error));
    const record = new CallFile(file, clock, fail, (id) => (id === 'new' ? '' : 'program'));
    recorder.onDidRecord((lines) => record.note(lines));
    const call = async (tool: string, over: { program?: string; toolset?: string } = {}) => {
      const { program = 'codex', toolset = 'files' } = over;
      const { signal } = new AbortController();
      await recorder.recorded(
        {
          policy: policies.agent,
          client: { program, capabilities: {}, roots: undefined } as never,
          toolset,
          conversation: 'c',
          tool,
          arguments: {},
          signal,
        },
        () =>
          Promise.resolve({
            kind: 'result',
            result: { content: [], ...(tool === 'move' && { isError: true }) },
          }),
      );
    };
    const flush = async (): Promise<void> => {
      recorder.flush();
      await record.flush();
    };
    return { call, flush };
  };

  const use = async (of = server, present = ['files']): Promise<ToolsetUse> =>
    new FolderUse(countsIn(await countedLines(file))).of(of, new Set(present), clock.now());

  it('Counts reach back 90 days, however many calls there were, in one line a tool and day (H1d)', async () => {
    const began = clock.now();
    const { call, flush } = open();
    for (let today = 0; today <= 90; today++) {
      for (let count = 0; count < 150; count++) await call('read');
      if (today === 0) await call('write');
      if (today === 85) await call('move', { program: 'Claude Code' });
      await flush();
      clock.sleep(day);
    }
    const found = await use();
    assert.equal(found.since, began);
    assert.deepEqual(found.tools.get('read'), {
      calls: 91 * 150,
      failed: 0,
      first: began,
      last: began + 90 * day,
      agents: ['codex'],
    });
    const { calls, failed, last, agents } = found.tools.get('move') ?? {};
    assert.deepEqual([calls, failed, last, agents], [1, 1, began + 85 * day, ['Claude Code']]);
    const unused = tools.filter((tool) => found.isUnused(tool));
    assert.deepEqual([found.judgedDays, unused], [30, ['list', 'write', 'never']]);
    const shortened = linesOf(shortenedCounts(await countedLines(file), clock.now() - day));
    assert.equal(shortened.length, 93, 'one line a tool and day');
    if (process.platform !== 'win32') assert.equal(statSync(countFileOf(file)).mode & 0o777, 0o600);
  });

  it('Nothing is unused before seven days of counting and 20 calls of the toolset, which may both be old', async () => {
    const { call, flush } = open();
    for (let count = 0; count < 19; count++) await call('read');
    await flush();
    clock.sleep(7 * day);
    assert.equal((await use()).judgedDays, undefined, '19 calls');
    await call('list');
    await flush();
    assert.deepEqual([(await use()).judgedDays, (await use()).isUnused('never')], [7, true]);
    clock.sleep(-hour);
    assert.deepEqual(
      [(await use()).judgedDays, (await use()).isUnused('never')],
      [undefined, false],
    );
    clock.sleep(40 * day);
    const late = await use();
    assert.deepEqual([late.judgedDays, late.isUnused('read')], [undefined, false]);
  });

  it('A server that was renamed or moved keeps its counts, and one beside it with the same program has its own', async () => {
    const { call, flush } = open();
    await call('read');
    await call('other tool');
    await call('read', { toolset: 'new' });
    await flush();
    const callsOf = async (id: string, countedAs: string, ...present: string[]) =>
      (await use({ ...server, id, countedAs }, [id, ...present])).tools.get('read')?.calls;
    assert.equal(await callsOf('files', 'edited launch'), 1);
    assert.equal(await callsOf('renamed', 'program'), 1);
    assert.equal(await callsOf('renamed', 'program', 'files'), undefined);
    assert.equal(await callsOf('renamed', 'another program'), undefined);
    assert.equal(await callsOf('renamed', ''), undefined, 'no program is no common program');
    assert.deepEqual([...(await use()).tools.keys()], ['read'], 'only tools that it has');
  });

  it('Several processes that count at once lose nothing, and a switched-off record counts nothing', async () => {
    const processes = [open(), open(), open()];
    for (let round = 0; round < 20; round++) {
      await Promise.all(processes.map(({ call }) => call('read')));
      await Promise.all(processes.map(({ flush }) => flush()));
    }
    isWanted = false;
    await Promise.all(processes.map(({ call }) => call('read')));
    await Promise.all(processes.map(({ flush }) => flush()));
    assert.equal((await use()).tools.get('read')?.calls, 60);
    await clearCalls(file, clock);
    assert.deepEqual(readdirSync(path.dirname(file)), []);
    assert.equal((await use()).tools.size, 0);
  });

  it('The file of counts stays small, and keeps its counts when it is shortened', async () => {
    const { call, flush } = open();
    await call('read');
    await flush();
    const first = readFileSync(countFileOf(file), 'utf8');
    const many = Math.ceil((257 << 10) / first.length);
    writeFileSync(countFileOf(file), `not JSON\n{"calls":1}\n${first.repeat(many)}half a li`);
    await call('read');
    await flush();
    const lines = await countedLines(file);
    assert.equal(lines.length, 1);
    assert.equal((await use()).tools.get('read')?.calls, many + 1);
  });

  it('Invented names, long names, many agents and a wrong clock cost the file no more than its bound', () => {
    const now = 20_000 * day;
    const hostile = Array.from({ length: 30_000 }, (_, index) => ({
      server: `s${index % 3}`,
      as: '',
      tool: `tool ${index}`,
      calls: 1,
      failed: 0,
      first: now - (index % 89) * day,
      last: now - (index % 89) * day,
      agents: [],
    }));
    const wrong = [-100, 100].map((days) => ({ ...hostile[0], last: now + days * day }));
    const kept = countsIn(
      linesOf(shortenedCounts([jsonLines([...hostile, ...wrong])].flatMap(linesOf), now)),
    );
    assert.ok(kept.length <= 10_000 && kept.every(({ last }) => last <= now), `${kept.length}`);
    const long = 'x'.repeat(1_000);
    const calls = Array.from({ length: 50 }, (_, index) =>
      lineOf(callFact({ at: now, original: long, agent: `${index} ${long}` })),
    );
    const [line = '', ...more] = linesOf(countLines(calls.join('\n'), () => 'p'));
    assert.deepEqual([more.length, countsIn([line])[0]?.calls, line.length < 1_000], [0, 50, true]);
  });

  it('Only calls of tools count, and those that failed count as failed', () => {
    const facts = [
      lineOf(callFact({ method: 'resources/read' })),
      JSON.stringify(serverFact()),
      lineOf(callFact(), callFact({ id: 'a2', at: 1_500 })),
      lineOf(callFact({ outcome: 'refused' })),
      'not JSON',
    ];
    const [count, ...more] = countsIn(linesOf(countLines(facts.join('\n'), () => '')));
    assert.deepEqual([count?.calls, count?.failed, count?.last, more.length], [3, 1, 1_500, 0]);
  });

  it('A secret that is known never comes into the counts, as in the record (E4)', async () => {
    redactor.register(['hidden-value-2']);
    const { call, flush } = open();
    await call('hidden-value-2', { program: 'agent hidden-value-2' });
    await flush();
    assert.doesNotMatch(readFileSync(countFileOf(file), 'utf8'), /hidden-value-2/);
  });
});
