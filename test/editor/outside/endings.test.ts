/**
 * No process is left when a window closes or reloads, or when its extension host is killed (X5).
 */
import assert from 'node:assert/strict';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import { waitUntil } from '../../support/editor/processes.ts';
import type { EditorWindow } from '../../support/editor/window.ts';
import { copyWorkspace } from '../../support/editor/workspaces.ts';

/** The bound for the end of all processes (X5), in milliseconds. */
const endLimit = 5_000;
/** The limit for a window with four servers to start, on a busy machine. */
const appearLimit = 60_000;
const tools = ['mcp_deaf_echo', 'mcp_family_child', 'mcp_npx_echo', 'mcp_shell_echo'];

describe('the end of a window', () => {
  let editor: Editor;
  const opened: { remove: () => Promise<void> }[] = [];

  before(async () => {
    editor = await startEditor({});
  });

  after(async () => {
    await editor.close();
    for (const each of opened) await each.remove();
  });

  const servers = (): number[] =>
    editor
      .processes()
      .filter(({ command }) => command.includes('fixtures/servers'))
      .map(({ pid }) => pid);

  async function open(): Promise<EditorWindow> {
    const copy = copyWorkspace('endings');
    opened.push(copy);
    const window = await editor.openWindow(copy.path);
    await untilPublished(window);
    return window;
  }

  const untilPublished = (window: EditorWindow): Promise<unknown> =>
    window.waitFor(
      (api) => api.lm.tools.map(({ name }) => name),
      (names) => tools.every((tool) => names.includes(tool)),
      appearLimit,
    );

  async function within(limitMs: number, accept: () => boolean): Promise<void> {
    if (await waitUntil(accept, limitMs)) return;
    assert.fail(`left after ${limitMs} ms: ${JSON.stringify(editor.processes())}`);
  }

  it('A reload leaves no old instance, and a closed window leaves no process', async () => {
    const window = await open();
    const old = servers();
    assert.ok(old.length >= 4);
    await window.reload();
    await untilPublished(window);
    await within(endLimit, () => !servers().some((pid) => old.includes(pid)));
    assert.ok(servers().length >= 4);
    await window.close();
    await within(endLimit, () => editor.processes().length === 0);
  });

  it('A killed extension host leaves no process after 5 s', async () => {
    const window = await open();
    await window.killExtensionHost();
    await within(endLimit, () => editor.processes().length === 0);
    await window.close();
  });
});
