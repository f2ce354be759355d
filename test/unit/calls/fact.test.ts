/** The facts of calls, their filters, and their order in memory. */
import assert from 'node:assert/strict';
import { callCommand } from '../../../src/core/calls/command.js';
import { lastFacts, parseFacts, type CallFact } from '../../../src/core/calls/fact.js';
import { FactLog } from '../../../src/core/calls/factLog.js';
import { fits, parseFilter, type FactFilter } from '../../../src/core/calls/filter.js';
import { callFact, lineOf, serverFact } from './facts.js';

describe('the facts of calls', () => {
  it('a fact is read as it was written, and a line of anything else is no fact', () => {
    const calls: CallFact[] = [
      callFact(),
      callFact({ outcome: 'lost', reason: 'why' }),
      callFact({ method: 'prompts/get', tool: 'greet', original: 'greet' }),
      callFact({ resultSize: 9, tokens: 3 }),
    ];
    for (const fact of calls) assert.deepEqual(parseFacts(lineOf(fact)), [fact]);
    const event = serverFact({ conversation: 'c', reason: 'why' });
    assert.deepEqual(parseFacts(JSON.stringify(event)), [event]);
    for (const line of [
      '',
      '{',
      '[]',
      '{}',
      JSON.stringify(callFact()),
      lineOf(callFact()).replace('"ok"', '"later"'),
      lineOf(callFact({ at: Infinity })),
      lineOf(callFact({ took: Infinity })),
      JSON.stringify({ ...serverFact(), event: 'later' }),
      JSON.stringify({ ...serverFact(), id: 1 }),
    ]) {
      assert.deepEqual(parseFacts(line), [], line);
    }
  });

  it('a line holds any number of calls, each with its own id, time and sizes', () => {
    const calls = [
      callFact({ id: 'a7' }),
      callFact({ id: 'a9', at: 900, took: 2_000, sentSize: 0 }),
      callFact({ id: 'a10', at: 1_200, resultSize: 0, tokens: 0 }),
    ] as const;
    assert.deepEqual(parseFacts(lineOf(...calls)), calls);
  });

  it('the last facts of lines are found, whichever line they are in', () => {
    const [first, second, third, event] = [
      callFact({ id: 'a1' }),
      callFact({ id: 'a2' }),
      callFact({ id: 'a3' }),
      serverFact({ id: 'b4' }),
    ];
    const lines = [lineOf(first), lineOf(second, third), 'half a line', JSON.stringify(event)];
    const found = (most: number): string[] => lastFacts(lines, most).map(({ id }) => id);
    assert.deepEqual([1, 2, 3, 9].map(found), [
      ['b4'],
      ['a3', 'b4'],
      ['a2', 'a3', 'b4'],
      ['a1', 'a2', 'a3', 'b4'],
    ]);
  });

  it('facts are found by each kind of filter', () => {
    const facts = [
      callFact(),
      callFact({
        outcome: 'refused',
        at: 5_000,
        agent: 'codex',
        toolset: 'b',
        tool: 'b_run',
        original: 'run',
        took: 3_000,
      }),
      serverFact(),
      serverFact({ event: 'started', at: 6_000, toolset: 'b' }),
    ];
    const found = (filter: FactFilter | string): string => {
      assert.ok(typeof filter !== 'string', String(filter));
      return facts.map((fact) => (fits(filter, fact) ? 'x' : '-')).join('');
    };
    assert.equal(found({}), 'xxxx');
    assert.equal(found({ server: 'files' }), 'x-x-');
    assert.equal(found({ agent: 'claude' }), 'x---');
    assert.equal(found({ failed: true }), '-xx-');
    assert.equal(found({ since: 2_000 }), '-xxx');
    assert.equal(found(parseFilter('tool:read')), 'x---');
    assert.equal(found(parseFilter('TOOL:B_R slow:2s')), '-x--');
    assert.equal(found(parseFilter('failed server:b')), '-x--');
    assert.equal(found(parseFilter('died')), '--x-');
    assert.equal(found(parseFilter('  ')), 'xxxx');
  });

  it('a filter that cannot be understood is answered with a sentence', () => {
    assert.match(String(parseFilter('slow:soon')), /"soon" is not a time/);
    assert.match(String(parseFilter('tool:')), /Write a value behind "tool:"/);
  });

  it('facts keep their numbers when the file grows, is written again, or is cleared', () => {
    const log = new FactLog(4);
    const lines = (...ids: number[]): string[] =>
      ids.map((id) => lineOf(callFact({ id: `a${id}` })));
    const known = (): string[] => log.all.map(({ number, fact }) => `${number} ${fact.id}`);
    log.take(lines(1, 2, 3), true);
    log.take(lines(4, 5), false);
    assert.deepEqual(known(), ['1 a2', '2 a3', '3 a4', '4 a5']);
    log.take(lines(3, 4, 5, 6), true);
    assert.deepEqual(known(), ['2 a3', '3 a4', '4 a5', '5 a6']);
    log.take(lines(7), true);
    assert.deepEqual(known(), ['6 a7']);
    log.take([], true);
    assert.deepEqual(known(), []);
  });

  it('a call becomes a command that a shell reads as it was', () => {
    assert.equal(callCommand('files_list', {}, 'linux'), 'mcp-toolsets call files_list');
    assert.equal(
      callCommand('say', { text: "it's" }, 'linux'),
      `mcp-toolsets call say '{"text":"it'\\''s"}'`,
    );
    assert.equal(
      callCommand('say', { text: "it's" }, 'win32'),
      `mcp-toolsets call say '{\\"text\\":\\"it''s\\"}'`,
    );
  });
});
