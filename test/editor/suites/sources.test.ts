/**
 * Sources of servers (C5) for a person: three files, created, changed and deleted while the window
 * is open.
 */
import assert from 'node:assert/strict';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { page, repoRoot } from '../../support/editor/bridge.ts';
import { entry, folder, toolIds, until, untilTools } from '../../support/editor/product.ts';

const rows = '.part.sidebar .monaco-list-row';
const usersFile = join(homedir(), '.minds', 'mcp.yaml');
const mcprc = (): string => join(folder(), '.mcprc');

const view = async (): Promise<string[]> =>
  (await page.texts(rows)).map((text) => text.replace(/\s+/g, ' ').trim());

const untilRow = (pattern: RegExp): Promise<string[]> =>
  until(view, (lines) => lines.some((line) => pattern.test(line)), `a row ${String(pattern)}`);

function diagnostics(file: string): string[] {
  return vscode.languages
    .getDiagnostics(vscode.Uri.file(file))
    .filter(({ source }) => source === 'MCP Toolsets')
    .map(
      ({ code, range }) =>
        `${String(typeof code === 'object' ? code.value : code)} ${range.start.line + 1}`,
    );
}

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}

const kode = (tools: string): string =>
  JSON.stringify({
    command: 'node',
    args: [join(repoRoot, 'test/fixtures/servers/raw.mjs'), '--tools', tools],
  });

describe('sources', () => {
  before(async () => {
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
    await untilRow(/^alpha ?waits for approval/);
  });

  after(() => rm(dirname(usersFile), { recursive: true, force: true }));

  it("A server in a new file of the user starts without a question, and the workspace's servers wait", async () => {
    await write(
      usersFile,
      `version: 1\nservers:\n  mine: ${entry('raw.mjs', ['--tools', 'add,count'])}\n`,
    );
    await untilTools(['mcp_mine_add', 'mcp_mine_count']);
    await untilRow(/^mine ?2 tools .*· user$/);
    await untilRow(/^alpha ?waits for approval/);
  });

  it('Servers in a new .mcprc wait for approval, and then start', async () => {
    await write(mcprc(), `{\n  "mcpServers": {\n    "kode": ${kode('pid')}\n  }\n}\n`);
    await untilRow(/^kode ?waits for approval .*· \.mcprc$/);
    await page.screenshot('three-sources');
    assert.deepEqual(toolIds(), ['mcp_mine_add', 'mcp_mine_count']);
    await until(
      async () => {
        await vscode.commands.executeCommand('notifications.showList');
        return page.texts('.notifications-center .notification-list-item');
      },
      (texts) => texts.some((text) => text.includes('kode') && text.includes('alpha')),
      'the question about both',
    );
    await page.screenshot('question');
    await page.click('.notifications-center .monaco-button:text-is("Review…")');
    await page.click('.notification-list-item .monaco-button:text-is("Approve All")');
    await untilTools(['mcp_alpha_echo', 'mcp_kode_pid', 'mcp_mine_add', 'mcp_mine_count']);
    await untilRow(/^kode ?1 tool .*· \.mcprc$/);
  });

  it('An id of a higher source shadows the same id in a lower one, reported at its place and in the sidebar', async () => {
    const text = `version: 1\nservers:\n  mine: ${entry('raw.mjs', ['--tools', 'count'])}\n  alpha: ${entry('raw.mjs', ['--tools', 'add'])}\n`;
    await write(usersFile, text);
    await untilTools(['mcp_alpha_echo', 'mcp_kode_pid', 'mcp_mine_count']);
    await until(
      () => diagnostics(usersFile),
      (found) => found.includes('server-shadowed 4'),
      'the information entry',
    );
    // It is open because it waited for approval.
    await untilRow(/^also in ~\/\.minds\/mcp\.yaml ?shadowed/);
    await page.screenshot('shadowed');
  });

  it('The definition in .mcprc opens, and a mistake in it is reported at its place while the servers go on', async () => {
    await vscode.commands.executeCommand('mcpToolsets.goToDefinition', 'kode');
    const editor = vscode.window.activeTextEditor;
    assert.equal(editor?.document.uri.fsPath, mcprc());
    assert.equal(editor.selection.active.line, 2);
    await write(mcprc(), `{\n  "mcpServers": {\n    "kode" ${kode('pid')}\n  }\n}\n`);
    await until(
      () => diagnostics(mcprc()),
      (found) => found.includes('json-syntax 3'),
      'the syntax error',
    );
    await page.screenshot('mcprc-error');
    assert.ok(toolIds().includes('mcp_kode_pid'));
    await write(
      mcprc(),
      `{ "kode": ${kode('pid')}, "gone": { "command": "no-such-command", "disabled": true } }\n`,
    );
    await until(
      () => diagnostics(mcprc()),
      (found) => found.length === 0,
      'no problem',
    );
    await untilRow(/^gone ?disabled .*· \.mcprc$/);
    assert.ok(toolIds().includes('mcp_kode_pid'), 'flat is the same launch');
  });

  it('Servers go with their deleted file, and a shadowed one would count again', async () => {
    await rm(mcprc());
    await untilTools(['mcp_alpha_echo', 'mcp_mine_count']);
    await rm(join(folder(), '.minds', 'mcp.yaml'));
    await untilTools(['mcp_alpha_add', 'mcp_mine_count']);
    await untilRow(/^alpha ?1 tool .*· user$/);
    await rm(usersFile);
    await untilTools([]);
    await until(view, (lines) => lines.length === 0, 'no rows');
  });
});
