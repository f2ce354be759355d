import assert from 'node:assert/strict';
import { exclusionWord, hasTick } from '../../../src/core/tools/exclusion.js';
import type { ExclusionReason } from '../../../src/core/tools/catalogue.js';

describe('words for excluded tools', () => {
  const rows: readonly (readonly [ExclusionReason, string, boolean])[] = [
    [{ kind: 'blacklist', pattern: 'x' }, 'kept out', true],
    [{ kind: 'whitelist' }, 'kept out', true],
    [{ kind: 'denied', pattern: 'x', published: 'x' }, 'kept out', true],
    [{ kind: 'changed', parts: ['new'] }, 'kept out', false],
    [{ kind: 'schema', detail: 'd' }, 'left out', false],
    [{ kind: 'nameReserved', published: 'x' }, 'left out', false],
    [{ kind: 'listedTwice' }, 'left out', false],
  ];
  for (const [reason, word, ticks] of rows) {
    it(`a tool with the reason ${reason.kind} is ${word}`, () => {
      assert.equal(exclusionWord(reason), word);
      assert.equal(hasTick({ original: 'x', reason }), ticks);
    });
  }

  it('a tick cannot publish a tool whose name would be a pattern', () => {
    assert.equal(hasTick({ original: 'x*', reason: { kind: 'whitelist' } }), false);
  });
});
