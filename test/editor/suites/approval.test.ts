/**
 * Approval (S1) for a person: no server starts before a yes, and the person sees the launches
 * first.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { page } from '../../support/editor/bridge.ts';
import {
  invoke,
  problems,
  readConfig,
  servers,
  until,
  untilProblems,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';

const rows = '.part.sidebar .monaco-list-row';
/** Questions are in the notification centre, because an editor under test shows no toasts. */
const question = '.notifications-center .notification-list-item';
/** The servers with an approval. */
const stored = (): string[] => {
  const file = join(homedir(), '.minds', 'approvals.json');
  if (!existsSync(file)) return [];
  const { approvals } = JSON.parse(readFileSync(file, 'utf8')) as {
    approvals: { server: string }[];
  };
  // Other suites have approved others.
  return ['alpha', 'beta'].filter((name) => approvals.some(({ server }) => server === name));
};
const inTitle = '.editor-actions .action-label[aria-label="Approve What Is Shown"]';
const all = ['mcp_alpha_echo', 'mcp_alpha_pid', 'mcp_beta_add'];

const button = (within: string, label: string): string =>
  `${within} .monaco-button:text-is("${label}")`;

function untilTexts(selector: string, pattern: RegExp): Promise<string[]> {
  return until(
    () => page.texts(selector),
    (texts) => texts.some((text) => pattern.test(text.replace(/\s+/g, ' '))),
    `${selector} with ${String(pattern)}`,
  );
}

async function untilQuestion(pattern: RegExp): Promise<string[]> {
  return until(
    async () => {
      const texts = await page.texts(question);
      // It closes when it is empty.
      if (texts.length === 0) await vscode.commands.executeCommand('notifications.showList');
      return texts;
    },
    (texts) => texts.some((text) => pattern.test(text.replace(/\s+/g, ' '))),
    `the question ${String(pattern)}`,
  );
}

const untilNoQuestion = (): Promise<string[]> =>
  until(
    () => page.texts(question),
    (texts) => texts.length === 0,
    'no question',
  );

/** Joins continued lines. */
const unfolded = (text: string): string => text.replace(/\n {2}… /g, '');

function shownDocuments(): vscode.Uri[] {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  if (input instanceof vscode.TabInputTextDiff) return [input.original, input.modified];
  return input instanceof vscode.TabInputText ? [input.uri] : [];
}

async function untilReview(): Promise<string[]> {
  const uris = await until(
    shownDocuments,
    (all) => all[0]?.scheme === 'mcp-toolsets-approval',
    'a review',
  );
  return Promise.all(
    uris.map(async (uri) => (await vscode.workspace.openTextDocument(uri)).getText()),
  );
}

describe('approval', () => {
  let original: string;

  before(async () => {
    original = await readConfig();
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
  });

  it('A fresh workspace starts nothing and asks once, whatever the workspace’s settings say', async () => {
    await untilQuestion(/2 MCP servers of \.minds\/mcp\.yaml want to start: “alpha”, “beta”\./);
    // The editor shows its own notifications during its start.
    const asked = (await page.texts(question)).filter((text) => /wants? to start/.test(text));
    assert.equal(asked.length, 1, asked.join('\n'));
    assert.deepEqual(
      await page.texts(`${question} .monaco-text-button`),
      ['Review…', 'Not Now'],
      'nothing unseen',
    );
    assert.deepEqual(await servers(), []);
    await untilTools([]);
    await untilTexts(rows, /alpha ?waits for approval/);
    await untilTexts(rows, /node .*plain\.mjs --tools echo,pid/);
    await untilTexts('.statusbar-item', /MCP 0\/2, 2 to approve/);
    assert.deepEqual(
      (await problems()).map(({ code, severity, text }) => [code, severity, text]),
      [
        ['approval-pending', 'Information', 'alpha'],
        ['approval-pending', 'Information', 'beta'],
      ],
    );
    await page.screenshot('question');
  });

  it('Commands that start servers do not bypass approval', async () => {
    await vscode.commands.executeCommand('mcpToolsets.start', 'alpha');
    await vscode.commands.executeCommand('mcpToolsets.restart', 'alpha');
    await vscode.commands.executeCommand('mcpToolsets.reload');
    assert.deepEqual(await servers(), []);
  });

  it('The review shows exactly the launches, and no secret', async () => {
    await page.click(button(question, 'Review…'));
    const [text = '', ...others] = await untilReview();
    assert.deepEqual(others, []);
    assert.match(text, /alpha {2}· {2}\.minds\/mcp\.yaml/);
    assert.match(text, /command +node\n/);
    assert.match(text, /argument +--tools\n +argument +echo,pid\n/);
    assert.match(text, /environment +NODE_OPTIONS = "--no-warnings"\n/);
    assert.match(
      unfolded(text),
      /environment +API_TOKEN = •••\n +\(masked, digest [0-9a-f]{64}\)\n/,
    );
    assert.doesNotMatch(text, /not-for-everyone/);
    await untilQuestion(/Let these 2 MCP servers start\?/);
    await page.screenshot('review');
  });

  it('A click on the status bar opens the review while something waits', async () => {
    await vscode.commands.executeCommand('mcpToolsets.openConfig');
    await page.click('.statusbar-item:has-text("MCP 0/2")');
    await untilReview();
    await untilQuestion(/Let these 2 MCP servers start\?/);
    // Beside another editor, the editor would fold the folded lines again.
    const { document } = vscode.window.activeTextEditor ?? {};
    const lines = await page.texts('.editor-instance .monaco-editor .view-line');
    assert.equal(lines.length, document?.lineCount, lines.join('\n'));
    await page.screenshot('review-from-status-bar');
    const tabs = vscode.window.tabGroups.all.flatMap(({ tabs: own }) => own);
    await vscode.window.tabGroups.close(tabs.filter(({ label }) => label === 'mcp.yaml'));
    await untilQuestion(/Let these 2 MCP servers start\?/);
  });

  it('Servers start after their approval', async () => {
    await page.click(button(question, 'Approve All'));
    await untilTools(all);
    await untilProblems([]);
    await untilTexts('.statusbar-item', /MCP 2\/2$/);
    await untilNoQuestion();
    await until(shownDocuments, (uris) => uris.length === 0, 'no review');
    await until(
      stored,
      (names) => names.join() === 'alpha,beta',
      'the approvals that every command reads',
    );
  });

  it('A changed launch asks again, and the approved one serves on', async () => {
    const pid = await invoke('mcp_alpha_pid');
    await writeConfig(
      original.replace('echo,pid', 'echo,pid,count').replace('not-for-everyone', 'another-one'),
    );
    await untilQuestion(/The MCP server “alpha” of \.minds\/mcp\.yaml has changed/);
    await untilProblems(['approval-pending alpha']);
    await untilTexts(rows, /alpha ?2 tools · waits for approval/);
    assert.equal(await invoke('mcp_alpha_pid'), pid);
    await untilTools(all);
    await page.screenshot('changed');
  });

  it('The review shows the difference to the approved launch', async () => {
    await page.click(button(question, 'Review…'));
    const [before = '', now = ''] = await untilReview();
    assert.match(before, /argument +echo,pid\n/);
    assert.match(now, /argument +echo,pid,count\n/);
    const digest = (text: string): string | undefined =>
      /API_TOKEN = •••\n +\(masked(?:, changed)?, digest (.{64})\)/.exec(unfolded(text))?.[1];
    assert.ok(digest(before));
    assert.notEqual(digest(before), digest(now));
    assert.match(now, /API_TOKEN = •••\n +\(masked, changed, digest/);
    assert.ok(`${before}\n${now}`.split('\n').every((line) => [...line].length <= 42));
    await untilQuestion(/Let “alpha” start\?/);
    await page.screenshot('difference');
    await page.click(button(question, 'Not Now'));
    await untilNoQuestion();
    await untilTools(all);
  });

  it('The title of the review has the approval, because the editor hides the question while a person reads', async () => {
    const was = await servers();
    await writeConfig(original.replace('echo,pid', 'pid,echo'));
    await untilQuestion(/The MCP server “alpha” of .* has changed/);
    void vscode.commands.executeCommand('mcpToolsets.reviewPending', 'alpha');
    await untilReview();
    for (const shown of [
      undefined,
      'alpha',
      vscode.Uri.parse('mcp-toolsets-approval:/MCP servers, to be approved.txt'),
    ]) {
      await vscode.commands.executeCommand('mcpToolsets.approveShown', shown);
    }
    assert.deepEqual(await servers(), was, 'what names no open review starts nothing');
    await page.screenshot('review-title');
    await page.click(inTitle);
    await untilProblems([]);
    await until(shownDocuments, (uris) => uris.length === 0, 'no review');
    await vscode.commands.executeCommand('notifications.clearAll');
    await writeConfig(
      original.replace('echo,pid', 'echo,pid,count').replace('not-for-everyone', 'another-one'),
    );
    await untilQuestion(/The MCP server “alpha” of .* has changed/);
    await page.click(button(question, 'Not Now'));
    await untilNoQuestion();
  });

  it('A single server is approved from a review in the sidebar', async () => {
    await page.hover(`${rows}[aria-label^="alpha"]`);
    await page.screenshot('row-actions');
    await page.click(`${rows}[aria-label^="alpha"] .action-label[aria-label*="Review"]`);
    await untilQuestion(/Let “alpha” start\?/);
    await page.click(button(question, 'Approve'));
    await untilTools([...all, 'mcp_alpha_count']);
    await untilProblems([]);
  });

  it('A return to an earlier approved launch needs no question', async () => {
    await writeConfig(original);
    await untilTools(all);
    await untilNoQuestion();
  });

  it('A change of a filter needs no question', async () => {
    await writeConfig(original.replace('  beta:', '    tools: { whitelist: [echo] }\n  beta:'));
    await untilTools(['mcp_alpha_echo', 'mcp_beta_add']);
    assert.deepEqual(await page.texts(question), []);
    await writeConfig(original);
    await untilTools(all);
  });

  it('An earlier question leads to the servers that wait now', async () => {
    await writeConfig(original.replace('echo,pid', 'echo,pid,quiet'));
    await untilQuestion(/The MCP server “alpha” of .* has changed/);
    await writeConfig(original.replace("'add'", "'add', '--verbose'"));
    await untilQuestion(/The MCP server “beta” of .* has changed/);
    await page.click(button(`${question}:has-text("alpha")`, 'Review…'));
    await untilQuestion(/Let “beta” start\?/);
    assert.match((await untilReview()).at(-1) ?? '', /argument +--verbose\n/);
    await page.click(button(`${question}:has-text("Let")`, 'Not Now'));
    await vscode.commands.executeCommand('notifications.clearAll');
    await writeConfig(original);
    await untilProblems([]);
    await untilTools(all);
    await untilNoQuestion();
  });

  it('A server with a revoked approval stops, and asks before it starts again', async () => {
    await vscode.commands.executeCommand('mcpToolsets.revoke', 'alpha');
    await untilTools(['mcp_beta_add']);
    await until(stored, (names) => names.join() === 'beta', 'the approval that is left');
    await until(servers, (running) => running.length === 1, 'one process');
    await untilTexts(rows, /alpha ?waits for approval/);
    await untilQuestion(/“alpha” of \.minds\/mcp\.yaml wants to start/);
    await page.screenshot('revoked');
    await page.click(button(question, 'Review…'));
    await untilQuestion(/Let “alpha” start\?/);
    await page.click(button(question, 'Approve'));
    await untilTools(all);
  });

  it('Manage Server… also revokes the approval of a server that is gone from its file', async () => {
    await writeConfig(original.slice(0, original.indexOf('  beta:')));
    await untilTools(all.filter((id) => !id.startsWith('mcp_beta')));
    void vscode.commands.executeCommand('mcpToolsets.manageServer');
    const picker = '.quick-input-widget .monaco-list-row';
    await page.click(`${picker}[aria-label*="removed, and still approved"]`);
    await page.waitFor(`${picker}[aria-label="Revoke Server Approval"]`);
    await page.click(`${picker}[aria-label="Revoke Server Approval"]`);
    await until(stored, (names) => names.join() === 'alpha', 'the approval that is left');
    await writeConfig(original);
    await untilQuestion(/“beta” of \.minds\/mcp\.yaml wants to start/);
    // Later suites of the window need it.
    await page.click(button(question, 'Review…'));
    await untilQuestion(/Let “beta” start\?/);
    await page.click(button(question, 'Approve'));
    await untilTools(all);
  });
});
