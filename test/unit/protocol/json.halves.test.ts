import assert from 'node:assert/strict';
import fc from 'fast-check';
import { atOnce } from '../../../src/core/base/turns.js';
import { parsedInSlices, parseFlattened, parseJson } from '../../../src/core/protocol/json.js';

const wellFormed = (value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.toWellFormed(), wellFormed(inner)]),
  );
};
const units = fc
  .array(fc.constantFrom('\ud83d', '\ude80', '\\', '"', 'u', 'd83d', '\n', 'a'), { maxLength: 12 })
  .map((parts) => parts.join(''));
/** As writers do that know only ASCII. */
const escaped = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);

describe('half of a surrogate pair in JSON from outside (V1c)', () => {
  it('half of a surrogate pair becomes U+FFFD in texts and keys, and a pair stays', () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(units, units)), (value) => {
        const json = escaped(JSON.stringify(value));
        for (const read of [parseJson, parseFlattened])
          for (const text of [json, json.replaceAll('\\ud', '\\uD')])
            assert.deepEqual(read(text), wellFormed(JSON.parse(text)));
      }),
    );
  });

  it('a long text is read in the same way in slices, wherever a slice ends in a pair', () => {
    const long = '\\ud83d\\ude80'.repeat(10_000);
    for (let shift = 0; shift < 12; shift++) {
      const text = `{"${'x'.repeat(shift)}\\ude80":["${'y'.repeat(shift)}${long}\\ud83d","\\\\ud83d"]}`;
      const value = atOnce(parsedInSlices(text));
      assert.deepEqual(value, wellFormed(JSON.parse(text)));
      assert.deepEqual(value, parseJson(text));
    }
  });
});
