/**
 * A window without a folder (C5): the user's own servers work there, and other features report the
 * missing folder.
 */
import { join } from 'node:path';
import { repoRoot } from '../../support/npm.mjs';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import type { EditorWindow } from '../../support/editor/window.ts';

const script = join(repoRoot, 'test/fixtures/servers/raw.mjs');
const users = `version: 1\nservers:\n  mine: { transport: stdio, command: node, args: ['${script}', --tools, 'echo'] }\n`;

describe('a window without a folder', () => {
  let editor: Editor;
  let window: EditorWindow;

  after(() => editor.close());

  it("A window without a folder has the user's own servers, without a question", async () => {
    editor = await startEditor({
      settings: { 'mcpToolsets.approval': 'ask' },
      homeFiles: { '.minds/mcp.yaml': users },
    });
    window = await editor.openWindow('');
    await window.waitFor(
      ({ lm }) => lm.tools.map(({ name }) => name).filter((name) => name.startsWith('mcp_mine_')),
      (names) => names.length === 1,
    );
    await window.evaluate((api) => void api.commands.executeCommand('mcpToolsets.servers.focus'));
    await window.page.locator('.part.sidebar .monaco-list-row[aria-label^="mine"]').waitFor();
    await window.screenshot('no-folder');
  });
});
