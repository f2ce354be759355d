/**
 * The modules that may change files (S1c). A repository can have links in every folder, and a write
 * through a link lands outside. So only `core/files/realFiles` writes files of a workspace. Through
 * the editor, only `vscode/authoring/fileEdits` does, and it asks `realFiles` first. Every other
 * module that changes a file is listed here with a reason.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript-ast';

const src = path.resolve(__dirname, '../../src');

/** The parts of `node:fs` that only read. All other parts can change a file. */
const readers = new Set([
  'closeSync',
  'constants',
  'existsSync',
  'fstatSync',
  'lstat',
  'lstatSync',
  'readFile',
  'readFileSync',
  'readSync',
  'readdir',
  'readdirSync',
  'readlinkSync',
  'realpath',
  'realpathSync',
  'stat',
  'statSync',
  'watch',
]);

const allowed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'cli/cassetteCommands.ts': { createWriteStream: 'It adds to a cassette that a person names.' },
  'cli/sandboxLimits.ts': {
    'unlink writeFile':
      'It makes a new file in the private folder of the token file, and removes it.',
  },
  'core/processes/namedPipes.ts': {
    'mkdtempSync openSync rmSync':
      'It makes a folder of its own for temporary files, and removes it.',
  },
  'cli/terminalQuestion.ts': { openSync: 'It opens the terminal of the person.' },
  'core/files/realFiles.ts': {
    'ftruncateSync mkdirSync openSync writeSync':
      'The writer: it looks where links lead, before and after it opens.',
  },
  'core/base/privateFile.ts': {
    'access mkdir rename rm unlink writeFile':
      'It makes a new file beside and renames it, which follows no link at its end, or removes it.',
  },
  'core/files/callFile.ts': { rm: 'It removes private files in the home folder.' },
  'core/files/callWriter.ts': { open: 'It extends private files in the home folder.' },
  'cli/callsCommand.ts': { link: 'It puts a private file in its place.' },
  'core/files/fileLock.ts': {
    'open unlink writeFile':
      'It makes and removes a lock beside a private file in the home folder.',
  },
  'core/files/tokenFile.ts': { 'link rename': 'It puts a private file in its place.' },
  'core/files/addressFile.ts': { unlink: 'To remove a link removes nothing else.' },
  'core/results/diskArtifacts.ts': {
    'mkdir rename rm writeFile':
      'It writes to the storage of the editor, to new files alone, and removes files there.',
  },
  'core/approval/offerTexts.ts': { rm: 'It removes files in the storage of the editor.' },
  'core/remembered/offerFiles.ts': { rm: 'It removes files in the storage of the editor.' },
  'core/base/textFile.ts': { 'open openSync': 'It opens files to read them.' },
  'core/processes/program.ts': {
    'accessSync openSync': 'It asks whether a program may be run, and reads the beginning of it.',
  },
  'vscode/authoring/fileEdits.ts': {
    'applyEdit save': 'The writer of the editor: it asks where links lead, before and after.',
  },
  'vscode/minds/agentFiles.ts': {
    'workspace.fs': 'It asks where links lead, and has the editor write.',
  },
  'vscode/authoring/authoring.ts': {
    'WorkspaceEdit createFile':
      'It makes the edits that `fileEdits` and quick fixes apply. It asks where links lead to a new file, and leaves one that is there.',
  },
};

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const full = path.join(folder, entry.name);
    return entry.isDirectory() ? sources(full) : /\.[cm]?tsx?$/.test(entry.name) ? [full] : [];
  });
}

/** A module's ways to change a file. */
function writersIn(file: string, text: string): string[] {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found = new Set<string>();
  const isFs = (node: ts.Node | undefined): boolean =>
    node !== undefined &&
    ts.isStringLiteralLike(node) &&
    /^(node:)?fs(\/promises)?$/.test(node.text);
  const visit = (node: ts.Node): void => {
    if (
      ts.isImportDeclaration(node) &&
      isFs(node.moduleSpecifier) &&
      !node.importClause?.isTypeOnly
    ) {
      const named = node.importClause?.namedBindings;
      if (named && ts.isNamedImports(named) && !node.importClause.name) {
        for (const each of named.elements) {
          const { text } = each.propertyName ?? each.name;
          if (!each.isTypeOnly && !readers.has(text)) found.add(text);
        }
      } else found.add('all of node:fs');
    }
    if (ts.isExportDeclaration(node) && isFs(node.moduleSpecifier)) found.add('all of node:fs');
    if (ts.isCallExpression(node)) {
      const called = node.expression;
      const isLoaded =
        called.kind === ts.SyntaxKind.ImportKeyword || called.getText(tree) === 'require';
      if (isLoaded && isFs(node.arguments[0])) found.add('all of node:fs');
      // The save of a document. No other call named save without arguments exists here.
      if (
        ts.isPropertyAccessExpression(called) &&
        called.name.text === 'save' &&
        node.arguments.length === 0
      )
        found.add('save');
    }
    if (ts.isPropertyAccessExpression(node)) {
      const { text: name } = node.name;
      if (
        [
          'applyEdit',
          'saveAll',
          'saveAs',
          'WorkspaceEdit',
          'createFile',
          'renameFile',
          'deleteFile',
        ].includes(name)
      )
        found.add(name);
      const whole = node.getText(tree).replace(/\s|\?/g, '');
      if (/\bworkspace\.fs$/.test(whole) && !isReading(node)) found.add('workspace.fs');
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return [...found].sort((a, b) => (a < b ? -1 : 1));
}

/** `vscode.workspace.fs.readFile(…)` and the like. */
function isReading({ parent }: ts.Node): boolean {
  return (
    ts.isPropertyAccessExpression(parent) &&
    ['readFile', 'readDirectory', 'stat'].includes(parent.name.text)
  );
}

describe('modules that may change files (S1c)', () => {
  it('Only the listed modules change files', () => {
    const found = Object.fromEntries(
      sources(src).flatMap((full) => {
        const file = path.relative(src, full).split(path.sep).join('/');
        const writers = writersIn(file, readFileSync(full, 'utf8'));
        return writers.length === 0 ? [] : [[file, writers.join(' ')]];
      }),
    );
    const expected = Object.fromEntries(
      Object.entries(allowed).map(([file, ways]) => [file, Object.keys(ways)[0]]),
    );
    assert.deepEqual(found, expected);
  });

  for (const [what, text] of [
    ['a namespace', `import * as fs from 'node:fs';`],
    ['a default', `import fs from 'fs';`],
    ['another name', `import { writeFileSync as put } from 'node:fs';`],
    ['promises', `import { appendFile } from 'node:fs/promises';`],
    ['a late import', `const { writeFile } = await import('node:fs/promises');`],
    ['require', `const fs = require('fs');`],
    ['passing it on', `export * from 'node:fs';`],
    ['the editor’s file system', `await vscode.workspace.fs.delete(uri);`],
    [
      'the editor’s file system under another name',
      `const { fs } = vscode; const disk = vscode.workspace.fs;`,
    ],
    ['an edit', `void workspace.applyEdit(edit);`],
    ['saving', `await (await openTextDocument(file)).save();`],
  ] as const) {
    it(`The search finds ${what}`, () => assert.notDeepEqual(writersIn('x.ts', text), []));
  }

  it('The search ignores calls that only read', () => {
    const text = `import { readFileSync, type Stats } from 'node:fs'; vscode.workspace.fs.readFile(uri); log.save(origin, content);`;
    assert.deepEqual(writersIn('x.ts', text), []);
  });
});
