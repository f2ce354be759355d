/**
 * The weight of `src`, in tokens of the syntax tree. Every limit stands at what the code has, and
 * only falls. The limits stand for code that a maintainer reads without unpacking it: do not pack
 * code to meet one.
 */
import assert from 'node:assert/strict';
import { measure } from './measure.js';
import { modules, room } from './modules.js';
import { mostTokens } from './weights.js';

const measured = modules.map(({ file, text }) => ({ file, ...measure(file, text) }));
const functions = measured.flatMap((module) => module.functions);

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

/** The places of the functions above a limit, the largest first. */
function above(limit: number, of: 'lines' | 'branches' | 'parameters'): string[] {
  return functions
    .filter((one) => one[of] > limit)
    .sort((a, b) => b[of] - a[of])
    .map((one) => `${one[of]} ${of}: ${one.place}`);
}

function isAtMost(places: readonly string[], most: number): void {
  assert.ok(places.length <= most, [`${places.length} places:`, ...places].join('\n'));
}

describe('weight', () => {
  it('No room has more tokens than its row, and no row is without a room', () => {
    const found: Record<string, number> = {};
    for (const { file, tokens } of measured) found[room(file)] = (found[room(file)] ?? 0) + tokens;
    assert.deepEqual(Object.keys(mostTokens).sort(), Object.keys(found).sort());
    const heavy = Object.entries(found).filter(
      ([name, tokens]) => tokens > (mostTokens[name] ?? 0),
    );
    assert.deepEqual(heavy, [], 'make the room lighter, or say in the commit what it gained');
  });

  it('A line holds at most 8.53 tokens on average', () => {
    const mean =
      sum(measured.map(({ tokens }) => tokens)) / sum(measured.map(({ codeLines }) => codeLines));
    assert.ok(mean <= 8.53, `${mean}`);
  });

  it('At most 0.6 % of the lines have over 110 characters', () => {
    const share = sum(measured.map(({ wide }) => wide)) / sum(measured.map(({ lines }) => lines));
    assert.ok(share <= 0.006, `${100 * share} %`);
  });

  it('No packed idiom is in the source', () => {
    isAtMost(
      measured.flatMap(({ packed }) => packed),
      34,
    );
  });

  it('At most 6 functions have over 15 branches', () => {
    isAtMost(above(15, 'branches'), 6);
  });

  it('At most 14 functions have over 60 lines', () => {
    isAtMost(above(60, 'lines'), 14);
  });

  it('No function has over 5 parameters', () => {
    isAtMost(above(5, 'parameters'), 0);
  });
});
