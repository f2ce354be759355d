/** The editor's own agent mode calls our tools. Only the language model is scripted. */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import {
  ask,
  calls,
  enableAgentMode,
  forgetRequests,
  modelRequests,
  newChat,
} from '../../support/editor/agentMode.ts';
import { page } from '../../support/editor/bridge.ts';
import {
  entry,
  readConfig,
  servers,
  until,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';

const count = calls({ tool: 'mcp_counter_count' });

describe('agent mode', () => {
  before(async () => {
    await untilTools(
      ['count', 'pid', 'echo', 'structured', 'fail'].map((name) => `mcp_counter_${name}`),
    );
    await enableAgentMode();
  });

  it('The agent calls a tool and gets its answer', async () => {
    const { text } = await ask(
      calls({ tool: 'mcp_counter_echo', input: { text: 'hello from the agent' } }),
    );
    assert.match(text, /RESULT mcp_counter_echo: .*hello from the agent/);
  });

  it('The agent keeps one instance per conversation (G3, L1)', async () => {
    assert.match((await ask(count)).text, /: 1\b/);
    assert.match((await ask(count)).text, /: 2\b/);
    await newChat();
    assert.match((await ask(count)).text, /: 1\b/, 'a new conversation has an instance of its own');
    assert.equal((await servers()).length, 2);
    await page.screenshot('agent-mode').catch(() => undefined);
  });

  it("The sidebar names the agent's instance, and a click opens the conversation (E3)", async () => {
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
    const rows = '.part.sidebar .monaco-list-row';
    await page.click(`${rows}[aria-label^="counter, server"]`);
    await page.click(`${rows}[aria-label^="Instances"]`);
    const instance = `${rows}[aria-label*=", instance, mcp_counter"], ${rows}[aria-label*=", instance, count"]`;
    // The editor writes a chat to its file some time after the answer, so the other may have no
    // title yet.
    await page.waitFor(instance);
    await page.screenshot('conversations');
    await page.click(`${instance} >> nth=0`);
    await until(
      () => vscode.window.tabGroups.activeTabGroup.activeTab?.label,
      (label) => label !== undefined,
      'the conversation in an editor',
    );
    await page.screenshot('conversation-opened');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('The agent is notified once of its leased instance and can release it (L3, L5)', async () => {
    await newChat();
    assert.match(
      (await ask(count)).text,
      /: 1\b[^]*its own instance of "counter"[^]*mcp_admin_release/,
    );
    assert.doesNotMatch((await ask(count)).text, /its own instance/);
    const { text } = await ask(
      calls({ tool: 'mcp_admin_release', input: { serverId: 'counter' } }),
    );
    assert.match(text, /has ended/);
    assert.match((await ask(count)).text, /: 1\b/, 'the next call has a fresh one');
  });

  it("The calls of an agent's turn run in parallel on one instance", async () => {
    await newChat();
    const { text } = await ask(
      calls([
        { tool: 'mcp_counter_count' },
        { tool: 'mcp_counter_count' },
        { tool: 'mcp_counter_pid' },
      ]),
    );
    assert.match(text, /: 1\b/);
    assert.match(text, /: 2\b/);
  });

  it('The agent is notified that its state is lost after the death of its instance (X4)', async () => {
    await newChat();
    const pid = Number(
      /RESULT mcp_counter_pid: (\d+)/.exec(
        (await ask(calls({ tool: 'mcp_counter_pid' }))).text,
      )?.[1],
    );
    process.kill(pid, 'SIGKILL');
    await until(servers, (running) => running.every((each) => each.pid !== pid), 'its end');
    assert.match((await ask(count)).text, /: 1\b[^]*is gone/);
    assert.doesNotMatch((await ask(count)).text, /is gone/);
  });

  it('The agent has a fresh instance after a change of its server, and the old one ends (L2)', async () => {
    await newChat();
    await ask(count);
    const before = (await servers()).map(({ pid }) => pid);
    await writeConfig((await readConfig()).replace('--tools', "--name', 'other', '--tools"));
    await until(
      servers,
      (running) => running.every(({ pid }) => !before.includes(pid)),
      'only new processes',
    );
    assert.match((await ask(count)).text, /: 1\b/);
  });

  it('Beyond the limit of the setting a call fails and says how to raise it, and no conversation loses its instance (L2b)', async () => {
    const settings = vscode.workspace.getConfiguration('mcpToolsets');
    await settings.update('maxInstances', 1, vscode.ConfigurationTarget.Global);
    await newChat();
    assert.match((await ask(count)).text, /limit of 1 instances[^]*mcpToolsets\.maxInstances/);
    await settings.update('maxInstances', undefined, vscode.ConfigurationTarget.Global);
  });

  it('A server that shuffles, its restarts and its deaths change no byte of the tools for the model (N6)', async () => {
    assert.equal(new Set(await offered(/^mcp_counter_/, 10)).size, 1);
  });

  it('The agent gets the tools under their ids', async () => {
    const requests = await modelRequests();
    assert.ok(requests.at(-1)?.tools.some(({ name }) => name === 'mcp_counter_count'));
  });

  it('The agent reads both kinds of content, and an error as an error (V1)', async () => {
    assert.match(
      (await ask(calls({ tool: 'mcp_counter_structured' }))).text,
      /RESULT mcp_counter_structured: .+/,
    );
    assert.match(
      (await ask(calls({ tool: 'mcp_counter_fail', input: { text: 'no luck' } }))).text,
      /Error: ?no luck/,
    );
  });

  // `integration/core/sameList.test.ts` has 100 restarts of 20 servers.
  it('10 restarts of 5 servers that shuffle change no byte of the tools for the model (N6)', async () => {
    const ids = Array.from({ length: 5 }, (_, index) => `s${index}`);
    const before = await readConfig();
    const args = ['--shuffle', '--tools', 'pid,echo'];
    const row = (id: string): string =>
      `  ${id}: ${entry('raw.mjs', args, `truely-stateless: true, transform: [{ prefix: '${id}_' }]`)}\n`;
    await writeConfig(`version: 1\nservers:\n${ids.map(row).join('')}`);
    await untilTools(ids.flatMap((id) => [`mcp_${id}_echo`, `mcp_${id}_pid`]));
    await newChat();
    await forgetRequests();
    const pids = new Set<number>();
    for (let round = 0; round < 2; round++) {
      await ask(calls(ids.map((serverId) => ({ tool: 'mcp_admin_restart', input: { serverId } }))));
      for (const { pid } of await servers()) pids.add(pid);
    }
    assert.ok(pids.size >= 10, String(pids.size));
    assert.equal(new Set(await offered(/^mcp_s\d+_/, 3)).size, 1);
    await writeConfig(before);
  });
});

/** The tools in each request to the model. @param least the number of requests */
async function offered(names: RegExp, least: number): Promise<string[]> {
  const ours = (await modelRequests()).map(({ tools }) =>
    JSON.stringify(tools.filter(({ name }) => names.test(name))),
  );
  assert.ok(ours.length > least, String(ours.length));
  return ours;
}
