/** What servers have besides tools, and what they ask, in the real editor (G4). */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ask, calls, enableAgentMode, newChat } from '../../support/editor/agentMode.ts';
import { needsPage, page } from '../../support/editor/bridge.ts';
import { folder, servers, until, untilTools } from '../../support/editor/product.ts';

const tools = [
  ...['add', 'ask_much', 'cancelled', 'capabilities', 'contents', 'elicit', 'elicit_url', 'give_up', 'hold', 'level'],
  ...[
    'link',
    'log',
    'order',
    'pid',
    'received',
    'require_url',
    'root_changes',
    'roots',
    'sample',
    'subscribed',
    'touch',
  ],
].map((name) => `mcp_asks_${name}`);

describe('what goes through besides tools (G4)', () => {
  before(async function () {
    await needsPage(this);
    await untilTools(tools);
    await enableAgentMode();
  });

  it('what the server was told at its start is what the editor announces: the first conversation has the warm instance (L4)', async () => {
    const [warm] = await servers();
    const { text } = await ask(calls({ tool: 'mcp_asks_capabilities' }, { tool: 'mcp_asks_pid' }));
    assert.match(text, /"roots":\{"listChanged":true\}/);
    assert.match(text, /"sampling":\{/);
    assert.match(text, /"elicitation":\{[^}]*"form"/);
    assert.match(text, new RegExp(`: ${warm?.pid}\\b`));
    assert.equal((await servers()).length, 1);
  });

  it('roots are the folders of the window', async () => {
    const { text } = await ask(calls({ tool: 'mcp_asks_roots' }));
    assert.ok(text.includes(vscode.Uri.file(folder()).toString()), text);
  });

  it('an elicitation of a leased instance is answered in the chat of its call', async () => {
    await newChat();
    // The command ends when the question is shown, as the agent waits then.
    const asked = ask(calls({ tool: 'mcp_asks_elicit', input: { message: 'Which colour?' } })).catch(() => undefined);
    await page.waitFor('.interactive-session >> text="Which colour?"');
    await page.screenshot('elicitation');
    await page.click('.interactive-session [placeholder="Enter your answer"]');
    await page.type('blue');
    await page.click('.interactive-session .monaco-button >> text="Submit"');
    await asked;
    const chat = (): Promise<string> => page.texts('.interactive-session').then((texts) => texts.join('\n'));
    await until(chat, (text) => /RESULT mcp_asks_elicit: .*"answer":"blue"/.test(text), 'the answer in the chat');
  });

  it('sampling asks the person, and is done with their consent', async () => {
    await newChat();
    const sample = calls({ tool: 'mcp_asks_sample', input: { prompt: 'Say hello' } });
    // Under test the editor shows no dialog and says which one it would have shown.
    assert.match(
      (await ask(sample)).text,
      /The MCP server .*asks.* has issued a request to make a language model call/,
    );
    const consent = { 'MCP Toolsets: asks': { allowedDuringChat: true, allowedModels: ['scripted/scripted-1'] } };
    await vscode.workspace
      .getConfiguration('chat.mcp')
      .update('serverSampling', consent, vscode.ConfigurationTarget.Workspace);
    assert.match((await ask(sample)).text, /"model":"scripted[^]*"text":"OK"/);
  });

  it('prompts are slash commands, under their transformed names', async () => {
    await newChat();
    await vscode.commands.executeCommand('workbench.action.chat.focusInput');
    await page.type('/mcp.');
    const offered = (): Promise<string[]> => page.texts('.suggest-widget .monaco-list-row');
    await until(
      offered,
      (rows) => ['/mcp.asks.my_greet', '/mcp.asks.my_plan'].every((name) => rows.some((row) => row.includes(name))),
      'the prompts',
    );
    await page.screenshot('prompts');
    await page.press('Escape');
  });

  it('resources and templates are offered as context, less what is kept out', async () => {
    void vscode.commands.executeCommand('workbench.mcp.browseResources');
    const offered = (): Promise<string[]> => page.texts('.quick-input-widget .monaco-list-row');
    const rows = await until(offered, (all) => all.some((row) => row.includes('note://one')), 'the resources');
    await page.screenshot('resources');
    assert.ok(rows.some((row) => row.includes('note://{name}/raw')));
    assert.ok(!rows.some((row) => row.includes('note://two')));
    await page.press('Escape');
  });
});
