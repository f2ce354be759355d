/**
 * The questions on the terminal (S1l, S4b): no foreign text can pass for a question, or push it out
 * of sight.
 */
import assert from 'node:assert/strict';
import { agreementPages, callPages } from '../../../src/cli/terminalQuestion.js';

const fake = 'Allow this call of "echo" of "a"? [y]es, for the [c]onversation, [N]o: ';
const pages = (
  given: Record<string, unknown> | undefined,
  columns: number,
  rows = Infinity,
): string[] =>
  callPages({ toolset: 'a', tool: 'echo', title: undefined, arguments: given }, { columns, rows });

function widthOf(line: string): number {
  return [...line].reduce((sum, character) => sum + (/[ -~…]/.test(character) ? 1 : 2), 0);
}

function rowsOf(page: string, columns: number): number {
  return page.split('\n').reduce((sum, line) => sum + (Math.ceil(widthOf(line) / columns) || 1), 0);
}

const foreignTexts = [
  `\r\n\u001b[2J\u001b[H${fake}`,
  `\u0085\u2028${fake}`,
  `${' '.repeat(500)}${fake}`,
  `${'\u3164'.repeat(500)}${fake}`,
  `${'漢'.repeat(500)}${fake}`,
  `\u202e${fake}`,
  `${'x'.repeat(50_000)}${fake}`,
];

describe('questions at a terminal (S1l, S4b)', () => {
  it('the question about a call names the tool, the arguments and the answers', () => {
    assert.deepEqual(pages({ text: 'hello' }, 80, 24), [
      ['An agent wants to call "echo" of "a" with:', '  | {"text":"hello"}', fake].join('\n'),
    ]);
    assert.match(pages(undefined, 80)[0] ?? '', /\n {2}\| \{\}\n/);
  });

  for (const text of foreignTexts) {
    it(`the question about a call keeps arguments behind a bar: ${JSON.stringify(text.slice(0, 20))}`, () => {
      for (const columns of [12, 30, 80, 500]) {
        const [page = '', ...others] = pages({ text, [text]: 1 }, columns);
        const lines = page.split('\n');
        assert.deepEqual(others, []);
        assert.equal(lines[0], 'An agent wants to call "echo" of "a" with:');
        assert.equal(lines.at(-1), fake);
        const foreign = lines.slice(1, -1);
        for (const line of foreign) {
          assert.match(line, /^ {2}\| /);
          assert.ok(widthOf(line) <= columns, line);
          assert.doesNotMatch(line, /[\p{C}\p{Zl}\p{Zp}\u3164]/u);
        }
        const whole = foreign.map((line) => line.slice(4)).join('');
        if (text.startsWith('x'))
          assert.ok(whole.includes(`"${'x'.repeat(50_000)}Allow`), 'all of it is printed');
      }
    });

    it(`each page fits on its screen, and the last one repeats the subject: ${JSON.stringify(text.slice(0, 20))}`, () => {
      for (const [columns, rows] of [
        [40, 12],
        [80, 24],
        [200, 60],
      ] as const) {
        const called = pages({ text, [text]: 1 }, columns, rows);
        const about = [`a: node ${text}`, 'b: npx x', `c: ${text}`, `d: node ${'\n'.repeat(500)}`];
        const review = about.map((line) => `  ${line.replaceAll('\n', ' ')}`).join('\n');
        const agreed = agreementPages(
          { review, about, question: 'Let these 4 servers start?' },
          { columns, rows },
        );
        for (const page of [...called, ...agreed]) assert.ok(rowsOf(page, columns) <= rows, page);
        const [call = '', start = ''] = [called.at(-1), agreed.at(-1)];
        assert.match(call, /^An agent wants to call "echo" of "a" with:\n {2}\| \{"text":"/);
        assert.ok(call.endsWith(`\n${fake}`));
        for (const name of ['a: node', 'b: npx x', 'c:', 'd: node'])
          assert.ok(`\n${start}`.includes(`\n  | ${name}`), start);
        assert.match(start, /^Let these 4 servers start\? \[y\]es, \[N\]o: $/m);
        assert.equal(start.match(/^\S/gm)?.length, 1, 'no foreign text begins a line');
      }
    });
  }

  it('the pages before a question hold the whole review', () => {
    const review = Array.from({ length: 200 }, (_, index) => `line ${index}`).join('\n');
    const all = agreementPages(
      { review, about: ['a: node x'], question: 'Let "a" start?' },
      { columns: 80, rows: 24 },
    );
    assert.equal(all.slice(0, -1).join('\n'), review);
    assert.equal(all.at(-1), '  | a: node x\nLet "a" start? [y]es, [N]o: ');
  });
});
