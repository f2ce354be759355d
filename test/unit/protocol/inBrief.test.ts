import assert from 'node:assert/strict';
import { jsonInBrief, shortened } from '../../../src/core/protocol/inBrief.js';

describe('shortened text', () => {
  it('a short text stays whole, and a long text is cut between words', () => {
    assert.equal(shortened('one two', 7), 'one two');
    assert.equal(shortened('one two three', 10), 'one two…');
    assert.equal(shortened('{"one":"two","three":4}', 16), '{"one":"two","…');
    assert.equal(shortened('onetwothreefour five', 10), 'onetwothre…');
  });
});

const nested = (levels: number): string =>
  '[{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2);

describe('JSON for people', () => {
  it('JSON for people is short, whatever its size and depth', () => {
    assert.equal(
      jsonInBrief({ a: [1, 'b', null, undefined], 'c"': true }, 100),
      '{"a":[1,"b",null,null],"c\\"":true}',
    );
    assert.equal(jsonInBrief(undefined, 10), 'null');
    assert.ok(jsonInBrief({ ['k'.repeat(1e6)]: 'x'.repeat(1e6) }, 100).length < 250);
    assert.ok(jsonInBrief(JSON.parse(nested(20_000)), 1_000).length < 1_000);
    assert.ok(jsonInBrief(new Array(1e6).fill('x'), 100).length < 120);
  });
});
