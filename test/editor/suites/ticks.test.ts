/** Ticks and permissions in the sidebar do what they say, and the worst problem decides (E3). */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import { needsPage, page } from '../../support/editor/bridge.ts';
import {
  configFile,
  entry,
  invoke,
  problems,
  readConfig,
  until,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';

const rows = '.part.sidebar .monaco-list-row';
const box = (label: string): string =>
  `${rows}[aria-label^="${label}"] .custom-view-tree-node-item-checkbox`;
const ids = (server: string, ...tools: string[]): string[] =>
  tools.map((tool) => `mcp_${server}_${tool}`);
const undo = '.statusbar-item >> text=· Undo';

const lists = "tools: { whitelist: ['read_*', 'open'] }";
const tools = ['--tools', 'read_a,read_b,read_c,open,close'];
const file = `version: 1\nservers:\n  a: ${entry('raw.mjs', tools, lists)}\n`;
const usual = ids('a', 'read_a', 'read_b', 'read_c', 'open');

describe('ticks', () => {
  before(async function () {
    await needsPage(this);
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
  });

  describe('of a pattern', () => {
    before(async () => {
      await writeConfig(file);
      await untilTools(usual);
      await page.click(`${rows}[aria-label^="a, server"]`);
      await page.waitFor(box('read_a'));
    });

    it('The box of a tool says what it means, also to a screen reader', async () => {
      await page.waitFor(`${box('read_a')}[aria-label="Agents see it"]`);
      await page.hover(box('read_a'));
      await page.waitFor('.workbench-hover >> text=Agents see it');
    });

    it('A tool of a pattern that is unticked becomes names, and Undo brings the pattern back', async () => {
      await page.click(box('read_b'));
      await untilTools(ids('a', 'read_a', 'read_c', 'open'));
      await page.waitFor('.statusbar-item >> text=`read_*` became 2 names · Undo');
      await page.screenshot('undo');
      assert.deepEqual(await problems().then((all) => all.filter(isShown)), []);
      await page.click(undo);
      await untilTools(usual);
      assert.equal(await readConfig(), file);
    });

    it('A tool that is ticked again brings its pattern back', async () => {
      await page.click(box('read_b'));
      await untilTools(ids('a', 'read_a', 'read_c', 'open'));
      await page.click(box('read_a'));
      await untilTools(ids('a', 'read_c', 'open'));
      await page.click(box('read_b'));
      await untilTools(ids('a', 'read_b', 'read_c', 'open'));
      await page.click(box('read_a'));
      await untilTools(usual);
      assert.equal(await readConfig(), file);
    });

    it('The space bar toggles the box of the focused row, and unfolds other rows', async () => {
      await vscode.commands.executeCommand('mcpToolsets.servers.focus');
      await page.press('Home');
      await page.press('ArrowDown');
      await page.waitFor(`${rows}.focused[aria-label^="read_a"]`);
      await page.press('Space');
      await untilTools(ids('a', 'read_b', 'read_c', 'open'));
      await page.waitFor(`${rows}.focused[aria-label^="read_a"]`);
      await page.press('Space');
      await untilTools(usual);
      assert.equal(await readConfig(), file);
      assert.equal(vscode.window.tabGroups.activeTabGroup.activeTab, undefined, 'no panel');
      await page.press('Home');
      await page.press('Space');
      await page.waitFor(`${rows}[aria-label^="a, server"][aria-expanded="false"]`);
      await page.press('Space');
      await page.waitFor(`${rows}[aria-label^="a, server"][aria-expanded="true"]`);
    });

    it('A row has two buttons at most, so that its state has room', async () => {
      await page.hover(`${rows}[aria-label^="a, server"]`);
      const button = `${rows}[aria-label^="a, server"] .action-label`;
      await page.waitFor(button);
      assert.ok((await page.texts(button)).length <= 2);
    });

    it('All tools that a blacklist keeps out can be ticked without a problem', async () => {
      const kept = "tools: { blacklist: ['read_*'] }";
      await writeConfig(file.replace(lists, kept));
      await untilTools(ids('a', 'open', 'close'));
      for (const tool of ['read_a', 'read_b', 'read_c']) {
        await page.click(box(tool));
        await until(readConfig, (text) => new RegExp(`whitelist:.*${tool}`).test(text), tool);
        await page.waitFor(`${box(tool)}.codicon-check`);
      }
      await untilTools([...usual, ...ids('a', 'close')]);
      assert.deepEqual(await problems().then((all) => all.filter(isShown)), []);
      await writeConfig(file);
      await untilTools(usual);
    });
  });

  describe('of lists that an alias shares', () => {
    const shared = `version: 1\nservers:\n  a: ${entry('raw.mjs', tools, lists.replace('tools: ', 'tools: &both '))}\n  b: ${entry('raw.mjs', tools, 'tools: *both, transform: [{ suffix: _b }]')}\n`;
    const ofB = (...names: string[]): string[] => ids('b', ...names.map((name) => `${name}_b`));
    const answer = async (label: string): Promise<void> => {
      const texts = await until(
        async () => {
          await vscode.commands.executeCommand('notifications.showList');
          return page.texts('.notifications-center .notification-list-item');
        },
        (all) => all.some((text) => text.includes('shares this list')),
        'the question',
      );
      assert.match(texts.join('\n'), /“a” shares this list with “b”/);
      await page.screenshot('alias');
      await page.click(`.notifications-center .monaco-button:text-is("${label}")`);
    };

    beforeEach(async () => {
      await writeConfig(shared);
      await untilTools([...usual, ...ofB('read_a', 'read_b', 'read_c', 'open')]);
      await page.waitFor(box('open'));
      await page.click(box('open'));
    });

    it('A tick at shared lists can change both servers', async () => {
      await answer('Change Both');
      const left = ['read_a', 'read_b', 'read_c'];
      await untilTools([...ids('a', ...left), ...ofB(...left)]);
    });

    it('A tick at shared lists can give the server its own list', async () => {
      await answer('Give This One Its Own List');
      const left = ['read_a', 'read_b', 'read_c'];
      await untilTools([...ids('a', ...left), ...ofB(...left, 'open')]);
    });

    after(async () => {
      await writeConfig(file);
      await untilTools(usual);
    });
  });

  describe('When Called', () => {
    const settings = (): vscode.WorkspaceConfiguration =>
      vscode.workspace.getConfiguration('mcpToolsets');
    const values = (): unknown[] => {
      const { workspaceValue, globalValue } = settings().inspect('toolPermissions') ?? {};
      return [workspaceValue ?? {}, globalValue ?? {}];
    };
    const menu = '.context-view .action-label';

    const focused = (title: string): Promise<unknown> =>
      page.waitFor(`.context-view .action-item.focused >> text=${title}`);

    /** Opens the submenu of a row. The editor ignores clicks in a menu that has just opened. */
    async function open(label: string): Promise<void> {
      await page.click(`${rows}[aria-label^="${label}"] .monaco-icon-label`, { button: 'right' });
      await page.waitFor(`${menu} >> text=When Called`);
      await page.press('ArrowUp');
      await focused('When Called');
      await page.press('ArrowRight');
      await focused('As the Editor Decides');
    }
    async function pick(label: string, title: string, down: number): Promise<void> {
      await open(label);
      for (let index = 0; index < down; index++) await page.press('ArrowDown');
      await focused(title);
      await page.press('Enter');
    }
    async function chosen(label: string): Promise<string[]> {
      await open(label);
      const texts = await page.texts(menu);
      await page.screenshot('when-called');
      await page.press('Escape');
      await page.press('Escape');
      return texts.filter((text) => /As the Editor|^(✓ )?(Ask|Allow|Deny)$/.test(text.trim()));
    }

    it('The submenu marks the present permission, and a choice is written to the workspace (S4)', async () => {
      assert.deepEqual(await chosen('read_b'), ['✓ As the Editor Decides', 'Ask', 'Allow', 'Deny']);
      await pick('read_b', 'Deny', 3);
      await untilTools(ids('a', 'read_a', 'read_c', 'open'));
      assert.deepEqual(values(), [{ read_b: 'deny' }, {}]);
    });

    it('A denied tool stays in its place with an empty box, and a tick lifts the denial', async () => {
      await page.waitFor(`${rows}[aria-label^="read_b, kept out: denied"]`);
      const shown = async (): Promise<(string | undefined)[]> =>
        (await page.texts(rows)).flatMap((text) => /^(?:read_.|open|close)/.exec(text)?.[0] ?? []);
      const order = ['read_a', 'read_b', 'read_c', 'open', 'close'];
      // The rows of removed servers go a moment later.
      await until(shown, (names) => isDeepStrictEqual(names, order), 'the order of the rows');
      assert.deepEqual(await chosen('read_b'), ['As the Editor Decides', 'Ask', 'Allow', '✓ Deny']);
      await page.screenshot('denied');
      await page.click(box('read_b'));
      await untilTools(usual);
      assert.deepEqual(values(), [{}, {}]);
      assert.equal(await readConfig(), file);
    });

    it('A choice says that rules with arguments go first, and one that a pattern overrules says so', async () => {
      const texts = async (): Promise<string> => {
        await vscode.commands.executeCommand('notifications.showList');
        return (await page.texts('.notifications-center .notification-list-item')).join('\n');
      };
      const rules = { 'read_b(path: x*)': 'deny', 'read_*': 'ask' };
      await settings().update('toolPermissions', rules, vscode.ConfigurationTarget.Global);
      await page.waitFor(`${rows}[aria-label^="read_b, tool, asks before calls"]`);
      await pick('read_b', 'Allow', 2);
      const shown = await until(texts, (all) => all.includes('is stricter'), 'what still counts');
      assert.match(shown, /Rules with arguments go before the permission of “read_b”/);
      assert.match(shown, /The permission of “read_b” is still ask, because the pattern read_\*/);
      assert.deepEqual(values(), [{ read_b: 'allow' }, rules]);
      await page.screenshot('rules-with-arguments');
      await vscode.commands.executeCommand('notifications.clearAll');
      await settings().update('toolPermissions', undefined, vscode.ConfigurationTarget.Workspace);
      await settings().update('toolPermissions', undefined, vscode.ConfigurationTarget.Global);
      await page.waitFor(`${rows}[aria-label^="read_b, tool"]:not([aria-label*="asks before"])`);
    });

    it('A choice can count in all folders', async () => {
      await pick('read_a', 'Ask', 1);
      await page.waitFor(`${rows}[aria-label^="read_a, tool, asks before calls"]`);
      assert.deepEqual(values(), [{ read_a: 'ask' }, {}]);
      await pick('read_a', 'In All Folders', 4);
      await until(values, ([, own]) => isDeepStrictEqual(own, { read_a: 'ask' }), 'the setting');
      await settings().update('toolPermissions', undefined, vscode.ConfigurationTarget.Workspace);
      await settings().update('toolPermissions', undefined, vscode.ConfigurationTarget.Global);
    });
  });

  it('A server that died twice within a minute is an error at its key until it is restarted (X4a)', async () => {
    await writeConfig(`version: 1\nservers:\n  dies: ${entry('crashes-on-call.mjs')}\n`);
    const tool = await until(
      () => vscode.lm.tools.find(({ name }) => name === 'mcp_dies_crash')?.name,
      (name) => name !== undefined,
      'its tool',
    );
    for (let deaths = 0; deaths < 2; deaths++)
      await Promise.resolve(invoke(tool ?? '')).catch(() => undefined);
    const [problem] = await until(
      problems,
      (all) => all.some(({ severity }) => severity === 'Error'),
      'an error',
    );
    assert.deepEqual([problem?.code, problem?.text], ['connection-lost', 'dies']);
    assert.match(problem?.message ?? '', /ended 2 times within a minute/);
    await page.waitFor(`${rows}[aria-label^="dies, server"] .codicon-error`);
    await page.waitFor('.statusbar-item.error-kind >> text=MCP');
    await page.screenshot('died-twice');
    const uri = vscode.Uri.file(configFile());
    await vscode.workspace.openTextDocument(uri);
    const [diagnostic] = vscode.languages.getDiagnostics(uri);
    assert.ok(diagnostic);
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      uri,
      diagnostic.range,
    );
    assert.ok(actions.some(({ title }) => /^(Restart|Start) 'dies'/.test(title)));
    await vscode.commands.executeCommand('mcpToolsets.restart', 'dies');
    await until(problems, (all) => all.length === 0, 'no problem');
    await page.waitFor(`${rows}[aria-label^="dies, server, running"] .codicon-pass-filled`);
  });
});

function isShown({ severity }: { readonly severity: string }): boolean {
  return severity === 'Error' || severity === 'Warning';
}
