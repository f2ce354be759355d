import assert from 'node:assert/strict';
import { atOnce, inPieces, pieceLength } from '../../../src/core/base/turns.js';

describe('pieces of a text', () => {
  it('a long text is cut, and no character is', () => {
    const text = `a${'🙂'.repeat(pieceLength)}b${'c'.repeat(pieceLength * 2)}d`;
    const pieces = atOnce(inPieces(text, (piece) => piece));
    assert.equal(pieces.join(''), text);
    assert.ok(pieces.every((piece) => piece.length <= pieceLength + 1));
    assert.ok(
      pieces.every((piece) => Buffer.from(piece).toString() === piece),
      'a pair was cut',
    );
    assert.equal(pieces.length, 5);
  });

  it('no text makes no pieces', () => assert.deepEqual(atOnce(inPieces('', (piece) => piece)), []));
});
