/**
 * Signing in to a server (X7) as a person does it: the editor says so, a click opens the browser,
 * tools come.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { page, repoRoot } from '../../support/editor/bridge.ts';
import {
  configFile,
  invoke,
  problems,
  until,
  untilProblems,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';

const rows = '.part.sidebar .monaco-list-row';
const tools = ['mcp_files_whoami', 'mcp_files_write'];

describe('sign-in', () => {
  let server: ChildProcess;
  let url: string;

  before(async () => {
    // An editor in a browser would send 127.0.0.1 through a port forwarding that does not exist.
    server = spawn(
      process.execPath,
      [join(repoRoot, 'test/fixtures/servers/oauth.mjs'), '--host', '::1'],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    assert.ok(server.stdout);
    for await (const line of createInterface({ input: server.stdout })) {
      const [word, address] = line.split(' ');
      if (word !== 'listening' || address === undefined) continue;
      url = address;
      break;
    }
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
  });

  after(async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill();
    await ended;
  });

  const row = (pattern: RegExp): Promise<string[]> =>
    until(
      () => page.texts(rows),
      (texts) => texts.some((text) => pattern.test(text.replace(/\s+/g, ' '))),
      `a row with ${String(pattern)}`,
    );

  it('A required sign-in shows in the sidebar, above the entry, and as a problem with the action, and no page opens', async () => {
    await writeConfig(
      `version: 1\nservers:\n  files:\n    transport: streamable_http\n    url: ${url}\n`,
    );
    await row(/files ?needs sign-in/);
    await untilTools([]);
    assert.deepEqual(
      (await problems()).map(({ code, severity, text }) => [code, severity, text]),
      [['sign-in-needed', 'Error', 'files']],
    );
    const document = await vscode.workspace.openTextDocument(configFile());
    await vscode.window.showTextDocument(document);
    const position = new vscode.Position(2, 3);
    const actions = await until(
      () =>
        vscode.commands.executeCommand<vscode.CodeAction[]>(
          'vscode.executeCodeActionProvider',
          document.uri,
          new vscode.Range(position, position),
        ),
      (found) => found.some(({ title }) => title === "Sign in to 'files'"),
      'the quick fix',
    );
    assert.equal(
      actions.find(({ title }) => title === "Sign in to 'files'")?.command?.command,
      'mcpToolsets.signIn',
    );
    await page.waitFor('.codelens-decoration a:has-text("Sign In…")');
    await page.screenshot('needed');
  });

  it('a click opens the browser, which comes back; the tools are there', async () => {
    await page.click('.codelens-decoration a:has-text("Sign In…")');
    await untilTools(tools);
    await untilProblems([]);
    await row(/files ?2 tools/);
    assert.match(await invoke('mcp_files_whoami'), /ada files:read/);
    await page.screenshot('signed-in');
  });

  it('signing out withdraws the tools', async () => {
    await vscode.commands.executeCommand('mcpToolsets.signOut', 'files');
    await untilTools([]);
    await row(/files ?needs sign-in/);
    await page.screenshot('signed-out');
  });

  it('the sidebar has the action too', async () => {
    await page.hover(`${rows}:has-text("files")`);
    await page.click(`${rows}:has-text("files") .action-label.codicon-key`);
    await untilTools(tools);
    await untilProblems([]);
  });
});
