/** The local file of one person in the editor (C7). */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { needsPage, page } from '../../support/editor/bridge.ts';
import {
  configFile,
  entry,
  folder,
  readConfig,
  until,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';

const rows = '.part.sidebar .monaco-list-row';
const box = (label: string): string =>
  `${rows}[aria-label^="${label}"] .custom-view-tree-node-item-checkbox`;
const localFile = (): string => join(folder(), '.minds', 'mcp.local.yaml');
const readLocal = async (): Promise<string> =>
  existsSync(localFile()) ? readFile(localFile(), 'utf8') : '';
const untilLocal = (expected: RegExp): Promise<string> =>
  until(readLocal, (text) => expected.test(text), `local ${String(expected)}`);

/** The codes of the problems in the local file. */
const codes = (): string[] =>
  vscode.languages
    .getDiagnostics(vscode.Uri.file(localFile()))
    .map(({ code }) => String(typeof code === 'object' ? code.value : code));

/** The document in the active editor, with the cursor behind this text. */
async function cursorIn(file: string, text: string): Promise<vscode.TextEditor> {
  const editor = await vscode.window.showTextDocument(vscode.Uri.file(file));
  const offset = editor.document.getText().indexOf(text);
  assert.ok(offset >= 0, `${text} in ${editor.document.getText()}`);
  const at = editor.document.positionAt(offset + text.length);
  editor.selection = new vscode.Selection(at, at);
  return editor;
}

async function hovered(file: string, text: string): Promise<string> {
  const { document, selection } = await cursorIn(file, text);
  const found = await vscode.commands.executeCommand<vscode.Hover[]>(
    'vscode.executeHoverProvider',
    document.uri,
    selection.active,
  );
  return found
    .flatMap(({ contents }) => contents.map((one) => (one as vscode.MarkdownString).value))
    .join('\n');
}

async function actionsAt(file: string, text: string): Promise<vscode.CodeAction[]> {
  const { document, selection } = await cursorIn(file, text);
  return vscode.commands.executeCommand<vscode.CodeAction[]>(
    'vscode.executeCodeActionProvider',
    document.uri,
    selection,
  );
}

async function apply(actions: readonly vscode.CodeAction[], title: string): Promise<void> {
  const action = actions.find((one) => one.title === title);
  assert.ok(action?.edit, actions.map((one) => one.title).join(' | '));
  assert.ok(await vscode.workspace.applyEdit(action.edit));
  if (action.command)
    await vscode.commands.executeCommand(
      action.command.command,
      ...((action.command.arguments ?? []) as unknown[]),
    );
}

/** Resolves when a notification has the text, and clears all. */
async function untilNotice(part: string): Promise<void> {
  await until(
    async () => {
      await vscode.commands.executeCommand('notifications.showList');
      return page.texts('.notifications-center .notification-list-item');
    },
    (all) => all.some((text) => text.includes(part)),
    'the notice',
  );
  await vscode.commands.executeCommand('notifications.clearAll');
}

const tools = ['--tools', 'read_a,read_b,open'];
const more = "timeouts: { call: 1m }, tools: { blacklist: ['open'] }, env: { API_TOKEN: abc }";
const shared = `version: 1\nservers:\n  a: ${entry('raw.mjs', tools, more)}\n  b: ${entry('raw.mjs', ['--tools', 'count'])}\n`;
const ofA = ['mcp_a_read_a', 'mcp_a_read_b'];

describe('the local file', () => {
  const run = (command: string, server: string): Thenable<unknown> =>
    vscode.commands.executeCommand(`mcpToolsets.${command}`, { node: { kind: 'server', server } });

  before(async function () {
    await needsPage(this);
    await mkdir(join(folder(), '.git'), { recursive: true });
    await writeConfig(shared);
    await untilTools([...ofA, 'mcp_b_count']);
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
  });

  afterEach(async () => {
    await vscode.commands.executeCommand('mcpToolsets.changesForEveryone');
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await rm(localFile(), { force: true });
    await writeConfig(shared);
    await untilTools([...ofA, 'mcp_b_count']);
  });

  it('Disable for Me writes the layer, which Git does not see, and the row says so', async () => {
    await run('disableForMe', 'b');
    await untilTools(ofA);
    assert.equal(await readLocal(), 'version: 1\n\nservers:\n  b:\n    enabled: false\n');
    assert.equal(await readConfig(), shared);
    const exclude = await readFile(join(folder(), '.git/info/exclude'), 'utf8');
    assert.match(exclude, /^\/\.minds\/mcp\.local\.yaml$/m);
    await page.waitFor(`${rows}[aria-label^="b, server, disabled, only for me"]`);
    await page.screenshot('disabled');
    await run('enableForMe', 'b');
    await untilTools([...ofA, 'mcp_b_count']);
    assert.doesNotMatch(await readLocal(), /enabled/);
  });

  it('Disable for Everyone writes the file of the team', async () => {
    await run('disable', 'b');
    await untilTools(ofA);
    assert.match(await readConfig(), /enabled: false/);
    assert.ok(!existsSync(localFile()));
  });

  it('With the switch on, ticks and their Undo write the layer', async () => {
    await page.waitFor('.part.sidebar .pane-header >> text=for everyone');
    await vscode.commands.executeCommand('mcpToolsets.changesForMe');
    await page.waitFor('.part.sidebar .pane-header >> text=only for me');
    await page.click(`${rows}[aria-label^="a, server"]`);
    await page.click(box('read_b'));
    await untilTools(['mcp_a_read_a', 'mcp_b_count']);
    await untilLocal(/blacklist: \[.*open.*read_b/);
    assert.equal(await readConfig(), shared);
    await page.waitFor(`${rows}[aria-label^="read_b"][aria-label*="only for me"]`);
    await page.screenshot('changed');
    await page.click(box('read_b'));
    await untilTools([...ofA, 'mcp_b_count']);
    assert.doesNotMatch(await readLocal(), /blacklist/);
  });

  it('Undo of a tick writes to the file of the tick, also if the switch has changed since', async () => {
    const pattern = shared.replace("{ blacklist: ['open'] }", "{ whitelist: ['read_*'] }");
    await writeConfig(pattern);
    await vscode.commands.executeCommand('mcpToolsets.changesForMe');
    await untilTools([...ofA, 'mcp_b_count']);
    const node = { kind: 'tool', server: 'a', original: 'read_b', ticked: true };
    await vscode.commands.executeCommand('mcpToolsets.keepOutTool', { node });
    await untilTools(['mcp_a_read_a', 'mcp_b_count']);
    await untilLocal(/whitelist: \['?read_a'?\]/);
    await vscode.commands.executeCommand('mcpToolsets.changesForEveryone');
    await page.click('.statusbar-item >> text=· Undo');
    await untilTools([...ofA, 'mcp_b_count']);
    assert.equal(await readConfig(), pattern);
    assert.doesNotMatch(await readLocal(), /whitelist: \['?read_a'?\]/);
  });

  it('A tick for everyone says that the lists of the layer count instead', async () => {
    await writeFile(
      localFile(),
      'version: 1\nservers:\n  a: { tools: { blacklist: [open, read_b] } }\n',
    );
    await untilTools(['mcp_a_read_a', 'mcp_b_count']);
    const node = { kind: 'tool', server: 'a', original: 'read_a', ticked: true };
    await vscode.commands.executeCommand('mcpToolsets.keepOutTool', { node });
    assert.match(await readConfig(), /blacklist: \['open', '?read_a'?\]/);
    await untilNotice('Your local file has lists for “a”');
    await untilTools(['mcp_a_read_a', 'mcp_b_count']);
  });

  it('A hover says what the other file has, without secrets', async () => {
    await writeFile(
      localFile(),
      'version: 1\nservers:\n  a:\n    timeouts: { call: 5m }\n    env: { API_TOKEN: xyz }\n',
    );
    await until(
      () => hovered(configFile(), 'timeouts: { ca'),
      (text) => text.includes("Only for me, `.minds/mcp.local.yaml` has `'5m'`"),
      'the value of the layer',
    );
    assert.match(await hovered(localFile(), 'timeouts: { ca'), /`\.minds\/mcp\.yaml` has `'1m'`/);
    assert.doesNotMatch(await hovered(localFile(), 'API_T'), /abc/);
    assert.doesNotMatch(await hovered(configFile(), 'API_T'), /xyz/);
  });

  it('With the switch on, Shorten Description writes the layer, as the person’s own edit', async () => {
    const chosen = shared.replace("{ blacklist: ['open'] }", "{ whitelist: ['read_a'] }");
    await writeConfig(chosen);
    await untilTools(['mcp_a_read_a', 'mcp_b_count']);
    await vscode.commands.executeCommand('mcpToolsets.changesForMe');
    const actions = await actionsAt(configFile(), "whitelist: ['rea");
    await apply(actions, "Shorten Description of 'read_a'…");
    await vscode.workspace.saveAll();
    await untilLocal(/override:[^]*read_a:[^]*description: .The tool read_a\./);
    assert.equal(await readConfig(), chosen);
    await page.waitFor(`${rows}[aria-label^="a, server"][aria-label*="only for me"]`);
  });

  it('Move to My Local File moves a key in one edit, and makes the file', async () => {
    await apply(await actionsAt(configFile(), 'timeo'), 'Move to My Local File');
    const text = vscode.window.activeTextEditor?.document.getText() ?? '';
    assert.doesNotMatch(text, /timeouts/);
    await untilLocal(/a:\n {4}timeouts: \{ call: 1m \}/);
    await vscode.workspace.saveAll();
    await page.waitFor(`${rows}[aria-label*="only for me"]`);
  });

  it('A local file that is a link is read, and no command writes through it (S1c)', async () => {
    const mine = join(folder(), 'mine.yaml');
    const text = 'version: 1\nservers:\n  b: { tools: { blacklist: [open] } }\n';
    await writeFile(mine, text);
    try {
      await symlink(mine, localFile());
      await page.waitFor(`${rows}[aria-label^="b, server"][aria-label*="only for me"]`);
      await run('disableForMe', 'b');
      const actions = await actionsAt(configFile(), 'timeo');
      assert.ok(!actions.some(({ title }) => title === 'Move to My Local File'));
      await untilNotice('it is a link to');
      assert.deepEqual([await readConfig(), await readFile(mine, 'utf8')], [shared, text]);
    } finally {
      await rm(mine);
    }
  });

  it('A problem of the layer is at its place there, with a fix, and in the row of its server', async () => {
    await writeFile(
      localFile(),
      'version: 1\nservers:\n  a: { timeouts: { call: 5 min } }\n  bb: { enabled: true }\n',
    );
    await until(codes, (all) => all.join() === 'duration-invalid,local-entry-alone', 'problems');
    await page.waitFor(`${rows}[aria-label^="error: "]`);
    await apply(await actionsAt(localFile(), 'call: 5'), "Change to '5m'");
    await apply(await actionsAt(localFile(), '  b'), "Change to 'b'");
    await vscode.workspace.saveAll();
    await until(codes, (all) => all.length === 0, 'no problem');
    assert.match(await readLocal(), /call: 5m[^]*\n {2}b: /);
    assert.equal(await readConfig(), shared);
  });

  it('Open My Local File makes it and opens it, and both files have lenses, outline and completion', async () => {
    await vscode.commands.executeCommand('mcpToolsets.openLocalConfig');
    assert.equal(vscode.window.activeTextEditor?.document.uri.fsPath, localFile());
    assert.deepEqual(codes(), []);
    await writeFile(localFile(), 'version: 1\nservers:\n  a:\n    timeouts: { call: 2m }\n    ');
    const uri = vscode.Uri.file(localFile());
    const lenses = (): Thenable<vscode.CodeLens[]> =>
      vscode.commands.executeCommand('vscode.executeCodeLensProvider', uri);
    await until(lenses, (all) => all.some(({ range }) => range.start.line === 2), 'a lens');
    const symbols = await vscode.commands.executeCommand<vscode.DocumentSymbol[]>(
      'vscode.executeDocumentSymbolProvider',
      uri,
    );
    assert.deepEqual(
      symbols.map(({ name }) => name),
      ['version', 'servers'],
    );
    const { items } = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      uri,
      new vscode.Position(4, 4),
    );
    assert.ok(items.some(({ label }) => typeof label !== 'string' && label.label === 'enabled'));
  });

  it('Rename renames the server in both files', async () => {
    await writeFile(localFile(), 'version: 1\nservers:\n  b: { enabled: true }\n');
    const { document, selection } = await cursorIn(configFile(), '\n  b');
    const edit = await vscode.commands.executeCommand<vscode.WorkspaceEdit>(
      'vscode.executeDocumentRenameProvider',
      document.uri,
      selection.active,
      'c',
    );
    assert.deepEqual(
      edit
        .entries()
        .map(([uri]) => uri.fsPath)
        .sort(),
      [localFile(), configFile()].sort(),
    );
  });
});
