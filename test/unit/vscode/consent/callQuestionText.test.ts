import assert from 'node:assert/strict';
import { argumentsText } from '../../../../src/vscode/consent/callQuestionText.js';

describe('a question about a call', () => {
  it('shows everything that the call is given', () => {
    assert.equal(argumentsText({ title: undefined, arguments: undefined }), 'The call has no arguments.');
    assert.equal(
      argumentsText({ title: 'Add two numbers', arguments: { a: 1 } }),
      'Add two numbers\n\nArguments:\n{\n  "a": 1\n}',
    );
  });

  it('hides no character, and says how much it leaves out', () => {
    const hidden = argumentsText({ title: undefined, arguments: { path: 'a\u202eb\u200bc' } });
    assert.match(hidden, /a\\u\{202e\}b\\u\{200b\}c/);
    const long = argumentsText({ title: undefined, arguments: { text: 'x'.repeat(5000) + 'END' } });
    assert.match(long, /… \d+ characters are not shown …/);
    assert.match(long, /END/);
    assert.ok(long.length < 2000);
  });
});
