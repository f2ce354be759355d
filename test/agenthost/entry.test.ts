/**
 * A committed `.mcp.json` with an entry of ours beside the extension (G6c): neither a chat of the
 * agent host nor agent mode gets a toolset twice, and each chat has its own instance.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { entryKeys, launcherFor } from '../../src/core/agents/agents.ts';
import { HostWindow } from './hostWindow.ts';

describe('an entry of ours in .mcp.json', function () {
  this.timeout(600_000);
  let host: HostWindow;

  before(async () => {
    host = await HostWindow.open();
    await host.approve('counter');
    const counter = entryKeys('claude-code', 'counter', launcherFor('claude-code', '/'), '/ws');
    await writeFile(join(host.workspace, '.mcp.json'), JSON.stringify({ mcpServers: { counter } }));
  });

  after(() => host?.close());

  it('A chat of the agent host gets each tool once', async () => {
    const talk = await host.begin();
    const names = (await talk.tools())
      .map(({ name }) => name)
      .filter((name) => name.includes('counter'));
    assert.deepEqual(
      names.filter((name) => name.endsWith('tally')),
      ['counter-tally'],
      names.join(', '),
    );
    assert.match((await talk.callAs({ name: 'counter-tally' })).text, /Call 1 of process \d+/);
    await talk.finish();
  });

  it('Agent mode gets each tool once, by the entry, and a problem says how it starts', async () => {
    assert.match(
      await host.untilProblem('editor-toolset-hidden'),
      /from the entry "counter" of \.mcp\.json/,
    );
    await host.window.screenshot('entry-problem');
    void host.window.evaluate(
      ({ commands }) =>
        void commands.executeCommand('workbench.mcp.startServer', '*', { waitForLiveTools: true }),
    );
    const names = await host.window.waitFor(
      ({ lm }) => lm.tools.map(({ name }) => name).filter((name) => name.endsWith('_tally')),
      (found) => found.length > 0,
      60_000,
    );
    // The editor keeps the prefix `mcp_counter_` for the definition of the extension.
    assert.deepEqual(names, ['mcp_counter2_tally']);
    await host.window.waitFor(
      ({ languages }) =>
        languages
          .getDiagnostics()
          .flatMap(([, all]) => all)
          .map(({ code }) => String(typeof code === 'object' ? code.value : code)),
      (codes) => !codes.includes('editor-toolset-hidden'),
      60_000,
    );
  });
});
