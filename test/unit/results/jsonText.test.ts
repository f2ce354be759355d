import assert from 'node:assert/strict';
import { jsonText } from '../../../src/core/results/jsonText.js';

describe('results: JSON in pieces', () => {
  const wide = Array.from({ length: 2_500 }, (_, id) => ({ id, name: `row\n"${id}"`, list: [1, [], {}] }));
  for (const [name, value] of [
    ['a string', 'a\n"b"'],
    ['null', null],
    ['empty containers', { a: {}, b: [], c: [[]] }],
    ['nested ones', { a: { b: [1, 'x', null, { c: true }] }, 'key "with" quotes': -1.5 }],
    ['a long list', wide],
    ['a long list far inside', { result: { items: wide, more: { rows: wide } } }],
    ['a list in a list', [wide, [wide]]],
    ['many keys', Object.fromEntries(wide.map((row) => [`k${row.id}`, row]))],
    ['numbers as keys', { 2: 'b', 1: 'a' }],
  ] as const) {
    it(`${name} is what JSON.stringify gives`, async () => {
      assert.equal(await jsonText(value), JSON.stringify(value));
    });
  }
});
