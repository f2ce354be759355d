/** The rows of the view *Calls*. */
import assert from 'node:assert/strict';
import type { Fact } from '../../../../../src/core/calls/fact.js';
import type { NumberedFact } from '../../../../../src/core/calls/factLog.js';
import {
  callRows,
  rowsBelow,
  type CallGrouping,
  type CallRow,
  type CallRowOptions,
} from '../../../../../src/vscode/views/calls/callRows.js';
import { callFact, serverFact } from '../../../calls/facts.js';

describe('the rows of the view Calls', () => {
  const options = (grouping: CallGrouping = 'time'): CallRowOptions => ({
    grouping,
    now: 200_000,
    titleOf: (conversation) => (conversation === 'titled' ? { text: 'My chat' } : undefined),
    hasContent: ({ id }) => id !== 'other',
  });
  const newestFirst = (facts: readonly Fact[]): NumberedFact[] =>
    facts.map((fact, number) => ({ number, fact })).reverse();
  const line = ({ label, description }: CallRow): string => `${label} | ${description}`;
  const calls = (count: number): NumberedFact[] =>
    newestFirst(
      Array.from({ length: count }, (_, index) => callFact({ id: `a${index}`, at: index })),
    );

  it('the newest row comes first, with tool, agent, duration, age and conversation', () => {
    const rows = callRows(
      newestFirst([
        callFact({ conversation: 'titled', took: 1_234 }),
        callFact({
          id: 'a3',
          method: 'prompts/get',
          tool: 'greet',
          agent: '',
          at: 199_000,
          conversation: 'mcp-session:12345678',
        }),
        serverFact({ at: 140_000, reason: 'The server process exited with code 1' }),
      ]),
      options(),
    );
    assert.deepEqual(rows.map(line), [
      'files lost an instance | The server process exited with code 1 · 1 min ago',
      'prompts/get greet | an agent without a name · 5 ms · now · conversation 12345678',
      'files_read | Claude Code · 1.2 s · 3 min ago · My chat',
    ]);
    assert.equal(rows[2]?.spoken, 'files_read, ok, Claude Code, 1.2 s, 3 min ago, My chat');
    assert.deepEqual(
      rows.map(({ context }) => context),
      ['event instance', 'call instance', 'call tool instance'],
    );
  });

  it('a call says in its row and its hover that what went in and out is not known', () => {
    const [other, own] = callRows(newestFirst([callFact(), callFact({ id: 'other' })]), options());
    assert.equal(
      other?.description,
      'no content · Claude Code · 5 ms · 3 min ago · conversation c',
    );
    assert.match(other.spoken, /, no content, /);
    assert.match(other.tooltip.value, /input and output are not kept here/);
    assert.doesNotMatch(`${own?.description}${own?.tooltip.value}`, /no content|not kept/);
  });

  it('each outcome and event has an icon, and the icons of success and failure differ', () => {
    const outcomes = [
      'ok',
      'error',
      'refused',
      'cancelled',
      'timed out',
      'lost',
      'not sent',
    ] as const;
    const icons = callRows(
      newestFirst(outcomes.map((outcome) => callFact({ outcome }))),
      options(),
    ).map(({ icon }) => icon.id);
    assert.equal(new Set(icons).size, outcomes.length);
  });

  it('10,000 calls are at most 300 rows and pages, and each call is below exactly one row', () => {
    const rows = callRows(calls(10_000), options());
    assert.ok(rows.length <= 300 + 50, String(rows.length));
    const all = rows.flatMap((row) => (row.below ? rowsBelow(row, options()) : [row]));
    assert.deepEqual(
      all.map(({ id }) => id),
      Array.from({ length: 10_000 }, (_, index) => `a${9_999 - index}`),
    );
    assert.equal(new Set(rows.map(({ id }) => id)).size, rows.length);
  });

  it('pages stay as they are while calls come in', () => {
    const pagesOf = (count: number): Map<string, number> =>
      new Map(
        callRows(calls(count), options()).flatMap(({ id, below }) =>
          below ? [[id, below.length]] : [],
        ),
      );
    let before = pagesOf(300);
    for (let count = 301; count < 1_000; count += 37) {
      const after = pagesOf(count);
      for (const [id, size] of before) assert.equal(after.get(id), size, `${id} at ${count}`);
      before = after;
    }
    assert.ok(before.size >= 3);
  });

  it('calls are grouped by conversation or by server, the last used group first', () => {
    const facts = newestFirst([
      callFact({ id: 'a1', conversation: 'titled', at: 1_000 }),
      callFact({ id: 'a2', conversation: 'b', toolset: 'other', outcome: 'error', at: 80_000 }),
      callFact({ id: 'a3', conversation: 'titled', at: 120_000 }),
      serverFact({ id: 'a4', at: 130_000 }),
    ]);
    assert.deepEqual(callRows(facts, options('conversation')).map(line), [
      'Outside conversations | 1 event, 1 failed · 1 min ago',
      'My chat | 2 calls · 1 min ago',
      'conversation b | 1 call, 1 failed · 2 min ago',
    ]);
    const byServer = callRows(facts, options('server'));
    assert.deepEqual(
      byServer.map(({ label }) => label),
      ['files', 'other'],
    );
    assert.deepEqual(
      byServer.flatMap((row) => rowsBelow(row, options('server')).map(({ id }) => id)),
      ['a4', 'a3', 'a1', 'a2'],
    );
  });

  it('a name that an agent or a server chose cannot act as a link or an icon', () => {
    const foreign = '[x](command:evil) $(zap) \u202e';
    const [row] = callRows(
      newestFirst([callFact({ agent: foreign, tool: foreign, original: foreign })]),
      options(),
    );
    assert.ok(row);
    assert.doesNotMatch(
      `${row.label}${row.description}${row.tooltip.value}`,
      /\]\(command|\$\(zap\)|\u202e/,
    );
  });
});
