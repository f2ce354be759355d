import assert from 'node:assert/strict';
import { tickedOf, withTicked } from '../../../src/core/authoring/rememberedTicks.js';
import type { TickedLists } from '../../../src/core/authoring/toolLists.js';

const lists = { whitelist: ['read_a'], blacklist: [] };
const before = { whitelist: ['read_*'], blacklist: [] };
const ticked: TickedLists = { lists, replaced: [{ pattern: 'read_*', before }] };

describe('ticks that the next window remembers (E3)', () => {
  it('the lists of each server are there again, also as JSON', () => {
    const stored = withTicked(withTicked(undefined, 'f#a', ticked), 'f#b', {
      ...ticked,
      lists: before,
    });
    const next: unknown = JSON.parse(JSON.stringify(stored));
    assert.deepEqual(tickedOf(next, 'f#a'), ticked);
    assert.deepEqual(tickedOf(next, 'f#b')?.lists, before);
    assert.equal(tickedOf(next, 'f#c'), undefined);
  });

  it('a server without a replaced pattern is forgotten', () => {
    const stored = withTicked(undefined, 'f#a', ticked);
    assert.deepEqual(withTicked(stored, 'f#a', { lists, replaced: [] }), []);
  });

  it('twenty servers are remembered, and no list of great length', () => {
    let stored: unknown;
    for (let index = 0; index < 30; index++) stored = withTicked(stored, `f#${index}`, ticked);
    assert.equal(tickedOf(stored, 'f#9'), undefined);
    assert.deepEqual(tickedOf(stored, 'f#10'), ticked);
    const whitelist = Array.from({ length: 5_000 }, (_, index) => `tool_${index}`);
    const long = { ...ticked, lists: { whitelist, blacklist: [] } };
    assert.equal(tickedOf(withTicked(stored, 'f#10', long), 'f#10'), undefined);
  });

  it('a stored value of another shape counts as nothing', () => {
    const odd = ['x', {}, [['f#a']], [['f#a', null]], [['f#a', { lists, replaced: 1 }]]];
    for (const stored of odd) {
      assert.equal(tickedOf(stored, 'f#a'), undefined, JSON.stringify(stored));
      assert.deepEqual(tickedOf(withTicked(stored, 'f#a', ticked), 'f#a'), ticked);
    }
  });
});
