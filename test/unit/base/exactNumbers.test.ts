/** A number is sent unchanged, or not at all (E3). */
import assert from 'node:assert/strict';
import { roundingError } from '../../../src/core/base/exactNumbers.js';

describe('numbers that a person writes', () => {
  it('numbers that JavaScript represents exactly are accepted', () => {
    for (const json of [
      '0',
      '-12',
      '9007199254740992',
      '1000000000000000000000',
      '0.1',
      '1.5e300',
      '"9007199254740993"',
    ])
      assert.equal(roundingError(json), undefined, json);
    assert.equal(roundingError('{"a\\"12345678901234567891": [1, -2.25, "\\\\", 3e7]}'), undefined);
  });

  it('numbers that JavaScript rounds are named', () => {
    for (const json of [
      '9007199254740993',
      '-9007199254740993',
      '{"a": "\\"", "id": [9007199254740993]}',
    ])
      assert.match(
        roundingError(json) ?? '',
        /^-?9007199254740993 would be sent as another number\.$/,
        json,
      );
    assert.match(roundingError('[1e999]') ?? '', /^1e999 would/);
    assert.match(roundingError('9'.repeat(400)) ?? '', /^9+ would/);
  });
});
