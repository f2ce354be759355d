import assert from 'node:assert/strict';
import { plainText } from '../../../../../src/vscode/views/problems/problemTexts.js';

describe('plainText', () => {
  it('shows code, names and commands in one kind of quotation marks, because the view shows no Markdown', () => {
    assert.equal(
      plainText(
        'Unknown key `a` of "b".\nRun “Set Secret…”, or write `args: [\'-y\']`; `*` is any text.',
      ),
      'Unknown key "a" of "b".\nRun "Set Secret…", or write "args: [\'-y\']"; "*" is any text.',
    );
  });
});
