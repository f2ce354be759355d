/**
 * The arrows of the house: the permitted imports between rooms. A room is a folder with source
 * files. A failure names the import to take out. `src/README.md` says what belongs in which room.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import ts from 'typescript-ast';
import { arrows } from './arrows.js';
import { measure } from './measure.js';
import { filesBelow, moduleOf, modules, room, root, type Module } from './modules.js';

/** With the members that an interface takes from others. */
const mostDeps = 10;

/** The bags that are larger. The list only gets shorter. */
const largeDeps: readonly string[] = [];

/** In tokens of source text. Each module more delays the start of the editor. */
const mostLoadedByActivate = 71_800;

/** The number of members that an interface or a type alias declares or takes from others. */
function membersIn(node: ts.Node, module: Module): number {
  if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node)) {
    const name = ts.isTypeReferenceNode(node) ? node.typeName : node.expression;
    return ts.isIdentifier(name) ? membersOf(name.text, module) : 0;
  }
  if (ts.isIntersectionTypeNode(node))
    return node.types.reduce((count, type) => count + membersIn(type, module), 0);
  if (ts.isTypeAliasDeclaration(node)) return membersIn(node.type, module);
  if (ts.isTypeLiteralNode(node)) return node.members.length;
  if (!ts.isInterfaceDeclaration(node)) return 0;
  const inherited = (node.heritageClauses ?? []).flatMap(({ types }) => types);
  return (
    node.members.length + inherited.reduce((count, type) => count + membersIn(type, module), 0)
  );
}

/** The number of members of the type that a module declares or imports under a name. */
function membersOf(name: string, module: Module): number {
  const own = typesOf(module).get(name);
  if (own) return membersIn(own, module);
  const from = module.imports.find(({ names }) => names.includes(name))?.to;
  const other = modules.find(({ file }) => file === from);
  return other ? membersOf(name, other) : 0;
}

function typesOf({ file, text }: Module): Map<string, ts.Node> {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  return new Map(
    tree.statements.flatMap((node) =>
      ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)
        ? [[node.name.text, node] as const]
        : [],
    ),
  );
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

const tests = filesBelow(path.join(root, 'test')).map(moduleOf);
const imports = modules.flatMap((module) => module.imports);
const inside = imports.filter(({ to }) => to.startsWith('src/') && to.endsWith('.ts'));

describe('house', () => {
  it('The house has a row for every room, and no row for a missing room', () => {
    assert.deepEqual(
      Object.keys(arrows).sort(),
      [...new Set(modules.map(({ file }) => room(file)))].sort(),
    );
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
      targets
        .filter((b) => !drawn.get(a)?.has(b))
        .map((b) => `${a} may import ${b}, and does not.`),
    );
    assert.deepEqual(needless, []);
  });

  it('The house has no circle of rooms', () => {
    assert.deepEqual(
      circles(graph(inside.map(({ from, to }) => [room(from), room(to)] as const))),
      [],
    );
  });

  it('The house has no circle of files', () => {
    assert.deepEqual(circles(graph(inside.map(({ from, to }) => [from, to] as const))), []);
  });

  it('The core never imports vscode, not even its types', () => {
    const wrong = imports.filter(
      ({ from, to }) => to === 'vscode' && !/^src\/(extension\.ts|vscode\/)/.test(from),
    );
    assert.deepEqual(
      wrong.map(({ from }) => from),
      [],
    );
  });

  it('Only connections import the MCP SDK at run time, and other rooms import only its types', () => {
    const wrong = imports.filter(
      ({ from, to, typeOnly }) =>
        to.startsWith('@modelcontextprotocol/') &&
        !from.startsWith('src/core/connections/') &&
        !typeOnly,
    );
    assert.deepEqual(
      wrong.map(({ from }) => from),
      [],
    );
  });

  it(`activate loads at most ${mostLoadedByActivate} tokens of modules (P1)`, () => {
    const loaded = new Set<string>();
    const load = (file: string): void => {
      if (loaded.has(file)) return;
      loaded.add(file);
      for (const { from, to, typeOnly, isLate } of inside)
        if (from === file && !typeOnly && !isLate) load(to);
    };
    load('src/extension.ts');
    const sizes = modules
      .filter(({ file }) => loaded.has(file))
      .map(({ file, text }) => ({ file, size: measure(file, text).tokens }));
    const largest = sizes
      .sort((a, b) => b.size - a.size)
      .map(({ file, size }) => `${file} ${size}`);
    const sum = sizes.reduce((all, { size }) => all + size, 0);
    assert.ok(sum <= mostLoadedByActivate, [sum, ...largest].join('\n'));
  });

  it('One place makes a host, for the product and the tests alike', () => {
    const root = 'src/core/assembly/assemble.ts';
    const parts = ['src/core/host/host.ts', 'src/core/calling/gatewayBackend.ts'];
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
        text
          .split('\n')
          .flatMap((line, index) =>
            another.test(line) ? [`${file}:${index + 1} ${line.trim()}`] : [],
          ),
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
        const catches = ts.isCallExpression(node) && node.expression.getText() === 'unlessThrown';
        ts.forEachChild(node, (child) => visit(child, isCaught || catches || child === begins));
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
    const large = modules.flatMap((module) =>
      [...typesOf(module).keys()]
        .filter((name) => name.endsWith('Deps'))
        .map((name) => ({ name, count: membersOf(name, module) }))
        .filter(({ count }) => count > mostDeps)
        .map(({ name, count }) => `${module.file}: ${name} has ${count} members`),
    );
    assert.deepEqual(large, largeDeps, 'pass a record of services whole, or cut the part');
  });

  it('races no promise with a signal, because the listener would stay with all that the promise holds', () => {
    const found = modules
      .filter(({ text }) => /Promise\.race\([^;]*untilAborted\(/.test(text))
      .map(({ file }) => file);
    assert.deepEqual(found, [], 'use orAborted');
  });

  it('asks for the storage of the workspace in one place, because windows are given several', () => {
    const found = modules.filter(({ text }) => /\bstorageUri\b/.test(text)).map(({ file }) => file);
    assert.deepEqual(found, ['src/vscode/engine/storageFolder.ts']);
  });

  it('has no hook of tests outside a suite, where it would run for those of every file', () => {
    const wrong = tests.filter(({ text }) => /^(before|after)(Each)?\(/m.test(text));
    assert.deepEqual(
      wrong.map(({ file }) => file),
      [],
    );
  });

  it('Unit tests mirror src: `<file>.test.ts`, or `<file>.<subject>.test.ts`', () => {
    const sources = new Set(
      modules.map(({ file }) => file.replace(/^src\/(?:core\/)?(.*)\.ts$/, '$1')),
    );
    // Tests of the repository itself are at the top, and tests of random edits concern all rooms.
    const mirrors = tests.flatMap(
      ({ file }) =>
        /^test\/unit\/((?!stress\/).*\/[^./]+)(?:\.\w+)?\.test\.ts$/.exec(file)?.[1] ?? [],
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
        from.flatMap((module) =>
          module.imports.flatMap(({ to, names }) => names.map((name) => `${to}#${name}`)),
        ),
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
