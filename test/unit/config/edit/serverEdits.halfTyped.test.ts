/** Recognises edits of a half-typed launch (R1a). */
import assert from 'node:assert/strict';
import { changesLaunchAt } from '../../../../src/core/config/edit/serverEdits.js';

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
function isHeld(marked: string): boolean {
  return changesLaunchAt(before, marked.replace('|', ''), marked.indexOf('|'));
}

describe('a half-typed launch', () => {
  for (const [title, marked, expected] of [
    ['a command at the caret', before.replace('one', 'onet|'), true],
    [
      'a new server at the caret, behind the others',
      `${before}  c:\n    transport: stdio\n    command: n|`,
      true,
    ],
    [
      'an argument that begins in a new line of the entry',
      before.replace('    tools', '    args: [y]\n|    tools'),
      true,
    ],
    [
      'a command while the caret is in another entry',
      before.replace('one', 'onet').replace('two', 'two|'),
      false,
    ],
    ['a command while the caret is above all entries', `|${before.replace('one', 'onet')}`, false],
    ['a filter', before.replace('[x]', '[x, y|]'), false],
    ['another server that was removed', before.replace(/ {2}b:[^]*/, '|'), false],
    ['a text that is not YAML', before.replace('one', '[one|'), false],
  ] as const) {
    it(`${title}: ${expected ? 'waits' : 'counts at once'}`, () =>
      assert.equal(isHeld(marked), expected));
  }
});
