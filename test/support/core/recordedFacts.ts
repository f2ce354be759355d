/** The facts of a record that is JSON Lines. Fails at a line without a fact. */
import assert from 'node:assert/strict';
import { linesOf } from '../../../src/core/base/text.js';
import { parseFacts, type Fact } from '../../../src/core/calls/fact.js';

export function recordedFacts(text: string): Fact[] {
  return linesOf(text).flatMap((line) => {
    const read = parseFacts(line);
    assert.ok(read.length > 0, line);
    return read;
  });
}
