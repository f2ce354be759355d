/** Recognises edits of a half-typed launch (R1a). */
import assert from 'node:assert/strict';
import { launchTypedAt } from '../../../../src/core/config/edit/serverEdits.js';

const before = `version: 1
servers:
  a:
    transport: stdio
    command: one
    tools: { whitelist: [x] }
  b:
    transport: stdio
    command: two
`;

/** `|` is the caret in the new text. */
function typedIn(marked: string): string | undefined {
  return launchTypedAt(before, marked.replace('|', ''), marked.indexOf('|'));
}

describe('a half-typed launch', () => {
  for (const [title, marked, expected] of [
    ['a command at the caret', before.replace('one', 'onet|'), 'a'],
    [
      'a new server at the caret, behind the others',
      `${before}  c:\n    transport: stdio\n    command: n|`,
      'c',
    ],
    [
      'an argument that begins in a new line of the entry',
      before.replace('    tools', '    args: [y]\n|    tools'),
      'a',
    ],
    [
      'a command while the caret is in another entry',
      before.replace('one', 'onet').replace('two', 'two|'),
      undefined,
    ],
    [
      'a command while the caret is above all entries',
      `|${before.replace('one', 'onet')}`,
      undefined,
    ],
    ['a filter', before.replace('[x]', '[x, y|]'), undefined],
    ['another server that was removed', before.replace(/ {2}b:[^]*/, '|'), undefined],
    ['a text that is not YAML', before.replace('one', '[one|'), undefined],
  ] as const) {
    it(`${title}: ${expected === undefined ? 'counts at once' : 'waits'}`, () =>
      assert.equal(typedIn(marked), expected));
  }
});
