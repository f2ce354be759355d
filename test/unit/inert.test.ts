/**
 * No text of a server, a file or a sign-in has an effect on the screen (S1d). The types let only
 * `Inert` and `Markdown` through the door `vscode/views/inertEditor.ts`. This walk refuses every
 * way around the door and around the types.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript-ast';
import {
  bothEnds,
  code,
  codeCell,
  fenced,
  formatted,
  Icon,
  inert,
  inertLines,
  linkTarget,
  visible,
} from '../../src/core/base/inert.js';

const root = path.resolve(__dirname, '../..');
const door = 'src/vscode/views/inertEditor.ts';
const maker = 'src/core/base/inert.ts';

/** The parts of `vscode.window` that show no text of ours. */
const harmlessInWindow = new Set([
  'showTextDocument',
  'tabGroups',
  'activeTextEditor',
  'activeColorTheme',
  'onDidChangeActiveColorTheme',
  'onDidChangeActiveTextEditor',
  'onDidChangeTextEditorSelection',
  'createOutputChannel',
  'registerUriHandler',
  'registerWebviewPanelSerializer',
  'registerFileDecorationProvider',
]);

/** Classes of the editor without a visible text. All others are made at the door. */
const harmlessClasses = new Set([
  'CancellationTokenSource',
  'EventEmitter',
  'LanguageModelTextPart',
  'LanguageModelToolCallPart',
  'LanguageModelToolResultPart',
  'Location',
  'McpHttpServerDefinition',
  'Range',
  'RelativePattern',
  'Selection',
  'SnippetString',
  'ThemeColor',
  'ThemeIcon',
  'WorkspaceEdit',
]);

/** Callers that may declare a text as Markdown by nature. */
const markdownByNature = new Set([
  maker,
  'src/core/authoring/completion.ts',
  'src/vscode/minds/chatAudience.ts',
]);

function sources(folder: string): string[] {
  return readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = `${folder}/${entry.name}`;
    return entry.isDirectory() ? sources(name) : name.endsWith('.ts') ? [name] : [];
  });
}

function waysAround(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const refuse = (node: ts.Node, why: string): void => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    found.push(`${file}:${line + 1}: ${node.getText().split('\n', 1)[0]}: ${why}`);
  };
  const isEditor = (node: ts.Node): boolean => ts.isIdentifier(node) && node.text === 'vscode';
  const isWindow = (node: ts.Node): boolean =>
    ts.isPropertyAccessExpression(node) && isEditor(node.expression) && node.name.text === 'window';
  const visit = (node: ts.Node): void => {
    if (
      ts.isImportDeclaration(node) &&
      (node.moduleSpecifier as ts.StringLiteral).text === 'vscode'
    ) {
      const { namedBindings } = node.importClause ?? {};
      if (
        !namedBindings ||
        !ts.isNamespaceImport(namedBindings) ||
        namedBindings.name.text !== 'vscode'
      )
        refuse(node, 'the editor is imported as `vscode`');
    }
    if (isEditor(node) && ts.isExpression(node)) {
      const { parent } = node;
      const isAccessed = ts.isPropertyAccessExpression(parent) && parent.expression === node;
      const isAdapted = ts.isAsExpression(parent) && file === 'src/vscode/minds/chatModel.ts';
      if (!isAccessed && !isAdapted && !ts.isQualifiedName(parent) && !ts.isNamespaceImport(parent))
        refuse(parent, 'the editor is not handed on');
    }
    if (isWindow(node)) {
      const { parent } = node;
      if (!ts.isPropertyAccessExpression(parent) || !harmlessInWindow.has(parent.name.text)) {
        refuse(parent, `texts are shown through ${door}`);
      }
    }
    if (
      ts.isNewExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      isEditor(node.expression.expression)
    )
      if (!harmlessClasses.has(node.expression.name.text)) refuse(node, `it is made by ${door}`);
    if (ts.isTypeReferenceNode(node) && node.getText() === 'vscode.ChatResponseStream') {
      // The participant gets the stream of the editor and passes it through the door.
      if (file !== 'src/vscode/minds/participant.ts') refuse(node, 'answers go to `InertStream`');
    }
    if (ts.isAsExpression(node) && /\b(?:Inert|Markdown|never|any)\b/.test(node.type.getText()))
      if (file !== maker) refuse(node, 'a type does not make a text inert');
    if (
      ts.isCallExpression(node) &&
      node.expression.getText() === 'asMarkdown' &&
      !markdownByNature.has(file)
    )
      refuse(node, 'Markdown is written with the tag');
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

describe('texts that are shown (S1d)', () => {
  it('Every shown text goes through the door', () => {
    const files = [...sources('src/vscode'), 'src/extension.ts'].filter((file) => file !== door);
    const found = files.flatMap((file) =>
      waysAround(file, readFileSync(path.join(root, file), 'utf8')),
    );
    assert.deepEqual(found, []);
    const core = [...sources('src/core'), ...sources('src/cli')].flatMap((file) => {
      const text = readFileSync(path.join(root, file), 'utf8');
      return waysAround(file, text).filter(
        (one) => /inert|tag/.test(one) && !/as never|as any/.test(one),
      );
    });
    assert.deepEqual(core, []);
  });

  const ways: readonly (readonly [string, string])[] = [
    ['a message', 'vscode.window.showInformationMessage(name);'],
    [
      'a message of a window that was taken',
      'const { window } = vscode; window.showInformationMessage(name);',
    ],
    ['a message by another name', 'const w = vscode.window; w.showErrorMessage(name);'],
    ['a message by a computed name', "vscode.window['showErrorMessage'](name);"],
    ['a function that is handed on', 'tell(vscode.window.showWarningMessage);'],
    ['an import by name', "import { window } from 'vscode'; window.showErrorMessage(name);"],
    [
      'an import by another name',
      "import * as editor from 'vscode'; editor.window.showErrorMessage(name);",
    ],
    ['Markdown', 'new vscode.MarkdownString(text);'],
    ['a row', 'new vscode.TreeItem(name);'],
    ['a lens', 'new vscode.CodeLens(range, { title });'],
    ['a completion', 'new vscode.CompletionItem(name);'],
    ['progress', 'vscode.window.withProgress({ title }, run);'],
    ['a status bar', 'vscode.window.createStatusBarItem();'],
    ['a stream', 'function answer(stream: vscode.ChatResponseStream) { stream.markdown(text); }'],
    ['a text that is called inert', 'show(name as Inert);'],
    ['a text that is called Markdown', 'show(name as unknown as Markdown);'],
    ['Markdown that is said to be', 'show(asMarkdown(name));'],
  ];
  for (const [what, text] of ways)
    it(`The walk refuses ${what}`, () =>
      assert.notDeepEqual(waysAround('src/vscode/views/x.ts', text), []));
});

describe('inert texts (S1d)', () => {
  const link = '[Read the documentation](command:workbench.action.quit)';

  it('Inert texts have no foreign links, icons and line breaks', () => {
    assert.equal(
      inert`Start “${link}”?`,
      'Start “[Read the documentation] (command:workbench.action.quit)”?',
    );
    assert.equal(inert`${'$(check) approved\nby\r\n us'}`, '$ (check) approved by us');
    assert.equal(inert`${new Icon('folder')} ${'$(x)'}`, '$(folder) $ (x)');
    assert.equal(inert`${'[a]'}${'(command:b)'}`, '[a] (command:b)');
    assert.equal(inert`${'[a]'}(${'command:b'})`, '[a] (command:b)');
    assert.equal(inert`${'$'}(${'x'})`, '$ (x)');
    assert.equal(inertLines(`a\n${link}`), `a\n${link.replace('](', '] (')}`);
  });

  it('Inert texts stay the same when they are made inert again', () => {
    const once = inert`“${`${link}\u202e$(x)${' '.repeat(30)}`}”`;
    assert.equal(inert`${once}`, once);
  });

  it('Inert texts do not push our text out of sight', () => {
    assert.ok(inert`Start “${'x'.repeat(100_000)}”?`.length < 600);
    assert.equal(inert`${`a${' '.repeat(200)}b`}`, 'a\\u{20 × 200}b');
    const folded = bothEnds(`start${'\u200b'.repeat(9_000)}end`);
    assert.equal(folded.replace(/\n {2}\| /g, ''), `start${'\\u{200b}'.repeat(9_000)}end`);
    assert.ok(folded.split('\n').every((line) => line.length <= 64));
  });

  it('Inert texts show invisible characters', () => {
    for (const hidden of '\0\x07\x1b\x7f\x85\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u180e\u200b\u200d\u200e\u2028\u202e\u2066\u2800\u3000\u3164\ufe0f\ufeff\uffa0\u{e0041}\u{e000}')
      assert.equal(visible(`a${hidden}b`), `a\\u{${hidden.codePointAt(0)?.toString(16)}}b`);
    assert.equal(visible('\ud800'), '\\u{d800}');
    assert.equal(visible('a\r\nb\rc'), 'a\nb\\u{d}c');
    for (const whole of [
      '⚠️ careful',
      '👩‍💻',
      'می‌خواهم',
      'naïve ñ 漢字',
      'a\n  b\tc',
      '    indented',
    ])
      assert.equal(visible(whole), whole);
  });
});

describe('Markdown (S1d)', () => {
  const hostile =
    '[a](command:b) ![c](https://evil) <img src=x> `d` **e** $(f) https://evil.example &#91; www.evil.example a@b.c | \\';

  it('Markdown shows a value as plain text', () => {
    const { value } = formatted`- ${hostile}`;
    const withoutEscapes = value.replace(/\\[!-/:-@[-`{-~]/g, '');
    assert.doesNotMatch(withoutEscapes.slice(2), /[\\`*_{}[\]()#+\-!|<>~$&:@=.]/);
    assert.equal(formatted`${formatted`*a*`} ${'*b*'}`.value, '*a* \\*b\\*');
    assert.equal(formatted`${'a\n\n\n\n    b'}`.value, 'a  \n  \nb');
  });

  it('Markdown lets no text escape from its code', () => {
    assert.equal(code('a').value, '`a`');
    assert.equal(code('a`b``c').value, '```a`b``c```');
    assert.equal(code('`a\n`').value, '`` `a ` ``');
    assert.equal(codeCell('a|b').value, '`a\\|b`');
    assert.equal(fenced('a\n````\nb', 'json').value, '`````json\na\n````\nb\n`````');
    assert.equal(fenced('a `` '.repeat(150_000)).value.slice(0, 5), '```\na');
    assert.equal(linkTarget('file:///a b)[x](command:y').value, 'file:///a%20b%29[x]%28command:y');
  });
});
