import assert from 'node:assert/strict';
import { defaultTimeouts, durationText, milliseconds } from '../../../src/core/config/durations.js';

describe('durations (C3)', () => {
  it('durations are read as written', () => {
    for (const text of ['250ms', '30s', '10m'])
      assert.equal(durationText(milliseconds(text) ?? 0), text);
    assert.equal(milliseconds('1.5s'), 1500);
    for (const text of ['30', '1h', '-1s', '30  s', ''])
      assert.equal(milliseconds(text), undefined);
  });

  it('durations have the documented defaults', () => {
    assert.deepEqual(
      Object.entries(defaultTimeouts).map(([key, ms]) => `${key} ${durationText(ms)}`),
      ['connect 30s', 'call 30s', 'callMax 10m', 'idle 15m'],
    );
  });
});
