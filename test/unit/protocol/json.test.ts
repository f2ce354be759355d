import assert from 'node:assert/strict';
import { deepestValue, flattened, isTooDeep, jsonInBrief, parseJson } from '../../../src/core/protocol/json.js';

const nested = (levels: number): string => '[{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2);

describe('JSON from outside (S2)', () => {
  it('that is nested to the limit is let through, and one level more is too deep', () => {
    assert.equal(isTooDeep(JSON.parse(nested(deepestValue))), false);
    assert.equal(isTooDeep(JSON.parse(`[${nested(deepestValue)}]`)), true);
    assert.equal(isTooDeep('text'), false);
  });

  it('is cut off where it is too deep, so that it can be written again and is still too deep', () => {
    const value = { good: [1, { b: 2 }], bad: JSON.parse(nested(20_000)) as unknown };
    assert.throws(() => JSON.stringify(value), RangeError);
    assert.equal(flattened(value), value);
    assert.doesNotThrow(() => JSON.stringify(value));
    assert.deepEqual(value.good, [1, { b: 2 }]);
    assert.ok(isTooDeep(value.bad));
  });

  it('is not cut off where it is not too deep', () => {
    const text = nested(deepestValue);
    assert.equal(JSON.stringify(flattened(JSON.parse(text))), text);
  });

  it('of more lists than memory has room for is refused; brackets in texts are none', () => {
    assert.throws(() => parseJson(`[${'[],'.repeat(2_000_001)}1]`), SyntaxError);
    const text = JSON.stringify({ a: '[\\"{'.repeat(900_000), b: '\\' });
    assert.equal(JSON.stringify(parseJson(text)), text);
    assert.throws(() => parseJson(`"${'x'.repeat(5_000_000)}`), SyntaxError);
  });

  it('is told to people in brief, whatever its size and depth', () => {
    assert.equal(jsonInBrief({ a: [1, 'b', null, undefined], 'c"': true }, 100), '{"a":[1,"b",null,null],"c\\"":true}');
    assert.equal(jsonInBrief(undefined, 10), 'null');
    assert.ok(jsonInBrief({ ['k'.repeat(1e6)]: 'x'.repeat(1e6) }, 100).length < 250);
    assert.ok(jsonInBrief(JSON.parse(nested(20_000)), 1_000).length < 1_000);
    assert.ok(jsonInBrief(new Array(1e6).fill('x'), 100).length < 120);
  });
});
