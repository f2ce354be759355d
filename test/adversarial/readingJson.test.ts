/** The time to read JSON from outside, however deep (S2b), beside the time to parse it. */
import assert from 'node:assert/strict';
import { parseFlattened } from '../../src/core/protocol/json.js';
import { threadTime } from '../support/core/threadTime.js';
import { collect } from '../support/heap.js';

const nested = (levels: number): string =>
  '[{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2);

describe('JSON from outside, however deep (S2b)', () => {
  it('reading JSON that is not too deep takes little longer than parsing it', function () {
    this.timeout(120_000);
    // A hostile server can send half a million lists and objects in two megabytes.
    const text = `[${Array.from({ length: 2_400 }, () => nested(200)).join()}]`;
    const taken = (read: (text: string) => unknown): number => {
      collect();
      const before = threadTime();
      read(text);
      return threadTime() - before;
    };
    // Other programs in the caches of the processor slow down parts of the runs.
    const ratio = Math.min(
      ...Array.from(
        { length: 15 },
        () => taken(parseFlattened) / taken((json) => JSON.parse(json)),
      ),
    );
    assert.ok(ratio < 1.5, `${ratio.toFixed(2)} × parsing`);
  });
});
