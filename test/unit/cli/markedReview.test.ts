/** A review at a terminal marks what changed (S1f), as a comparison in the editor does. */
import assert from 'node:assert/strict';
import { markedReview } from '../../../src/cli/markedReview.js';

const text = (lines: readonly string[]): string => lines.join('\n');

/** Takes one side out of a marked text. */
const side = (marked: string, gone: '+' | '-'): string =>
  text(
    marked
      .split('\n')
      .filter((line) => !line.startsWith(gone))
      .map((line) => line.slice(2)),
  );

describe('the marks of a review', () => {
  it('A review without an earlier text has no marks', () => {
    assert.equal(markedReview({ now: 'a\nb', before: undefined }), 'a\nb');
  });

  const cases: readonly (readonly [string, string[], string[], string[]])[] = [
    ['one line', ['a', 'b', 'c'], ['a', 'B', 'c'], ['  a', '- b', '+ B', '  c']],
    ['a line more', ['a', 'c'], ['a', 'b', 'c'], ['  a', '+ b', '  c']],
    ['a line less', ['a', 'b', 'c'], ['a', 'c'], ['  a', '- b', '  c']],
    [
      'the first and the last line',
      ['a', 'b', 'c'],
      ['A', 'b', 'C'],
      ['- a', '+ A', '  b', '- c', '+ C'],
    ],
    ['nothing', ['a', ''], ['a', ''], ['  a', '  ']],
    [
      'a line that another server has too',
      ['x', '-y', 'q', '', 'z', '-y'],
      ['x', 'q', '', 'z', '-y'],
      ['  x', '- -y', '  q', '  ', '  z', '  -y'],
    ],
    ['all lines', ['a'], ['b', 'c'], ['- a', '+ b', '+ c']],
  ];
  for (const [what, before, now, marked] of cases)
    it(`A review marks ${what}`, () => {
      assert.deepEqual(markedReview({ before: text(before), now: text(now) }).split('\n'), marked);
    });

  it('Foreign lines that look like marks do not pass for marks', () => {
    const marked = markedReview({ before: '- a\n+ b', now: '- a\n+ c' });
    assert.deepEqual(marked.split('\n'), ['  - a', '- + b', '+ + c']);
  });

  it('Both texts are whole in the marked one, also if they are too long to compare', () => {
    for (const length of [10, 300, 3000]) {
      const lines = Array.from({ length }, (_, n) => `line ${n % 7}`);
      const before = text(lines);
      const now = text(['first', ...lines.filter((_, n) => n % 5 !== 0), 'last']);
      const marked = markedReview({ before, now });
      assert.equal(side(marked, '+'), before);
      assert.equal(side(marked, '-'), now);
    }
  });
});
