/**
 * In the second window of a workspace, tools are there before their server, and a call waits for it
 * (P8).
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { untilStored } from '../../support/editor/browserStores.ts';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import type { EditorWindow } from '../../support/editor/window.ts';
import { copyWorkspace } from '../../support/editor/workspaces.ts';

describe('toolsets of an earlier window', () => {
  let editor: Editor;
  let window: EditorWindow;
  const copy = copyWorkspace('remembered');

  before(async () => {
    editor = await startEditor({ settings: { 'chat.tools.global.autoApprove': true } });
    window = await editor.openWindow(copy.path);
    await prepare();
  });

  after(async () => {
    await editor.close();
    await copy.remove();
  });

  const prepare = async (): Promise<void> => {
    await window.approveCalls();
    await window.evaluate(
      ({ commands }) => void commands.executeCommand('mcpToolsets.servers.focus'),
    );
  };
  const tell = (told: object): void =>
    writeFileSync(join(copy.path, 'told.json'), JSON.stringify(told));
  const starts = (): number =>
    readFileSync(join(copy.path, 'starts'), 'utf8').trim().split('\n').length;
  const row = (): ReturnType<EditorWindow['page']['locator']> =>
    window.page.locator('.part.sidebar .monaco-list-row', { hasText: 'told' }).first();
  const untilTools = (expected: readonly string[]): Promise<unknown> =>
    window.waitFor(
      ({ lm }) => lm.tools.map(({ name }) => name).filter((name) => name.startsWith('mcp_told_')),
      (names) => JSON.stringify(names.sort()) === JSON.stringify(expected),
    );

  it('Toolsets of an earlier window are there while the server starts, and a call waits for it', async () => {
    await untilTools(['mcp_told_one', 'mcp_told_two']);
    assert.equal(await window.invokeTool('mcp_told_one'), 'one');
    tell({ hold: true });
    await window.reload();
    await prepare();
    await untilTools(['mcp_told_one', 'mcp_told_two']);
    await row().filter({ hasText: 'remembered' }).waitFor();
    assert.match(await row().innerText(), /starting… · 2 tools · remembered, <1 min old/);
    const called = window.invokeTool('mcp_told_two');
    called.catch(() => undefined);
    tell({ tools: ['one', 'two'] });
    assert.equal(await called, 'two');
    await row().filter({ hasNotText: 'remembered' }).waitFor();
    assert.equal(starts(), 2);
  });

  it('The editor knows a toolset by the version of the extension, in each window the same (G3j)', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    await untilStored(window, 'mcp.extCachedServers', `"label":"told","cacheNonce":"${version}"`);
  });

  it('A tool that is ticked again in the next window brings its pattern back (E3)', async () => {
    const file = join(copy.path, '.minds', 'mcp.yaml');
    const text = readFileSync(file, 'utf8');
    const withPattern = `${text.trimEnd()}\n    tools: { whitelist: ['*o*'] }\n`;
    writeFileSync(file, withPattern);
    const tick = (command: string): Promise<void> =>
      window.evaluate(
        async ({ commands }, name) =>
          void (await commands.executeCommand(`mcpToolsets.${name}`, {
            node: { kind: 'tool', server: 'told', original: 'two', ticked: true },
          })),
        command,
      );
    await untilTools(['mcp_told_one', 'mcp_told_two']);
    await tick('keepOutTool');
    await untilTools(['mcp_told_one']);
    assert.doesNotMatch(readFileSync(file, 'utf8'), /\*o\*/);
    await untilStored(window, 'minds.mcp-toolsets', '"pattern":"*o*"');
    await window.reload();
    await prepare();
    await untilTools(['mcp_told_one']);
    await tick('publishTool');
    await untilTools(['mcp_told_one', 'mcp_told_two']);
    assert.equal(readFileSync(file, 'utf8'), withPattern);
    writeFileSync(file, text);
  });

  it('Toolsets of an earlier window are there in a parallel window too, and then match the server', async () => {
    tell({ hold: true });
    // The editor gives a second window of a folder another storage. A reload gets the other storage
    // too if the old window ends slowly.
    window = await editor.openWindow(copy.path);
    await prepare();
    await row().filter({ hasText: 'remembered' }).waitFor();
    tell({ tools: ['two', 'three'] });
    await untilTools(['mcp_told_three', 'mcp_told_two']);
  });
});
