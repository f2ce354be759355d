/**
 * Results as the model gets them from the editor's own agent: each kind of content, a mix, long
 * texts, and their files (V1–V3). The agent itself writes texts over 8 KiB to files, so our
 * shortened texts have to stay below that.
 */
import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, sep } from 'node:path';
import * as vscode from 'vscode';
import {
  ask,
  calls,
  enableAgentMode,
  forgetRequests,
  modelRequests,
  newChat,
} from '../../support/editor/agentMode.ts';
import { needsPage, page } from '../../support/editor/bridge.ts';
import { until, untilTools } from '../../support/editor/product.ts';
import { inWebview } from '../../support/editor/webviews.ts';

describe('results in agent mode', () => {
  before(async () => {
    await untilTools([
      ...['content', 'large', 'structured', 'fail'].map((name) => `mcp_shop_${name}`),
      'mcp_own_content',
    ]);
    await enableAgentMode();
  });

  beforeEach(async () => {
    await newChat();
    await forgetRequests();
  });

  afterEach(async () => {
    await set('maxResultBytes', undefined);
    await set('artifactsQuota', undefined);
  });

  async function set(name: string, value: number | undefined): Promise<void> {
    await vscode.workspace
      .getConfiguration('mcpToolsets')
      .update(name, value, vscode.ConfigurationTarget.Global);
  }

  /** The results in the last request to the model, in the order of the calls. */
  async function seen(...asked: { tool: string; input?: unknown }[]): Promise<string[]> {
    await ask(calls(asked));
    const last = (await modelRequests()).at(-1);
    return last?.messages.flatMap(({ results }) => results.map(({ text }) => text)) ?? [];
  }

  const fileIn = (text: string, before: string): string => {
    const found = new RegExp(`${before} ([^\\]]+)\\]`).exec(text)?.[1];
    assert.ok(found, `no path after "${before}" in ${text.slice(0, 2_000)}`);
    return found;
  };

  it('Each kind of content is readable, and its files exist (V1, V2)', async () => {
    const [text = ''] = await seen({ tool: 'mcp_shop_content' });
    assert.doesNotMatch(text, /some text/, 'what is for the user alone');
    assert.match(text, /\[image\/png, 70 bytes\]/, 'the image itself');
    assert.match(text, /Resource test:\/\/embedded\/text \(text\/plain\):\nembedded text/);
    assert.match(text, /Resource link "linked": test:\/\/linked \(text\/plain\)\nA link\./);
    const png = fileIn(text, '\\[Image: image/png, 70 bytes\\. Saved as');
    const wav = fileIn(text, '\\[Audio: audio/wav, 44 bytes\\. Saved as');
    const bin = fileIn(
      text,
      '\\[Resource test://embedded/blob: application/octet-stream, 3 bytes\\. Saved as',
    );
    assert.equal((await readFile(png)).toString('latin1', 1, 4), 'PNG');
    assert.equal((await readFile(wav)).toString('latin1', 0, 4), 'RIFF');
    assert.deepEqual([...(await readFile(bin))], [0, 1, 2]);
    const storage = [
      'workspaceStorage',
      'minds.mcp-toolsets',
      'artifacts',
      'mcp',
      'shop',
      'content',
    ];
    for (const file of [png, wav, bin]) {
      assert.deepEqual(
        file.split(sep).filter((part) => storage.includes(part)),
        storage,
      );
    }
    assert.equal((await readdir(dirname(png))).length, 3, 'nothing unfinished is left');
    // The first two groups of the UUID identify the conversation.
    const marks = (file: string): string =>
      /Z-([\da-f]{8}-[\da-f]{4}-8)[\da-f]{3}-/.exec(file)?.[1] ?? file;
    assert.equal(marks(wav), marks(png));
    const [again = ''] = await seen({ tool: 'mcp_shop_content' });
    const later = fileIn(again, '\\[Image: image/png, 70 bytes\\. Saved as');
    assert.equal(marks(later), marks(png), 'of one conversation');
    await newChat();
    const [other = ''] = await seen({ tool: 'mcp_shop_content' });
    const elsewhere = fileIn(other, '\\[Image: image/png, 70 bytes\\. Saved as');
    assert.match(marks(elsewhere), /^[\da-f]/);
    assert.notEqual(marks(elsewhere), marks(png), 'of another');
  });

  it('The files of a conversation are found at its leased instance (V2)', async function () {
    await needsPage(this);
    const [text = ''] = await seen({ tool: 'mcp_own_content' });
    const png = fileIn(text, '\\[Image: image/png, 70 bytes\\. Saved as');
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
    const rows = '.part.sidebar .monaco-list-row';
    await page.click(`${rows}[aria-label^="own"][aria-expanded="false"] .monaco-tl-twistie`);
    await page.click(`${rows}[aria-expanded="false"]:has-text("Instances") .monaco-tl-twistie`);
    const lease = `${rows}[aria-label*=", instance, "]`;
    await page.hover(lease);
    await page.click(`${lease} >> [aria-label="Show Files of This Conversation"]`);
    const items = '.quick-input-list .monaco-list-row';
    await page.waitFor(items);
    await page.screenshot('files-of-a-chat');
    assert.deepEqual(
      (await page.texts(items))
        .map((words) => /^own_content\.[a-z]+/.exec(words.trim())?.[0])
        .sort(),
      ['own_content.bin', 'own_content.png', 'own_content.wav'],
      'none of other conversations',
    );
    await page.click(`${items}:has-text("own_content.png")`);
    const opened = await until(
      () => vscode.window.tabGroups.activeTabGroup.activeTab?.input,
      (input) =>
        input instanceof vscode.TabInputCustom && input.uri.path.endsWith('/own_content.png'),
      'the image in an editor',
    );
    assert.ok(opened instanceof vscode.TabInputCustom);
    assert.ok(
      (await readFile(png)).equals(await vscode.workspace.fs.readFile(opened.uri)),
      'the file itself',
    );
    await until(
      () => page.images(inWebview('img')),
      (found) => found.some(({ width }) => width === 1),
      'its pixel',
    );
    await page.screenshot('file-of-a-chat');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  it('Structured content and errors arrive beside each other (V1)', async () => {
    const [weather = '', failed = ''] = await seen(
      { tool: 'mcp_shop_structured' },
      { tool: 'mcp_shop_fail', input: { text: 'no luck' } },
    );
    assert.deepEqual(JSON.parse(weather), { celsius: 21.5, place: 'Bremen' });
    assert.equal(failed, 'Error: no luck');
  });

  it('A text over the limit becomes head, tail, sizes and the path of the whole (V3)', async () => {
    const bytes = 3_000_000;
    const [text = ''] = await seen({ tool: 'mcp_shop_large', input: { bytes } });
    assert.match(
      text,
      /^x{4096}\n\n\[3\.0 MB of 3\.0 MB left out here, over the limit of 1\.0 MB\. All of it is in .+\]\n\nx{2048}$/,
    );
    assert.equal((await stat(fileIn(text, 'All of it is in'))).size, bytes);
  });

  it('Both settings apply at once', async () => {
    await set('maxResultBytes', 2_048);
    const [first = ''] = await seen({ tool: 'mcp_shop_large', input: { bytes: 4_000 } });
    assert.match(first, /over the limit of 2\.0 kB\. All of it is in /);
    await set('artifactsQuota', 0);
    await newChat();
    const [second = '', content = ''] = await seen(
      { tool: 'mcp_shop_large', input: { bytes: 4_000 } },
      { tool: 'mcp_shop_content' },
    );
    assert.match(second, /It was not saved: mcpToolsets\.artifactsQuota is 0\]/);
    assert.match(
      content,
      /\[Audio: audio\/wav, 44 bytes\. Not saved: mcpToolsets\.artifactsQuota is 0\]/,
    );
    assert.match(content, /\[image\/png, 70 bytes\]/, 'the model still sees the image');
  });

  it('A long error is an error, and shortened', async () => {
    await set('maxResultBytes', 2_048);
    const [text = ''] = await seen({ tool: 'mcp_shop_fail', input: { text: 'no '.repeat(1_000) } });
    assert.match(text, /^Error: no no [^]+ All of it is in .+\.txt\]/);
  });
});
