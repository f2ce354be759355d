/**
 * Every regular expression in `src` meets long texts that are made of its own pieces (S2h). An
 * expression that looks at a character again and again takes thousands of linear passes, or never
 * ends.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript-ast';
import { likelyCause } from '../../src/core/failures/likelyCause.js';
import { threadTime } from '../support/core/threadTime.js';
import { filled, linearPass } from './longTexts.js';

const root = path.resolve(__dirname, '../../src');

/**
 * Short steps first, because an expression that never ends must fail at a text that it still reads.
 */
const sizes = [30, 50, 75, 100, 125, 150, 175, 200, 250, 300, 1200, 4800, 19_200];
/** The maximum in linear passes over the same text. */
const mostPasses = 400;
const mostTries = 3;
/** A shorter time says nothing about longer texts. In milliseconds. */
const leastTime = 0.05;

/** Reasons to leave an expression out. */
const bounded: Readonly<Record<string, string>> = {
  'core/base/secrets.ts literals': 'It reads valid JSON, in which each quote has its end.',
};

interface Expression {
  readonly file: string;
  readonly name: string;
  readonly written: string;
}

function expressionsIn(file: string): Expression[] {
  const tree = ts.createSourceFile(
    file,
    readFileSync(path.join(root, file), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const found: Expression[] = [];
  const visit = (node: ts.Node, name: string): void => {
    const isNamed =
      ts.isFunctionDeclaration(node) ||
      (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name));
    const inner = isNamed ? (node.name?.getText() ?? name) : name;
    if (ts.isRegularExpressionLiteral(node)) found.push({ file, name: inner, written: node.text });
    ts.forEachChild(node, (child) => visit(child, inner));
  };
  visit(tree, '');
  return found;
}

const common = [
  ...'a0 /.-_:"\'=@*#<[{(~`!|>%\n\\é',
  ...['a.', 'a-', 'a ', 'A_', '0.', 'a/', '/a', 'a:', 'x=', '%41', '](', '\\"', ' \n', 'ab '],
];

/** The literal parts of an expression, and what its neighbours make of them. */
function piecesOf(source: string): { readonly literal: string[]; readonly units: string[] } {
  const bare = source.replace(
    /\\[bBdDsSwW]|\\p\{[^{}]*\}|\[(?:\\.|[^\]\\])*\]|\(\?<?[:=!]|[()|?*+^$.]|\{\d+,?\d*\}/g,
    '\0',
  );
  const parts = bare.replace(/\\(.)/g, '$1').split('\0');
  const literal = [...new Set(parts)].filter((part) => part.length > 0 && part.length < 60);
  const few = literal.slice(0, 8);
  const pairs = few.flatMap((one) => few.flatMap((other) => (one === other ? [] : [one + other])));
  const longer = literal.flatMap((one) => ['', 'a', '0', ' ', '/a'].map((more) => one + more));
  return { literal, units: [...new Set([...common, ...longer, ...pairs])] };
}

function timeOf(expression: RegExp, text: string): number {
  const before = threadTime();
  if (expression.global) text.replace(expression, '');
  else expression.test(text);
  return threadTime() - before;
}

describe('the regular expressions of the source', function () {
  this.timeout(1_800_000);

  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const all = files.map((file) => file.replaceAll(path.sep, '/')).flatMap(expressionsIn);

  it('the reasons name expressions that exist', () => {
    const known = new Set(all.map(({ file, name }) => `${file} ${name}`));
    assert.deepEqual(
      Object.keys(bounded).filter((one) => !known.has(one)),
      [],
    );
  });

  it('every expression reads texts of its own pieces in linear time (S2h)', async () => {
    assert.ok(all.length > 500, 'expressions are found');
    const slow: string[] = [];
    for (const { file, name, written } of all) {
      if (Object.hasOwn(bounded, `${file} ${name}`)) continue;
      const [, source = '', flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(written) ?? [];
      const expression = new RegExp(source, flags);
      const found = await slowText(expression, source);
      if (found !== undefined) slow.push(`${file} ${written.slice(0, 100)}: ${found}`);
    }
    assert.deepEqual(slow, []);
  });

  it('the output of a process, made of pieces of the clues, takes a few passes (S2h)', async () => {
    const sources = all
      .filter(({ file }) => file === 'core/failures/likelyCause.ts')
      .map(({ written }) => written);
    const units = new Set(sources.flatMap((source) => piecesOf(source).units));
    assert.ok(units.size > 500, 'clues are found');
    // 20 passes over a mebibyte are some 100 ms on a machine of 2020.
    const bound = 20 * (await linearPass());
    for (const unit of units) {
      const output = Array<string>(100).fill(filled(unit, 500));
      let took = timeToExplain(output);
      for (let again = 0; took > bound && again < mostTries; again++)
        took = Math.min(took, timeToExplain(output));
      assert.ok(
        took <= bound,
        `${JSON.stringify(unit)} took ${took.toFixed(0)} ms, of ${bound.toFixed(0)} ms`,
      );
    }
  });

  function timeToExplain(output: readonly string[]): number {
    const before = threadTime();
    likelyCause({ code: 1, signal: null }, output);
    return threadTime() - before;
  }

  async function slowText(expression: RegExp, source: string): Promise<string | undefined> {
    const { literal, units } = piecesOf(source);
    for (const before of ['', ...literal.slice(0, 4)]) {
      for (const unit of units) {
        for (const size of sizes) {
          const text = `${before}${filled(unit, size)}\n!`;
          const bound = Math.max(5, mostPasses * (await linearPass(19_200)) * (size / 19_200));
          let took = timeOf(expression, text);
          for (let again = 0; took > bound && again < mostTries; again++) {
            took = Math.min(took, timeOf(expression, text));
          }
          if (took > bound)
            return `${size} characters of ${JSON.stringify([before, unit])} took ${took.toFixed(1)} ms`;
          if (size >= 1200 && took < leastTime) break;
        }
      }
    }
    return undefined;
  }
});
