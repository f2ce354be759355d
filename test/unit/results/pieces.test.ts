import assert from 'node:assert/strict';
import { excerpt } from '../../../src/core/results/delivery.js';
import { inPieces, jsonText, pieceLength } from '../../../src/core/results/pieces.js';

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

describe('results: pieces of a text', () => {
  it('a long text is cut, and no character is', async () => {
    const text = `a${'🙂'.repeat(pieceLength)}b${'c'.repeat(pieceLength * 2)}d`;
    const pieces = await inPieces(text, (piece) => piece);
    assert.equal(pieces.join(''), text);
    assert.ok(pieces.every((piece) => piece.length <= pieceLength + 1));
    assert.ok(
      pieces.every((piece) => Buffer.from(piece).toString() === piece),
      'a pair was cut',
    );
    assert.equal(pieces.length, 5);
  });

  it('no text makes no pieces', async () => assert.deepEqual(await inPieces('', (piece) => piece), []));
});

describe('results: excerpts', () => {
  for (const [name, text, head, tail] of [
    ['of plain characters', 'abcdefghijkl', 'abcde', 'ijkl'],
    ['a character of two bytes is not cut', 'abcdäefghiäjkl', 'abcd', 'jkl'],
    ['one that fits stays', 'abcäefghäjk', 'abcä', 'äjk'],
    ['of four bytes', 'abc🙂defg🙂x', 'abc', 'x'],
    ['that fits', 'a🙂bcd🙂', 'a🙂', '🙂'],
    ['of three bytes', 'abc漢defg漢x', 'abc', '漢x'],
    ['at half a pair', 'abcd🙂efgh🙂xyz', 'abcd', 'xyz'],
    ['a lone half is the replacement of it', 'abcdefgh\ud83d', 'abcde', 'h\ufffd'],
  ] as const) {
    it(name, () => assert.deepEqual(excerpt(text, { head: 5, tail: 4 }), { head, tail }));
  }
});
