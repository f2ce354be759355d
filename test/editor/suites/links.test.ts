/**
 * A repository whose config file is a link that leads out of it (S1c). The extension never writes
 * there: no command, no quick fix and no import. `integration/files/links.test.ts` has the other
 * kinds of links and special files, because every writer uses the same function.
 */
import assert from 'node:assert/strict';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { page } from '../../support/editor/bridge.ts';
import { configFile, folder, problems, until } from '../../support/editor/product.ts';

const input = '.quick-input-widget';
const minds = (): string => join(folder(), '.minds');
/** One mistake with a quick fix, and one server to disable. */
const text =
  'version: 1\nservers:\n  a:\n    transport: stdio\n    command: node\n    enabled: false\n    comand: node\n  b:\n    transport: stdio\n    command: no-such-program\n';
const team = 'members:\n  ada:\n    name: Ada\n    toolsets: ["*"]\n';

describe('links that lead out of the folder', () => {
  let outside: string;

  /** The text of every file in the outside folder. */
  const there = (): Record<string, string> =>
    Object.fromEntries(
      readdirSync(outside).map((name) => [name, readFileSync(join(outside, name), 'utf8')]),
    );

  const layouts: readonly (readonly [string, (to: string) => void])[] = [
    ['`.minds` is a link', (to) => symlinkSync(to, minds())],
    ['the file in it is a link', linkFile],
  ];
  function linkFile(to: string): void {
    mkdirSync(minds());
    symlinkSync(join(to, 'mcp.yaml'), configFile());
  }

  const put = async (content: string | undefined, link: (to: string) => void): Promise<void> => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    rmSync(minds(), { recursive: true });
    rmSync(outside, { recursive: true });
    mkdirSync(outside);
    if (content !== undefined) writeFileSync(join(outside, 'mcp.yaml'), content);
    link(outside);
    await vscode.commands.executeCommand('mcpToolsets.reload');
  };

  /**
   * Waits for the message with the reason for the refusal, and closes it.
   * @param yes a button pressed before, if it is offered
   */
  const untilRefused = async (yes?: string): Promise<void> => {
    await until(
      async () => {
        await vscode.commands.executeCommand('notifications.showList');
        const buttons = await page.texts('.notifications-center .monaco-button');
        if (yes !== undefined && buttons.includes(yes))
          await page.click(`.notifications-center .monaco-button:text-is("${yes}")`);
        return page.texts('.notifications-center .notification-list-item');
      },
      (texts) => texts.some((one) => /lead|outside|regular file/.test(one)),
      'the refusal',
    );
    await vscode.commands.executeCommand('notifications.clearAll');
  };

  const press = async (key: string, shown: string): Promise<void> => {
    await page.waitFor(`${input} ${shown}`);
    await page.press(key);
  };

  before(() => {
    outside = realpathSync(mkdtempSync(join(tmpdir(), 'outside-')));
  });

  after(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    rmSync(outside, { recursive: true });
  });

  describe('the config file is a link', () => {
    beforeEach(() => put(text, linkFile));

    afterEach(() => assert.deepEqual(there(), { 'mcp.yaml': text }));

    it('No quick fix edits through a link, not even the fix for all', async () => {
      const { document } = await vscode.window.showTextDocument(vscode.Uri.file(configFile()));
      // The editor cancels requests about a document that changes, also when it reads the file
      // again.
      await until(
        () => document.getText(),
        (shown) => shown === text,
        'the text in the editor',
      );
      await until(
        problems,
        (found) => found.some(({ code }) => code === 'unknown-key'),
        'the problem',
      );
      const diagnostic = vscode.languages
        .getDiagnostics(vscode.Uri.file(configFile()))
        .find(({ range }) => range.start.line === 6);
      assert.ok(diagnostic);
      const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
        'vscode.executeCodeActionProvider',
        vscode.Uri.file(configFile()),
        diagnostic.range,
      );
      assert.deepEqual(
        actions.filter(({ edit }) => edit !== undefined).map(({ title }) => title),
        [],
      );
    });

    it('A server behind a link cannot be disabled', async () => {
      await until(
        problems,
        (found) => found.some(({ code }) => code === 'unknown-key'),
        'the servers',
      );
      await vscode.commands.executeCommand('mcpToolsets.disable', 'b');
      await untilRefused();
    });

    it('“Add Server” writes nothing through a link', async () => {
      await addServer();
      await press('Enter', '.quick-input-title:has-text("(4/4)")');
      await untilRefused();
    });

    it('An import writes nothing through a link', async () => {
      void vscode.commands.executeCommand('mcpToolsets.import', join(folder(), '.mcp.json'));
      await press('Enter', '.quick-input-list-row:has-text("For everyone")');
      await untilRefused('Import');
    });
  });

  /** The codes of the problems of the config file, without reading the file. */
  const codes = (): string[] =>
    vscode.languages
      .getDiagnostics(vscode.Uri.file(configFile()))
      .map(({ code }) => String(typeof code === 'object' ? code.value : code));

  const addServer = async (): Promise<void> => {
    void vscode.commands.executeCommand('mcpToolsets.addServer');
    await press('Enter', '.quick-input-title:has-text("(1/4)")');
    await page.waitFor(`${input} .quick-input-title:has-text("(2/4)")`);
    await page.type('node added.js');
    await page.press('Enter');
    await press('Enter', '.quick-input-title:has-text("(3/4)")');
  };

  describe('a device without an end instead of a file', () => {
    const device = '/dev/zero';
    beforeEach(() =>
      put(undefined, () => {
        mkdirSync(minds());
        symlinkSync(device, configFile());
      }),
    );

    afterEach(() => rmSync(join(folder(), '.github'), { recursive: true, force: true }));

    it('A special file in place of the config file is a problem, and the extension neither opens nor writes it', async () => {
      await until(codes, (found) => found.includes('file-unreadable'), 'the problem');
      await addServer();
      await untilRefused();
      for (const command of ['createConfig', 'openConfig']) {
        void vscode.commands.executeCommand(`mcpToolsets.${command}`);
        await untilRefused();
      }
      void vscode.commands.executeCommand('mcpToolsets.import', join(folder(), '.mcp.json'));
      await press('Enter', '.quick-input-list-row:has-text("For everyone")');
      await untilRefused();
      assert.ok(lstatSync(configFile()).isSymbolicLink());
    });

    it("A special file is not read in place of a member's agent", async () => {
      rmSync(minds(), { recursive: true });
      mkdirSync(minds());
      writeFileSync(configFile(), text);
      const agents = join(folder(), '.github', 'agents');
      mkdirSync(agents, { recursive: true });
      symlinkSync(device, join(agents, 'ada.agent.md'));
      writeFileSync(join(minds(), 'team.yaml'), team);
      await vscode.commands.executeCommand('mcpToolsets.reload');
      await until(
        problems,
        (found) => found.some(({ code }) => code === 'unknown-key'),
        'the servers',
      );
      await until(
        async () => {
          await vscode.commands.executeCommand('mcpToolsets.writeAgents');
          await vscode.commands.executeCommand('notifications.showList');
          return page.texts('.notifications-center .notification-list-item');
        },
        (texts) =>
          texts.some((one) =>
            /ada\.agent\.md cannot be read \(it is not a regular file\)/.test(one),
          ),
        'the refusal',
      );
      await vscode.commands.executeCommand('notifications.clearAll');
    });
  });

  for (const [layout, link] of layouts) {
    it(`A file is not created if ${layout} and has no target`, async () => {
      await put(undefined, link);
      void vscode.commands.executeCommand('mcpToolsets.createConfig');
      await untilRefused();
      assert.deepEqual(there(), {});
    });
  }
});
