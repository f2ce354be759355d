import assert from 'node:assert/strict';
import { isKeptId } from '../../../src/core/protocol/versions.js';

describe('ids that the other side chooses', () => {
  it('ids are kept if they are texts of a moderate length (S2)', () => {
    for (const kept of ['x', 'a b', 'x'.repeat(1_024)]) assert.ok(isKeptId(kept));
    for (const other of ['', 'x'.repeat(1_025), 5, null, undefined, {}])
      assert.ok(!isKeptId(other));
  });
});
