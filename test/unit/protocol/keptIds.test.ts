import assert from 'node:assert/strict';
import { isKeptId } from '../../../src/core/protocol/keptIds.js';

describe('names from the other side', () => {
  it('A name is kept if it is a text too short to fill a message (S2)', () => {
    for (const kept of ['x', 'a b', 'x'.repeat(1_024)]) assert.ok(isKeptId(kept));
    for (const other of ['', 'x'.repeat(1_025), 5, null, undefined, {}]) assert.ok(!isKeptId(other));
  });
});
