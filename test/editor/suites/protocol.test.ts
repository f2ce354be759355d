/** Prompts, resources and questions of servers in the real editor (G4). */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { ask, calls, enableAgentMode, newChat } from '../../support/editor/agentMode.ts';
import { needsPage, page } from '../../support/editor/bridge.ts';
import {
  entry,
  folder,
  readConfig,
  servers,
  until,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';

const tools = [
  ...[
    'add',
    'ask_much',
    'cancelled',
    'capabilities',
    'contents',
    'early_roots',
    'elicit',
    'elicit_beside',
  ],
  ...[
    'elicit_url',
    'give_up',
    'hold',
    'level',
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

/**
 * Makes the agent call a tool that asks for a colour, and answers as the person. Returns the chat
 * with the result.
 */
async function answeredInChat(tool: string, answer: string): Promise<string> {
  // The command ends with the question, because the agent waits from then on.
  const asked = ask(calls({ tool, input: { message: 'Which colour?' } })).catch(() => undefined);
  await page.waitFor('.interactive-session >> text="Which colour?"');
  await page.screenshot('elicitation');
  await page.click('.interactive-session [placeholder="Enter your answer"]');
  await page.type(answer);
  await page.click('.interactive-session .monaco-button >> text="Submit"');
  await asked;
  const chat = (): Promise<string> =>
    page.texts('.interactive-session').then((texts) => texts.join('\n'));
  return await until(chat, (text) => text.includes(`RESULT ${tool}: `), 'the answer in the chat');
}

/** Tests that use the page with the agent of the editor. */
function withAgent(): void {
  before(async function () {
    await needsPage(this);
    await untilTools(tools);
    await enableAgentMode();
  });
}

describe('features besides tools (G4)', () => {
  withAgent();

  it("The warm server got the editor's real capabilities at its start, so the first conversation gets this instance (L4)", async () => {
    const [warm] = await servers();
    const { text } = await ask(calls({ tool: 'mcp_asks_capabilities' }, { tool: 'mcp_asks_pid' }));
    assert.match(text, /"roots":\{"listChanged":true\}/);
    assert.match(text, /"sampling":\{/);
    assert.match(text, /"elicitation":\{[^}]*"form"/);
    assert.match(text, new RegExp(`: ${warm?.pid}\\b`));
    assert.equal((await servers()).length, 1);
  });

  it('Roots are the folders of the window', async () => {
    const { text } = await ask(calls({ tool: 'mcp_asks_roots' }));
    assert.ok(text.includes(vscode.Uri.file(folder()).toString()), text);
  });

  it('An elicitation of a leased instance is answered in the chat of its call', async () => {
    await newChat();
    const text = await answeredInChat('mcp_asks_elicit', 'blue');
    assert.match(text, /RESULT mcp_asks_elicit: .*"answer":"blue"/);
  });

  it('Sampling asks the person and needs consent', async () => {
    await newChat();
    const sample = calls({ tool: 'mcp_asks_sample', input: { prompt: 'Say hello' } });
    // Under test the editor shows no dialog and describes it instead.
    assert.match(
      (await ask(sample)).text,
      /The MCP server .*asks.* has issued a request to make a language model call/,
    );
    const consent = {
      'MCP Toolsets: asks': { allowedDuringChat: true, allowedModels: ['scripted/scripted-1'] },
    };
    await vscode.workspace
      .getConfiguration('chat.mcp')
      .update('serverSampling', consent, vscode.ConfigurationTarget.Workspace);
    assert.match((await ask(sample)).text, /"model":"scripted[^]*"text":"OK"/);
  });

  it('Prompts are slash commands under their transformed names', async () => {
    await newChat();
    await vscode.commands.executeCommand('workbench.action.chat.focusInput');
    await page.type('/mcp.');
    const offered = (): Promise<string[]> => page.texts('.suggest-widget .monaco-list-row');
    await until(
      offered,
      (rows) =>
        ['/mcp.asks.my_greet', '/mcp.asks.my_plan'].every((name) =>
          rows.some((row) => row.includes(name)),
        ),
      'the prompts',
    );
    await page.screenshot('prompts');
    await page.press('Escape');
  });

  it('Resources and templates are offered as context without the filtered ones', async () => {
    void vscode.commands.executeCommand('workbench.mcp.browseResources');
    const offered = (): Promise<string[]> => page.texts('.quick-input-widget .monaco-list-row');
    const rows = await until(
      offered,
      (all) => all.some((row) => row.includes('note://one')),
      'the resources',
    );
    await page.screenshot('resources');
    assert.ok(rows.some((row) => row.includes('note://{name}/raw')));
    assert.ok(!rows.some((row) => row.includes('note://two')));
    await page.press('Escape');
  });
});

/**
 * Neither the editor's client nor this server knows the era of the other.
 * `integration/core/eraMatrix.test.ts` has the deaths and restarts of such servers.
 */
describe('a server of 2026-07-28 only (X8)', () => {
  withAgent();

  const own = ['add', 'echo', 'elicit', 'elicit_url', 'end', 'endless', 'pid'].map(
    (name) => `mcp_modern_${name}`,
  );
  const pidOf = async (): Promise<number> => {
    const { text } = await ask(calls({ tool: 'mcp_modern_pid' }));
    return Number(/RESULT mcp_modern_pid: (\d+)/.exec(text)?.[1]);
  };

  before(async () => {
    const more = 'tools: { whitelist: ["e*", add, pid] }, transform: [{ prefix: modern_ }]';
    await writeConfig(`${await readConfig()}  modern: ${entry('modern.mjs', [], more)}\n`);
    await untilTools([...tools, ...own]);
    await newChat();
  });

  it('The agent calls a modern server on an instance of the conversation', async () => {
    const { text } = await ask(
      calls({ tool: 'mcp_modern_echo', input: { text: 'hello from the agent' } }),
    );
    assert.match(text, /RESULT mcp_modern_echo: .*hello from the agent/);
    const pid = await pidOf();
    assert.equal(await pidOf(), pid);
    await newChat();
    assert.notEqual(await pidOf(), pid);
  });

  it('A modern server asks during a call, and the person answers in the chat', async () => {
    await newChat();
    const text = await answeredInChat('mcp_modern_elicit', 'green');
    assert.match(text, /RESULT mcp_modern_elicit: .*"answer":"green"/);
  });

  it('A modern server gains a tool, and the agent calls it', async () => {
    await newChat();
    const { text: added } = await ask(calls({ tool: 'mcp_modern_add', input: { name: 'extra' } }));
    assert.match(added, /RESULT mcp_modern_add: .*added/);
    await untilTools([...tools, ...own, 'mcp_modern_extra']);
    // The editor offers a tool to the model somewhat later than it lists it.
    const called = async (): Promise<string> =>
      (await ask(calls({ tool: 'mcp_modern_extra' }))).text;
    const text = await until(
      called,
      (answer) => !answer.startsWith('NOT OFFERED'),
      'the new tool to be offered',
    );
    assert.match(text, /RESULT mcp_modern_extra: .*extra/);
  });
});
