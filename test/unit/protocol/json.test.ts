import assert from 'node:assert/strict';
import {
  deepestValue,
  isTooDeep,
  nestsTooDeep,
  parseFlattened,
  parseJson,
} from '../../../src/core/protocol/json.js';

const nested = (levels: number): string =>
  '[{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2);

describe('JSON from outside, however deep (S2b)', () => {
  it('JSON may be nested up to the limit, and one more level is too deep', () => {
    const [most, more] = [nested(deepestValue), `[${nested(deepestValue)}]`];
    for (const text of [
      most,
      `{"a":"]]","b":${most.slice(1, -1)}}`,
      `"${'['.repeat(2 * deepestValue)}"`,
    ]) {
      assert.equal(isTooDeep(JSON.parse(text)), false, text);
      assert.equal(nestsTooDeep(text), false, text);
    }
    for (const text of [
      more,
      `{"a":"]]","b":[[],${most}]}`,
      ` [[], ${most}, {"a": "\\\\"}, ${'[],'.repeat(300)} 1]`,
    ]) {
      assert.equal(isTooDeep(JSON.parse(text)), true, text);
      assert.equal(nestsTooDeep(text), true, text);
    }
  });

  it('JSON that is too deep is cut off, so it can be written and is still too deep', () => {
    const text = `{"good":[1,{"b":2}],"bad":${nested(20_000)}}`;
    assert.throws(() => JSON.stringify(JSON.parse(text)), RangeError);
    const value = parseFlattened(text) as { good: unknown; bad: unknown };
    assert.doesNotThrow(() => JSON.stringify(value));
    assert.deepEqual(value.good, [1, { b: 2 }]);
    assert.ok(isTooDeep(value.bad));
  });

  it('JSON is not cut off if it is not too deep', () => {
    for (const text of [nested(deepestValue), nested(2 * deepestValue)]) {
      assert.equal(JSON.stringify(parseFlattened(text)), text);
    }
  });

  it('JSON with too many lists is refused, and brackets in texts do not count', () => {
    assert.throws(() => parseJson(`[${'[],'.repeat(2_000_001)}1]`), SyntaxError);
    const text = JSON.stringify({ a: '[\\"{'.repeat(900_000), b: '\\' });
    assert.equal(JSON.stringify(parseJson(text)), text);
    assert.throws(() => parseJson(`"${'x'.repeat(5_000_000)}`), SyntaxError);
  });
});
