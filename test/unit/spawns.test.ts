/**
 * The modules that start programs (X1b). What npm adds to an environment reaches no program,
 * because `assemble` and the command line take it out. So only these modules start programs, each
 * with an environment that went through there.
 */
import assert from 'node:assert/strict';
import ts from 'typescript-ast';
import { modules } from './modules.js';

const starters: Readonly<Record<string, string>> = {
  'src/core/processes/processTree.ts':
    'servers, value programs and recordings: `env` of the caller',
  'src/core/processes/guardian.ts': 'the guardian: `env` of the caller',
  'src/core/processes/processTable.ts': '`/bin/ps`',
  'src/core/processes/namedPipes.ts': '`mkfifo` of the system, and Node for a look at its output',
  'src/core/base/confinement.ts': '`sandbox-exec` of macOS, by its path',
  'src/core/processes/jobs.ts': '`taskkill` of the system, by its path',
  'src/cli/gateways.ts': 'the engine, with the environment of the command line',
  'src/cli/keyring.ts': 'this command line, which asks the keyring',
  'src/cli/personsBrowser.ts': 'the browser of the person, at `login`',
};

/** Whole environments of this process. Reading one variable is no such use. */
const environments: Readonly<Record<string, string>> = {
  'src/core/processes/environment.ts': 'It takes npm out.',
  'src/core/processes/processTable.ts': '`withoutNpm(process.env)`',
  'src/vscode/engine/windowEngine.ts': '`assemble` takes npm out.',
  'src/vscode/authoring/authoring.ts': 'Names for completion.',
  'src/cli/configFile.ts': 'The command line took npm out.',
  'src/cli/withEngine.ts': 'The command line took npm out.',
  'src/cli/cassetteCommands.ts': 'The command line took npm out.',
};

/** Uses of the environment of this process other than of one variable. */
function wholeEnvironment(file: string, text: string): boolean {
  let found = false;
  const visit = (node: ts.Node): void => {
    const isEnv = ts.isPropertyAccessExpression(node) && node.getText() === 'process.env';
    const isOne = ts.isElementAccessExpression(node.parent);
    found ||= isEnv && !isOne;
    const isTaken = ts.isVariableDeclaration(node) && node.initializer?.getText() === 'process';
    found ||= isTaken && /\benv\b/.test(node.name.getText());
    ts.forEachChild(node, visit);
  };
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  ts.forEachChild(tree, visit);
  return found;
}

describe('starts of programs (X1b)', () => {
  it('Only the listed modules can start a program', () => {
    const found = modules.filter(({ imports, text }) => {
      const isImported = imports.some(({ to }) =>
        /^(?:node:)?(?:child_process|worker_threads|cluster)$/.test(to),
      );
      return (
        isImported || /\b(?:require|createRequire\([^)]*\))\(['"](?:node:)?child_process/.test(text)
      );
    });
    assert.deepEqual(found.map(({ file }) => file).sort(), Object.keys(starters).sort());
  });

  it('Only the listed modules use the whole environment of this process', () => {
    const found = modules.filter(({ file, text }) => wholeEnvironment(file, text));
    assert.deepEqual(found.map(({ file }) => file).sort(), Object.keys(environments).sort());
  });

  it('`assemble` and the command line take out what npm added', () => {
    const textOf = (file: string): string => modules.find((one) => one.file === file)?.text ?? '';
    assert.match(
      textOf('src/core/assembly/assemble.ts'),
      /const env = withoutNpm\(surroundings\.env\);/,
    );
    assert.doesNotMatch(
      textOf('src/core/assembly/assemble.ts').replace('withoutNpm(surroundings.env)', ''),
      /surroundings\.env/,
    );
    const cli = textOf('src/cli.ts');
    assert.ok(
      cli.indexOf('\nforgetNpm();') > 0 &&
        cli.indexOf('\nforgetNpm();') < cli.indexOf('\nvoid main('),
    );
  });
});
