/**
 * A test waits for an event with a limit, and for work without one (test/README.md,
 * `support/core/within.ts`).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript-ast';
import { filesBelow, root } from './modules.js';

/** Mocha runs these folders and has limits for their tests and hooks. */
const folders = ['unit', 'integration', 'adversarial', 'support/core'];
/** Modules with functions that take as long as the machine needs. */
const slowModules = /^esbuild$|\/npm\.mjs$|\/installs\.ts$/;
const slowNames = new Set(['build', 'buildSync', 'npm', 'install', 'runToEnd']);
/** The parts of `support` that stop the limits. */
const works = new Set([
  'work',
  'blockingWork',
  'sharedWork',
  'installOnce',
  'alone',
  'finishWork',
  'workOf',
]);

function calledName({ expression }: ts.CallExpression): string {
  return ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText();
}

function isInWork(node: ts.Node): boolean {
  for (let at = node.parent; at !== undefined; at = at.parent) {
    if (ts.isCallExpression(at) && works.has(calledName(at))) return true;
  }
  return false;
}

/** `file:line text` of each call of a slow function outside work. */
function slowCalls(name: string, text: string): string[] {
  if (!/esbuild|npm|install/.test(text)) return [];
  const tree = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const slow = new Set<string>();
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isImportDeclaration(node) &&
      slowModules.test((node.moduleSpecifier as ts.StringLiteral).text)
    ) {
      const named = node.importClause?.namedBindings;
      const names =
        named && ts.isNamedImports(named)
          ? named.elements.map(({ name: { text: own } }) => own)
          : [];
      for (const own of names) if (slowNames.has(own)) slow.add(own);
    }
    if (ts.isCallExpression(node)) {
      const isOfCommandLine =
        ts.isPropertyAccessExpression(node.expression) && calledName(node) === 'npm';
      if ((slow.has(node.expression.getText()) || isOfCommandLine) && !isInWork(node)) {
        const { line } = tree.getLineAndCharacterOfPosition(node.getStart());
        found.push(`${name}:${line + 1} ${node.getText().slice(0, 60)}`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

describe('work in tests', () => {
  it('Every build and every run of npm stands inside `work`, so that no limit of an event ends it', () => {
    const files = folders.flatMap((folder) => filesBelow(path.join(root, 'test', folder)));
    const found = files.flatMap((file) =>
      slowCalls(path.relative(root, file), readFileSync(file, 'utf8')),
    );
    assert.deepEqual(found, []);
  });

  it('A build outside `work` is found, and one inside is not', () => {
    const text = `import { build } from 'esbuild';
      before(async () => void (await within(build({}), 'the build')));
      before(() => work('the build', () => build({})));
      const made = sharedWork('the build', async () => { await build({}); });
      const packed = cli.finish(cli.npm('npm', []));
      const other = cli.finishWork(cli.npm('npm', []));`;
    const lines = slowCalls('a.ts', text).map((line) => line.split(' ')[0]);
    assert.deepEqual(lines, ['a.ts:2', 'a.ts:5']);
  });
});
