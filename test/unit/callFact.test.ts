/** The facts of calls and their filters. */
import assert from 'node:assert/strict';
import { approximateSize, fits, parseFact, type CallFact } from '../../src/core/calls/fact.js';

const fact: CallFact = {
  at: 1_000,
  agent: 'Claude Code',
  conversation: 'c',
  toolset: 'files',
  tool: 'files_read',
  original: 'read',
  took: 5,
  sentSize: 10,
  resultSize: 20,
  outcome: 'ok',
};

describe('the facts of calls', () => {
  it('a fact is read as it was written, and a line of anything else is none', () => {
    assert.deepEqual(parseFact(JSON.stringify(fact)), fact);
    const lost = { ...fact, outcome: 'lost', reason: 'why' };
    assert.deepEqual(parseFact(JSON.stringify(lost)), lost);
    for (const line of [
      '',
      '{',
      '[]',
      '{}',
      JSON.stringify({ ...fact, outcome: 'later' }),
      JSON.stringify({ ...fact, at: 'x' }),
    ]) {
      assert.equal(parseFact(line), undefined, line);
    }
  });

  it('calls are found by server, by a part of the agent’s name, by failure and by age', () => {
    const failed: CallFact = { ...fact, outcome: 'refused', at: 5_000, agent: 'codex', toolset: 'b' };
    const found = (filter: Parameters<typeof fits>[0]): boolean[] => [fact, failed].map((one) => fits(filter, one));
    assert.deepEqual(found({}), [true, true]);
    assert.deepEqual(found({ server: 'files' }), [true, false]);
    assert.deepEqual(found({ agent: 'claude' }), [true, false]);
    assert.deepEqual(found({ failed: true }), [false, true]);
    assert.deepEqual(found({ since: 2_000 }), [false, true]);
  });

  it('the size of a value counts its texts, and ends for any value', () => {
    assert.equal(approximateSize({ ab: ['cde', 1, null], f: true }), 2 + 3 + 8 + 8 + 1 + 8);
    assert.equal(approximateSize(undefined), 0);
    const loop: unknown[] = [];
    loop.push(loop);
    assert.equal(approximateSize(loop), 0);
  });
});
