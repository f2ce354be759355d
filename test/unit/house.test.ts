/**
 * The arrows of the house: the permitted imports between rooms. A room is a folder with source files. A failure names
 * the import to take out. `src/README.md` says what belongs in which room.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import ts from 'typescript-ast';
import { arrows } from './arrows.js';
import { filesBelow, moduleOf, root, type Module } from './modules.js';

/** A smell, not a purpose: longer files are cut by purpose. Tables of data may be longer. */
const mostLines = 600;

const mostDeps = 8;

/** In characters of source text. Each module more delays the start of the editor. */
const mostLoadedByActivate = 419_000;

/** The number of fields that an interface or a type alias declares. */
function membersIn(node: ts.Node): number {
  const own = ts.isInterfaceDeclaration(node) || ts.isTypeLiteralNode(node) ? node.members.length : 0;
  return ts.isInterfaceDeclaration(node)
    ? own
    : own + node.getChildren().reduce((sum, child) => sum + membersIn(child), 0);
}
/** A module this short with one importer costs a reader more than it separates, unless a test needs it free of its importer. */
const shortModule = 45;

/** Short modules with one importer and without a test, and why they are modules. */
const shortModules: Readonly<Record<string, string>> = {
  'src/vscode/commands/toolPermission.ts': 'loaded on demand, because it brings the patterns',
  'src/vscode/views/statusBar.ts': 'a place of the editor of its own, which `extension.ts` only wires',
  'src/core/connections/http/attempt.ts': 'mirrors `stdio/attempt`: one seam for each transport',
};

/** `core/tools`, `vscode/views`; a file of `src` itself is a room of its own. */
function room(file: string): string {
  const [, ...rest] = file.split('/');
  return rest.length === 1 ? (rest[0] ?? '') : rest.slice(0, -1).join('/');
}

/** The first circle found from each node, in the form of a sentence. */
function circles(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (node: string, way: readonly string[]): void => {
    const at = way.indexOf(node);
    if (at >= 0) {
      found.push([...way.slice(at), node].join(' → '));
      return;
    }
    if (done.has(node)) return;
    for (const next of edges.get(node) ?? []) walk(next, [...way, node]);
    done.add(node);
  };
  for (const node of edges.keys()) walk(node, []);
  return found;
}

function graph(pairs: Iterable<readonly [string, string]>): Map<string, Set<string>> {
  const edges = new Map<string, Set<string>>();
  for (const [from, to] of pairs) {
    if (from !== to) edges.set(from, (edges.get(from) ?? new Set()).add(to));
  }
  return edges;
}

const modules = filesBelow(path.join(root, 'src')).map(moduleOf);
const tests = filesBelow(path.join(root, 'test')).map(moduleOf);
const imports = modules.flatMap((module) => module.imports);
const inside = imports.filter(({ to }) => to.startsWith('src/') && to.endsWith('.ts'));

describe('house', () => {
  it('The house has a row for every room, and no row for a missing room', () => {
    assert.deepEqual(Object.keys(arrows).sort(), [...new Set(modules.map(({ file }) => room(file)))].sort());
  });

  it('The house draws only the arrows of src/README.md', () => {
    const wrong = inside
      .map(({ from, to }) => ({ from, to, a: room(from), b: room(to) }))
      .filter(({ a, b }) => a !== b && !arrows[a]?.includes(b))
      .map(({ from, to, a }) => `${from} imports ${to}; ${a} may not.`);
    assert.deepEqual(wrong, []);
  });

  it('The house draws no unused arrow', () => {
    const drawn = graph(inside.map(({ from, to }) => [room(from), room(to)] as const));
    const needless = Object.entries(arrows).flatMap(([a, targets]) =>
      targets.filter((b) => !drawn.get(a)?.has(b)).map((b) => `${a} may import ${b}, and does not.`),
    );
    assert.deepEqual(needless, []);
  });

  it('The house has no circle of rooms', () => {
    assert.deepEqual(circles(graph(inside.map(({ from, to }) => [room(from), room(to)] as const))), []);
  });

  it('The house has no circle of files', () => {
    assert.deepEqual(circles(graph(inside.map(({ from, to }) => [from, to] as const))), []);
  });

  it('The core never imports vscode, not even its types', () => {
    const wrong = imports.filter(({ from, to }) => to === 'vscode' && !/^src\/(extension\.ts|vscode\/)/.test(from));
    assert.deepEqual(
      wrong.map(({ from }) => from),
      [],
    );
  });

  it('Only connections import the MCP SDK at run time, and other rooms import only its types', () => {
    const wrong = imports.filter(
      ({ from, to, typeOnly }) =>
        to.startsWith('@modelcontextprotocol/') && !from.startsWith('src/core/connections/') && !typeOnly,
    );
    assert.deepEqual(
      wrong.map(({ from }) => from),
      [],
    );
  });

  it(`activate loads at most ${mostLoadedByActivate} characters of modules (P1)`, () => {
    const loaded = new Set<string>();
    const load = (file: string): void => {
      if (loaded.has(file)) return;
      loaded.add(file);
      for (const { from, to, typeOnly, isLate } of inside) if (from === file && !typeOnly && !isLate) load(to);
    };
    load('src/extension.ts');
    const sizes = modules.filter(({ file }) => loaded.has(file)).map(({ file, text }) => ({ file, size: text.length }));
    const largest = sizes.sort((a, b) => b.size - a.size).map(({ file, size }) => `${file} ${size}`);
    const sum = sizes.reduce((all, { size }) => all + size, 0);
    assert.ok(sum <= mostLoadedByActivate, [sum, ...largest].join('\n'));
  });

  it('One place makes a host, for the product and the tests alike', () => {
    const root = 'src/core/host/assemble.ts';
    const parts = ['host', 'gatewayBackend'].map((name) => `src/core/host/${name}.ts`);
    const all = [...modules, ...tests].flatMap((module) => module.imports);
    const wrong = all.filter(({ to, from }) => parts.includes(to) && from !== root);
    assert.deepEqual(
      wrong.map(({ from, to }) => `${from} imports ${to}`),
      [],
    );
  });

  it('Only core/base/paths compares paths of different origins', () => {
    const another =
      /realpath(Sync)?\b|\.fsPath (===|!==)|(===|!==) [\w.]+\.fsPath\b|(resolve|normalize)\([^)]*\) (===|!==)/;
    const found = modules
      .filter(({ file }) => file !== 'src/core/base/paths.ts')
      .flatMap(({ file, text }) =>
        text.split('\n').flatMap((line, index) => (another.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [])),
      );
    assert.deepEqual(found, []);
  });

  it('Parts of addresses are encoded and decoded inside a catch, because half a character and a single "%" throw', () => {
    const found = modules.flatMap(({ file, text }) => {
      const wrong: string[] = [];
      const visit = (node: ts.Node, isCaught: boolean): void => {
        if (ts.isIdentifier(node) && /^(en|de)codeURI(Component)?$/.test(node.text) && !isCaught)
          wrong.push(`${file}: ${node.parent.getText()}`);
        const begins = ts.isTryStatement(node) && node.catchClause ? node.tryBlock : undefined;
        ts.forEachChild(node, (child) => visit(child, isCaught || child === begins));
      };
      visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true), false);
      return wrong;
    });
    assert.deepEqual(found, []);
  });

  it('No list is spread into arguments, because some 120,000 elements would end the process', () => {
    const takesEach = /^(push|unshift|splice|max|min|append|replaceChildren)$/;
    const found = modules.flatMap(({ file, text }) => {
      const wrong: string[] = [];
      const visit = (node: ts.Node): void => {
        if (
          ts.isCallExpression(node) &&
          ts.isPropertyAccessExpression(node.expression) &&
          takesEach.test(node.expression.name.text)
        ) {
          for (const given of node.arguments) {
            if (!ts.isSpreadElement(given)) continue;
            const list = ts.isParenthesizedExpression(given.expression)
              ? given.expression.expression
              : given.expression;
            // `...(condition ? [one] : [])` is short.
            if (!ts.isConditionalExpression(list)) wrong.push(`${file}: ${node.getText()}`);
          }
        }
        ts.forEachChild(node, visit);
      };
      visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
      return wrong;
    });
    assert.deepEqual(found, [], 'use a loop');
  });

  it(`gives no part a bag of more than ${mostDeps} dependencies`, () => {
    const large = modules.flatMap(({ file, text }) => {
      const found: string[] = [];
      const visit = (node: ts.Node): void => {
        const isType = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
        if (isType && node.name.text.endsWith('Deps')) {
          const count = membersIn(node);
          if (count > mostDeps) found.push(`${file}: ${node.name.text} has ${count} fields`);
        }
        ts.forEachChild(node, visit);
      };
      visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
      return found;
    });
    assert.deepEqual(large, [], 'pass a record of services whole, or cut the part');
  });

  it('races no promise with a signal, because the listener would stay with all that the promise holds', () => {
    const found = modules.filter(({ text }) => /Promise\.race\([^;]*untilAborted\(/.test(text)).map(({ file }) => file);
    assert.deepEqual(found, [], 'use orAborted');
  });

  it('asks for the storage of the workspace in one place, because windows are given several', () => {
    const found = modules.filter(({ text }) => /\bstorageUri\b/.test(text)).map(({ file }) => file);
    assert.deepEqual(found, ['src/vscode/engine/storageFolder.ts']);
  });

  it(`No file has more than ${mostLines} lines`, () => {
    const long = [...modules, ...tests].filter(({ text }) => text.split('\n').length > mostLines + 1);
    assert.deepEqual(
      long.map(({ file }) => file),
      [],
    );
  });

  it(`has no module of at most ${shortModule} lines with one importer, unless a test imports it or the list has a reason`, () => {
    const importers = new Map<string, Set<string>>();
    for (const { from, to } of inside) importers.set(to, (importers.get(to) ?? new Set()).add(from));
    const tested = new Set(tests.flatMap((test) => test.imports.map(({ to }) => to)));
    const found = modules.filter(
      ({ file, text }) =>
        text.split('\n').length <= shortModule + 1 && importers.get(file)?.size === 1 && !tested.has(file),
    );
    assert.deepEqual(found.map(({ file }) => file).sort(), Object.keys(shortModules).sort());
  });

  it('has no hook of tests outside a suite, where it would run for those of every file', () => {
    const wrong = tests.filter(({ text }) => /^(before|after)(Each)?\(/m.test(text));
    assert.deepEqual(
      wrong.map(({ file }) => file),
      [],
    );
  });

  it('Unit tests mirror src: `<file>.test.ts`, or `<file>.<subject>.test.ts`', () => {
    const sources = new Set(modules.map(({ file }) => file.replace(/^src\/(?:core\/)?(.*)\.ts$/, '$1')));
    // Tests of the repository itself are at the top, and tests of random edits and large files concern all rooms.
    const mirrors = tests.flatMap(
      ({ file }) => /^test\/unit\/((?!stress\/).*\/[^./]+)(?:\.\w+)?\.test\.ts$/.exec(file)?.[1] ?? [],
    );
    assert.ok(mirrors.length > 50);
    assert.deepEqual(
      mirrors.filter((file) => !sources.has(file)),
      [],
    );
  });

  it('No file has an export without a use in another file', () => {
    const taken = (from: readonly Module[]): Set<string> =>
      new Set(
        from.flatMap((module) => module.imports.flatMap(({ to, names }) => names.map((name) => `${to}#${name}`))),
      );
    const bySource = taken(modules);
    const byTests = taken(tests);
    const dead = modules.flatMap(({ file, exports, uses }) =>
      exports
        .filter((name) => {
          if (bySource.has(`${file}#${name}`) || bySource.has(`${file}#*`)) return false;
          // A test may import an export that its file also uses itself.
          return !(byTests.has(`${file}#${name}`) && (uses.get(name) ?? 0) > 1);
        })
        .map((name) => `${file}: ${name}`),
    );
    assert.deepEqual(dead, ['src/extension.ts: activate', 'src/extension.ts: deactivate']);
  });
});
