import assert from 'node:assert/strict';
import { Excerpt } from '../../../src/core/results/delivery.js';
import { even, jsonPieces, pieceLength, takeAll } from '../../../src/core/results/pieces.js';
import { content } from './folder.js';

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
    for (const indent of [0, 2] as const) {
      it(`${name}, indented by ${indent}, is what JSON.stringify gives`, () => {
        assert.equal([...jsonPieces(value, indent)].join(''), JSON.stringify(value, undefined, indent));
      });
    }
  }
});

describe('results: even pieces', () => {
  it('long texts are cut and short ones joined, and no character is cut', () => {
    const texts = ['a', '🙂'.repeat(pieceLength), 'b', '', 'c'.repeat(pieceLength * 2), 'd'];
    const pieces = [...even(texts)];
    assert.equal(pieces.join(''), texts.join(''));
    assert.ok(pieces.every((piece) => piece.length <= pieceLength + 2));
    assert.ok(
      pieces.every((piece) => Buffer.from(piece).toString() === piece),
      'a pair was cut',
    );
    assert.ok(pieces.length <= 6, `${pieces.length} pieces`);
  });

  it('no texts make no pieces', () => assert.deepEqual([...even([])], []));
});

describe('results: taking pieces', () => {
  it('the source is read to its end after a failed write, without another write', async () => {
    let asked = 0;
    const taken = await takeAll(content('aa', 'bbb').pieces, () => {
      asked += 1;
      return Promise.reject(new Error('full'));
    });
    assert.equal(taken.bytes, 5);
    assert.match(String(taken.failure), /full/);
    assert.equal(asked, 1);
  });
});

describe('results: excerpts', () => {
  function excerptOf(texts: readonly string[], sizes = { head: 5, tail: 4 }): Excerpt {
    const excerpt = new Excerpt(sizes);
    for (const piece of excerpt.of(texts)) assert.ok(piece.length >= 0);
    return excerpt;
  }

  for (const [name, texts, head, tail] of [
    ['of one piece', ['abcdefghijkl'], 'abcde', 'ijkl'],
    ['of small pieces', [...'abcdefghijkl'], 'abcde', 'ijkl'],
    ['a character of two bytes is not cut', ['abcdäefghiäjkl'], 'abcd', 'jkl'],
    ['one that fits stays', ['abcäefghäjk'], 'abcä', 'äjk'],
    ['of four bytes', ['abc🙂defg🙂x'], 'abc', 'x'],
    ['that fits', ['a🙂bcd🙂'], 'a🙂', '🙂'],
    ['across pieces', ['ab', 'c漢', 'defg', '漢x'], 'abc', '漢x'],
    ['a lone half is the replacement of it', ['abcdefgh\ud83d'], 'abcde', 'h\ufffd'],
  ] as const) {
    it(name, () => {
      const excerpt = excerptOf(texts);
      assert.deepEqual([excerpt.head, excerpt.tail], [head, tail]);
      assert.equal(excerpt.bytes, Buffer.byteLength(texts.join('')));
    });
  }
});
