/** The filter of calls while a person writes it. */
import assert from 'node:assert/strict';
import { fits, parseFilter } from '../../../src/core/calls/filter.js';
import { filterWords, withFilterWord } from '../../../src/core/calls/filterWords.js';
import { callFact, serverFact } from './facts.js';

describe('the filter of calls while a person writes it', () => {
  const facts = [
    callFact(),
    callFact({ agent: 'codex', toolset: 'web', outcome: 'timed out' }),
    serverFact({ toolset: 'idle', event: 'start failed' }),
  ];
  const fitting = (text: string): number[] => {
    const filter = parseFilter(text);
    assert.ok(typeof filter !== 'string', String(filter));
    return facts.flatMap((fact, index) => (fits(filter, fact) ? [index] : []));
  };

  it('offers the agents, servers and outcomes of the facts', () => {
    assert.deepEqual(filterWords('', facts), [
      'failed',
      'agent:claude-code',
      'agent:codex',
      'server:files',
      'server:web',
      'server:idle',
      'outcome:ok',
      'outcome:timed-out',
    ]);
  });

  it('offers what completes the word at the end, and no word twice', () => {
    assert.deepEqual(filterWords('slow:2s AGENT', facts), ['agent:claude-code', 'agent:codex']);
    assert.deepEqual(filterWords('agent:codex fail', facts), ['failed']);
    assert.ok(!filterWords('agent:codex ', facts).includes('agent:codex'));
    assert.deepEqual(filterWords('agent:codex', facts), filterWords('agent:codex ', facts));
    assert.deepEqual(filterWords('slow:2s', facts), filterWords('', facts));
  });

  it('each offered word is a filter that at least one fact fits', () => {
    for (const word of filterWords('', facts)) assert.ok(fitting(word).length > 0, word);
  });

  it('a chosen word replaces the unfinished one only', () => {
    assert.equal(withFilterWord('', 'failed'), 'failed ');
    assert.equal(withFilterWord('slow:2s age', 'agent:codex'), 'slow:2s agent:codex ');
    assert.equal(withFilterWord('failed ', 'agent:codex'), 'failed agent:codex ');
    assert.equal(withFilterWord('slow:2s', 'agent:codex'), 'slow:2s agent:codex ');
  });

  it('a name with blanks is one word, and outcomes are compared', () => {
    assert.deepEqual(fitting('agent:Claude-Code'), [0]);
    assert.deepEqual(fitting('outcome:timed-out'), [1]);
    assert.deepEqual(fitting('outcome:TIMED'), [1]);
    assert.match(String(parseFilter('outcome:')), /Write a value/);
    assert.ok(fits({ agent: 'Claude Code' }, callFact()), 'from an option of the command line');
  });
});
