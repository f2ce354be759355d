/**
 * Two workspace folders, each with its servers and its team (C5, D2): one team in the chat, a file
 * for each folder.
 */
import assert from 'node:assert/strict';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import {
  calls,
  enableAgentMode,
  forgetRequests,
  modelRequests,
  newChat,
} from '../../support/editor/agentMode.ts';
import { page } from '../../support/editor/bridge.ts';
import { askMinds, shown } from '../../support/editor/minds.ts';
import { until, untilTools } from '../../support/editor/product.ts';

describe('teams of two folders', () => {
  let one = '';
  let two = '';

  before(async () => {
    [one = '', two = ''] = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    await untilTools(['mcp_counter_count', 'mcp_shop_echo']);
    await enableAgentMode();
  });

  beforeEach(async () => {
    await newChat();
    await forgetRequests();
  });

  const offered = async (): Promise<string[]> =>
    (await modelRequests()).at(-1)?.tools.map(({ name }) => name) ?? [];

  const problems = (folder: string): string[] =>
    vscode.languages
      .getDiagnostics(vscode.Uri.file(join(folder, '.minds', 'team.yaml')))
      .map(
        ({ code, range }) =>
          `${String(typeof code === 'object' ? code.value : code)} ${range.start.line + 1}`,
      );

  it('Two folders form one team: an id counts in the first folder, and the second reports the duplicate', async () => {
    await until(
      () => [problems(one), problems(two)],
      (found) => JSON.stringify(found) === '[[],["member-in-other-folder 3"]]',
      'the problem at the second alice',
    );
    await askMinds('/as');
    const words = await until(
      shown,
      (text) => text.includes('returns to all toolsets'),
      'who there is, to its end',
    );
    assert.match(words, /carol answers in this conversation/, 'whom the second folder names');
    assert.match(words, /alice – Alice: counter, shop/);
    assert.doesNotMatch(words, /Another/);
    await page.screenshot('who');
  });

  it('Members of one team get toolsets of either folder', async () => {
    await askMinds('Hello.');
    assert.deepEqual(await offered(), ['shop_echo'], 'whoever is named to answer');
    await askMinds('/as alice');
    const { text } = await askMinds(
      calls([
        { tool: 'counter_count' },
        { tool: 'shop_echo', input: { text: 'from the other folder' } },
      ]),
    );
    assert.match(text, /RESULT counter_count: 1\b[^]*RESULT shop_echo: from the other folder/);
    assert.deepEqual(await offered(), ['counter_count', 'shop_echo']);
  });

  it('The agents of each folder are written there', async () => {
    await vscode.commands.executeCommand('mcpToolsets.writeAgents');
    const agents = (folder: string): Promise<string[]> =>
      readdir(join(folder, '.github', 'agents')).catch(() => []);
    assert.deepEqual(
      [await agents(one), await agents(two)],
      [['alice.agent.md'], ['carol.agent.md']],
      'not the alice who does not count',
    );
    const alice = await readFile(join(one, '.github', 'agents', 'alice.agent.md'), 'utf8');
    assert.match(alice, /tools: \['counter\/\*', 'shop\/\*'\]/);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('Without the file of the first folder only the second one’s members remain', async () => {
    await rm(join(one, '.minds', 'team.yaml'));
    await until(
      () => problems(two),
      (found) => found.length === 0,
      'no second alice any more',
    );
    await askMinds('/as alice');
    await until(
      shown,
      (words) => /alice answers in this conversation[^]*counter_count[^]*shop_echo/.test(words),
      'all toolsets',
    );
  });
});
