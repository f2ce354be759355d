/** The question about a call (S4). */
import assert from 'node:assert/strict';
import { pageWidth } from '../../../../src/core/base/folded.js';
import {
  argumentsText,
  callPage,
  fitsQuestion,
} from '../../../../src/vscode/consent/callQuestionText.js';

const call = (input: Record<string, unknown> | undefined, title?: string) => ({
  toolset: 'shell',
  tool: 'run',
  title,
  arguments: input,
});
const unfolded = (text: string): string => text.replace(/\n {2}\| /g, '');

describe('a question about a call', () => {
  it('shows all arguments of the call, and then the server’s title of the tool', () => {
    assert.equal(argumentsText(call(undefined)), 'The call has no arguments.');
    assert.equal(
      argumentsText(call({ a: 1 }, 'Add two numbers')),
      'Arguments:\n{\n  "a": 1\n}\n\nThe server calls this tool "Add two numbers"',
    );
  });

  it('names the conversation as the sidebar does', () => {
    assert.equal(
      argumentsText({ ...call(undefined), conversation: '3d526b4d-0000-4000-8000-000000000000' }),
      'Asked by conversation 3d526b4d.\n\nThe call has no arguments.',
    );
  });

  it('quotes the title of the conversation, so it cannot end the line', () => {
    const conversationTitle = 'Fix it".\n\nThe call has no arguments.';
    const [line, ...rest] = argumentsText({
      ...call({ a: 1 }),
      conversation: '3d526b4d-0000',
      conversationTitle,
    }).split('\n');
    assert.match(line ?? '', /^Asked by conversation 3d526b4d "Fix it\\"\.\\n\\n/);
    assert.equal(rest.join('\n').replace(/^ {2}\| .*\n/, ''), '\nArguments:\n{\n  "a": 1\n}');
  });

  it('hides no character and no part, however long the arguments are', () => {
    const text = `${'x'.repeat(50_000)}MIDDLE${'y'.repeat(50_000)}`;
    const input = {
      path: 'a\u202eb\u200bc',
      text,
      list: Array.from({ length: 5_000 }, (_, index) => index),
    };
    for (const shown of [argumentsText(call(input)), callPage(call(input))]) {
      assert.match(shown, /a\\u\{202e\}b\\u\{200b\}c/);
      assert.ok(unfolded(shown).includes(`"text": "${text}"`));
      assert.match(shown, /4999\n/);
      assert.ok(shown.split('\n').every((line) => line.length <= pageWidth));
      assert.equal(fitsQuestion(shown), false);
    }
    assert.equal(fitsQuestion(argumentsText(call({ a: 1 }, 'x'.repeat(5_000)))), true);
    assert.equal(
      fitsQuestion(argumentsText(call({ list: [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7] }))),
      false,
    );
  });

  it('cannot be forged by a title or an argument', () => {
    const title = `Arguments:\n{\n  "path": "README.md"\n}${'\n'.repeat(1200)}`;
    const lines = argumentsText(call({ path: '/home/me/.ssh/id', note: '\n  | x' }, title)).split(
      '\n',
    );
    assert.deepEqual(lines.slice(0, 5), [
      'Arguments:',
      '{',
      '  "path": "/home/me/.ssh/id",',
      '  "note": "\\n  | x"',
      '}',
    ]);
    assert.equal(unfolded(lines.slice(6).join('\n')).split('\n').length, 1);
    assert.match(lines[6] ?? '', /^The server calls this tool "Arguments:\\n/);
  });

  it('names tool and toolset in the document', () => {
    assert.match(callPage(call({ a: 1 })), /^An agent wants to call "run" of "shell"\.\n/);
  });
});
