import assert from 'node:assert/strict';
import { lineDifference } from '../../../src/cli/lineDifference.js';

describe('a difference of lines', () => {
  const of = (before: string, after: string): string[] => lineDifference(before, after, 'f').split('\n');

  it('is nothing where nothing differs', () => assert.equal(lineDifference('a\n', 'a\n', 'f'), ''));

  it('shows what goes and what comes, and where', () => {
    assert.deepEqual(of('a\nb\nc\n', 'a\nx\ny\nc\n'), ['--- f', '+++ f', '@@ -2,1 +2,2 @@', '-b', '+x', '+y']);
    assert.deepEqual(of('a\nc\n', 'a\nb\nc\n').slice(2), ['@@ -1,0 +2,1 @@', '+b']);
    assert.deepEqual(of('a\nb\n', 'a\n').slice(2), ['@@ -2,1 +1,0 @@', '-b']);
    assert.deepEqual(of('', 'a\n'), ['--- /dev/null', '+++ f', '@@ -0,0 +1,1 @@', '+a']);
  });

  it('shows nothing of the lines around, and no secret of a line that only moves (E4)', () => {
    const entry = '  "theirs": { "env": { "API_KEY": "canary-5ca1ab1e" } }';
    const before = `{\n  "first": "canary-5ca1ab1e",\n${entry}\n}\n`;
    const shown = of(before, before.replace(entry, `${entry},\n  "ours": { "token": "\${TOKEN}" }`)).join('\n');
    assert.doesNotMatch(shown, /canary|first/);
    assert.match(shown, /"theirs".*•••/);
    assert.match(shown, /^\+ {2}"ours": \{ "token": "\$\{TOKEN\}" \}$/m);
  });
});
