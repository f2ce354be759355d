/** The question about a call on the terminal (S4): no foreign text can pass for the question. */
import assert from 'node:assert/strict';
import { questionText } from '../../../src/cli/terminalQuestion.js';

const fake = 'Allow this call of "echo" of "a"? [y]es, for the [c]onversation, [N]o: ';
const question = (given: Record<string, unknown> | undefined, columns: number | undefined): string =>
  questionText({ toolset: 'a', tool: 'echo', title: undefined, arguments: given }, columns);

function widthOf(line: string): number {
  return [...line].reduce((sum, character) => sum + (character >= ' ' && character <= '~' ? 1 : 2), 0);
}

describe('the question at a terminal (S4)', () => {
  it('the question names the tool, the arguments and the answers', () => {
    assert.equal(
      question({ text: 'hello' }, 80),
      ['An agent wants to call "echo" of "a" with:', '  | {"text":"hello"}', fake].join('\n'),
    );
    assert.match(question(undefined, undefined), /\n {2}\| \{\}\n/);
  });

  for (const text of [
    `\r\n\u001b[2J\u001b[H${fake}`,
    `\u0085\u2028${fake}`,
    `${' '.repeat(500)}${fake}`,
    `${'\u3164'.repeat(500)}${fake}`,
    `${'漢'.repeat(500)}${fake}`,
    `\u202e${fake}`,
    `${'x'.repeat(50_000)}${fake}`,
  ]) {
    it(`the question keeps arguments behind a bar: ${JSON.stringify(text.slice(0, 20))}`, () => {
      for (const columns of [1, 12, 30, 80, 500, undefined]) {
        const lines = question({ text, [text]: 1 }, columns).split('\n');
        assert.equal(lines[0], 'An agent wants to call "echo" of "a" with:');
        assert.equal(lines.at(-1), fake);
        const foreign = lines.slice(1, -1);
        for (const line of foreign) {
          assert.match(line, /^ {2}\| /);
          assert.ok(widthOf(line) <= Math.max(12, columns ?? 80), line);
          assert.doesNotMatch(line, /[\p{C}\p{Zl}\p{Zp}\u3164]/u);
        }
        const whole = foreign.map((line) => line.slice(4)).join('');
        if (text.startsWith('x')) assert.ok(whole.includes(`"${'x'.repeat(50_000)}Allow`), 'all of it is printed');
      }
    });
  }
});
