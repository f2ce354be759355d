/**
 * The modules of the repository in the view of the compiler: the imports, exports and uses of each.
 * `typescript-ast` is TypeScript 5.9, because the compiler of version 7 that checks the types has
 * no library.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript-ast';

export const root = path.resolve(__dirname, '../..');

interface Import {
  readonly from: string;
  /** A path below `src` or `test`, or the name of a package. */
  readonly to: string;
  readonly typeOnly: boolean;
  /** True for `import()`, which loads the module when it runs. */
  readonly isLate: boolean;
  /** The imported names, or `*` for everything. */
  readonly names: readonly string[];
}

export interface Module {
  readonly file: string;
  readonly text: string;
  readonly imports: readonly Import[];
  readonly exports: readonly string[];
  /** The number of occurrences of each identifier in the file. */
  readonly uses: ReadonlyMap<string, number>;
}

export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'workspaces' ? [] : filesBelow(full);
    return entry.name.endsWith('.ts') ? [full] : [];
  });
}

const relative = (file: string): string => path.relative(root, file).split(path.sep).join('/');

export function moduleOf(full: string): Module {
  const file = relative(full);
  const text = readFileSync(full, 'utf8');
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const imports: Import[] = [];
  const exports: string[] = [];
  const uses = new Map<string, number>();
  const imported = (
    specifier: ts.Node,
    typeOnly: boolean,
    names: readonly string[],
    isLate = false,
  ): void => {
    if (!ts.isStringLiteral(specifier)) return;
    const to = specifier.text.startsWith('.')
      ? relative(path.resolve(path.dirname(full), specifier.text.replace(/\.js$/, '.ts')))
      : specifier.text;
    imports.push({ from: file, to, typeOnly, isLate, names });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) uses.set(node.text, (uses.get(node.text) ?? 0) + 1);
    if (ts.isImportDeclaration(node)) {
      const { importClause: clause } = node;
      const named = clause?.namedBindings;
      const names =
        named && ts.isNamedImports(named)
          ? named.elements.map((one) => (one.propertyName ?? one.name).text)
          : ['*'];
      imported(node.moduleSpecifier, clause?.isTypeOnly ?? false, names);
    } else if (ts.isExportDeclaration(node) && node.moduleSpecifier) {
      imported(node.moduleSpecifier, node.isTypeOnly, ['*']);
    } else if (
      ts.isCallExpression(node) &&
      node.expression.kind === ts.SyntaxKind.ImportKeyword &&
      node.arguments[0]
    ) {
      imported(node.arguments[0], false, ['*'], true);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      imported(node.argument.literal, true, ['*']);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  for (const statement of tree.statements) {
    if (!ts.canHaveModifiers(statement)) continue;
    if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword))
      continue;
    if (ts.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations)
        if (ts.isIdentifier(name)) exports.push(name.text);
    } else if ('name' in statement && statement.name)
      exports.push((statement.name as ts.Identifier).text);
  }
  return { file, text, imports, exports, uses };
}

/** The modules of `src`. */
export const modules: readonly Module[] = filesBelow(path.join(root, 'src')).map(moduleOf);

/** `core/tools`, `vscode/views`; a file of `src` itself is a room of its own. */
export function room(file: string): string {
  const [, ...rest] = file.split('/');
  return rest.length === 1 ? (rest[0] ?? '') : rest.slice(0, -1).join('/');
}
