/** Finds functions with foreign texts in the source, and watches a run for calls of them. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript-ast';
import { filled, shapes } from './longTexts.js';

const root = path.resolve(__dirname, '../../src');

/** An exported function, or a method of an exported class. */
interface Taking {
  readonly file: string;
  readonly name: string;
  /** The types of the required parameters. */
  readonly parameters: readonly string[];
  /** True for a function with only texts as required parameters. */
  readonly isPlain: boolean;
}

/** Types of foreign texts. */
const foreign =
  /\b(?:string|unknown|Fields|Table|Buffer|Uint8Array|JSONRPC\w+|CallToolResult|ValueNode|MapEntry|MapNode|SketchPath)\b/;

/** Finds functions with a text parameter in the rooms. */
export function takingIn(rooms: readonly string[]): Taking[] {
  return rooms.flatMap((room) =>
    readdirSync(path.join(root, room))
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => takingOf(`${room}/${name}`)),
  );
}

function takingOf(file: string): Taking[] {
  const tree = ts.createSourceFile(
    file,
    readFileSync(path.join(root, file), 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  return tree.statements.filter(isExported).flatMap((statement): Taking[] => {
    if (ts.isFunctionDeclaration(statement)) return taking(file, statement);
    if (!ts.isClassDeclaration(statement)) return [];
    return statement.members.filter(ts.isMethodDeclaration).flatMap((method) => {
      const isPrivate = method.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);
      return isPrivate ? [] : taking(file, method);
    });
  });
}

function isExported(statement: ts.Statement): boolean {
  const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
  return modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
}

function taking(file: string, declared: ts.FunctionDeclaration | ts.MethodDeclaration): Taking[] {
  const types = declared.parameters.map(({ type }) => type?.getText() ?? '');
  if (!types.some((type) => foreign.test(type) && !type.includes('=>'))) return [];
  const needed = declared.parameters.filter(
    ({ initializer, questionToken, dotDotDotToken }) =>
      !initializer && !questionToken && !dotDotDotToken,
  );
  const parameters = needed.map(({ type }) => type?.getText() ?? '');
  const isPlain =
    ts.isFunctionDeclaration(declared) &&
    parameters.every((type) =>
      /^(string|string \| undefined|unknown|number|readonly string\[\])$/.test(type),
    );
  return [{ file, name: declared.name?.getText() ?? '', parameters, isPlain }];
}

/** Gives every parameter of a plain function the text. */
export async function plainReader({
  file,
  name,
  parameters,
}: Taking): Promise<(text: string) => unknown> {
  const module = (await import(path.join(root, file))) as Readonly<
    Record<string, (...given: unknown[]) => unknown>
  >;
  const read = module[name];
  if (!read) throw new Error(`There is no ${name} in ${file}.`);
  return async (text) => {
    try {
      return await read(
        ...parameters.map((type) =>
          type === 'number' ? 1 : type.endsWith('[]') ? [text, text] : text,
        ),
      );
    } catch {
      return undefined; // It refuses the text in time.
    }
  };
}

/** The functions that V8 counted as called while `run` ran, as `<file> <name>`. */
export async function calledBy(run: () => unknown): Promise<ReadonlySet<string>> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await run();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const called = result.flatMap(({ url, functions }) => {
      const file = path.relative(
        root,
        url.startsWith('file:') ? fileURLToPath(url.replace(/\?.*$/, '')) : url,
      );
      const counted = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
      return counted.map(({ functionName }) => `${file} ${functionName}`);
    });
    return new Set(called);
  } finally {
    session.disconnect();
  }
}

/**
 * Fails if a function with a text parameter is neither plain, nor called by a reader, nor named
 * with a reason. Also fails if a name has no function.
 */
export async function assertEachIsFed(
  rooms: readonly string[],
  readers: readonly ((text: string) => unknown)[],
  notFed: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  const named = new Set(Object.values(notFed).flat());
  const found = takingIn(rooms).filter(({ isPlain }) => !isPlain);
  const called = await calledBy(async () => {
    for (const read of readers) for (const shape of shapes) await read(filled(shape, 500));
  });
  const missing = found.filter(
    ({ file, name }) => !named.has(name) && !called.has(`${file} ${name}`),
  );
  assert.deepEqual(
    missing.map(({ file, name }) => `${file} ${name}`),
    [],
    'nobody feeds these',
  );
  const known = new Set(takingIn(rooms).map(({ name }) => name));
  assert.deepEqual(
    [...named].filter((name) => !known.has(name)),
    [],
    'these are gone',
  );
}
