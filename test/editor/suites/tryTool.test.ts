/** Trying a tool from the sidebar: its form, its result, its lease (E3, L1). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as vscode from 'vscode';
import { page } from '../../support/editor/bridge.ts';
import {
  entry,
  invoke,
  readConfig,
  servers,
  until,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';
import { inWebview } from '../../support/editor/webviews.ts';

const rows = '.part.sidebar .monaco-list-row';
const field = (name: string): string =>
  inWebview(
    `.field:has(label:text-matches("^${name}( required)?$")) >> css=input, textarea, select`,
  );

/** Control+A goes through the editor and may arrive after the next characters. */
async function selectLine(): Promise<void> {
  await page.press('End');
  await page.press('Shift+Home');
}
const button = (name: string): string => inWebview(`button:text-is("${name}")`);
const shown = async (selector: string): Promise<string> =>
  (await page.texts(inWebview(selector))).join('\n');
const untilShown = (selector: string, pattern: RegExp): Promise<string> =>
  until(
    () => shown(selector),
    (text) => pattern.test(text),
    `${selector} like ${String(pattern)}`,
  );

async function tryTool(server: string, tool: string): Promise<void> {
  await vscode.commands.executeCommand('mcpToolsets.tryTool', server, tool);
  await untilShown('h1', new RegExp(`^${tool}$`));
}

const closeAll = (): Thenable<unknown> =>
  vscode.commands.executeCommand('workbench.action.closeAllEditors');

/** Resolves with the opened document of arguments. */
async function editAsJson(): Promise<vscode.TextDocument> {
  await page.click(button('Edit as JSON'));
  const { document } = (await until(
    () => vscode.window.activeTextEditor,
    (editor) => editor?.document.uri.scheme === 'mcp-toolsets-arguments',
    'the document',
  )) as vscode.TextEditor;
  return document;
}

const plain = [
  'count',
  'content',
  'structured',
  'fail',
  'throw',
  'slow',
  'cancelled',
  'schema',
  'exit',
];
const tools = ['mcp_shop_order', ...plain.map((name) => `mcp_plain_${name}`)];

describe('try tool', () => {
  before(async () => {
    await untilTools(tools);
    await vscode.commands.executeCommand('mcpToolsets.servers.focus');
  });

  afterEach(closeAll);

  it('Try Tool opens with a click in the sidebar', async () => {
    await page.click(`${rows}[aria-label^="shop"]`);
    await page.hover(`${rows}[aria-label^="order, tool"]`);
    await page.click(`${rows}[aria-label^="order, tool"] .action-label[aria-label*="Try Tool"]`);
    await untilShown('h1', /^order$/);
    await untilShown('label', /name/);
    await page.screenshot('form');
  });

  it('Try Tool makes a form of the schema, reports wrong values and sends the entered ones', async () => {
    await tryTool('shop', 'order');
    await page.click(button('Run'));
    await untilShown('.error', /This is required/);
    await page.screenshot('form-with-faults');
    // The missing field has the focus. The test selects no field first, because the editor moves
    // the focus into a page with a delay.
    await page.type('Ann');
    await page.click(button('Add to tags'));
    await page.type('red');
    await page.click(field('street'));
    await page.type('High St');
    await page.press('Control+Enter');
    await untilShown('.status', /^Done after/);
    const sent = JSON.parse(await shown('.result figure pre')) as unknown;
    assert.deepEqual(sent, {
      name: 'Ann',
      size: 'large',
      count: 2,
      gift: true,
      address: { street: 'High St' },
      tags: ['red'],
    });
    await page.screenshot('form-result');
    await page.click(button('Copy Result'));
    await until(
      () => vscode.env.clipboard.readText(),
      (text) => text === JSON.stringify(sent),
      'the copied result',
    );
    await page.click(field('name'));
    await selectLine();
    await page.press('Delete');
    await page.press('Control+Enter');
    await untilShown('.note', /This is the result of the call before/);
    await untilShown('.status', /Some fields are not valid yet/);
  });

  it('Try Tool has names and states for a screen reader', async () => {
    await tryTool('shop', 'order');
    await page.click(button('Run'));
    await page.waitFor(inWebview('textarea[aria-required="true"][aria-invalid="true"]:focus'));
    await page.waitFor(inWebview('[role="status"]'));
    const unnamed = await page.texts(
      inWebview('input:not([id]), textarea:not([id]), select:not([id])'),
    );
    assert.deepEqual(unnamed, []);
  });

  it('Try Tool has no violation that axe finds, in a light and a dark theme', async () => {
    const themes = vscode.workspace.getConfiguration('workbench');
    for (const theme of ['Default Light Modern', 'Default Dark Modern', 'Default High Contrast']) {
      await themes.update('colorTheme', theme, vscode.ConfigurationTarget.Global);
      const kind = theme.includes('Light')
        ? 'light'
        : theme.includes('Contrast')
          ? 'high-contrast'
          : 'dark';
      await tryTool('shop', 'order');
      await page.waitFor(inWebview(`body.vscode-${kind} h1`));
      await page.click(button('Add to tags'));
      await page.click(button('Run'));
      await untilShown('.error', /This is required/);
      assert.deepEqual(await page.axe(inWebview('h1')), [], `a form in ${theme}`);
      await page.screenshot(`form-${kind}`);
      await tryTool('plain', 'content');
      await page.click(button('Run'));
      await untilShown('.status', /^Done after/);
      assert.deepEqual(await page.axe(inWebview('h1')), [], `a result in ${theme}`);
      await closeAll();
    }
    await themes.update('colorTheme', undefined, vscode.ConfigurationTarget.Global);
  });

  it('Try Tool edits the arguments as JSON, with the completion of the schema', async () => {
    await tryTool('shop', 'order');
    const document = await editAsJson();
    const complaints = (): string[] =>
      vscode.languages
        .getDiagnostics(document.uri)
        .map(({ message }) => message.split('\n', 1)[0] ?? '');
    await until(
      complaints,
      (all) => all.some((message) => message.includes('name')),
      'what the schema requires',
    );
    const edit = new vscode.WorkspaceEdit();
    const text = document.getText().replace(/\}\s*$/, '');
    const offer = `${text.trimEnd()},\n  "no": 1\n}`;
    edit.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), offer);
    await vscode.workspace.applyEdit(edit);
    const at = document.positionAt(document.getText().indexOf('"no"') + 2);
    const { items } = await vscode.commands.executeCommand<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      document.uri,
      at,
    );
    const labels = items.map(({ label }) => (typeof label === 'string' ? label : label.label));
    assert.ok(labels.includes('note'), labels.join(' '));
    await page.screenshot('arguments-as-json');
    const whole =
      '{ "name": "Bo", "size": "small", "count": 1, "gift": false, "extra": { "a": 1 } }';
    const all = new vscode.WorkspaceEdit();
    all.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), whole);
    await vscode.workspace.applyEdit(all);
    await until(complaints, (left) => left.length === 0, 'nothing to complain of');
    await page.click(button('Run'));
    await untilShown('.status', /^Done after/);
    assert.deepEqual(JSON.parse(await shown('.result figure pre')), JSON.parse(whole));
    await document.save();
  });

  it('Try Tool fetches no address from a schema, arguments or a result, and completes and checks by the rest', async () => {
    const asked: string[] = [];
    const listener = createServer(({ url }, response) => {
      asked.push(url ?? '');
      response.setHeader('content-type', 'application/json').end('{}');
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const at = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    const schema = {
      $schema: `${at}/draft`,
      $id: `${at}/id/`,
      type: 'object',
      properties: {
        $schema: { type: 'string', default: `${at}/argument` },
        near: { $ref: '#/$defs/near' },
        far: { $ref: `${at}/far`, type: 'integer' },
        relative: { $ref: 'relative.json', type: 'integer' },
        through: { $ref: '#/default' },
        other: { allOf: [{ $dynamicRef: `${at}/dynamic` }, { $recursiveRef: `${at}/recursive` }] },
      },
      $defs: { near: { $id: `${at}/near`, enum: ['left', 'right'] } },
      default: { $ref: `${at}/default` },
    };
    const before = await readConfig();
    const args = [
      '--schema',
      JSON.stringify(schema),
      '--result',
      JSON.stringify({ $schema: `${at}/result` }),
    ];
    await writeConfig(
      `${before}  far: ${entry('forms.mjs', args, 'transform: [{ prefix: far_ }]')}\n`,
    );
    try {
      await untilTools([...tools, 'mcp_far_order']);
      await tryTool('far', 'far_order');
      // The editor itself reads the "$schema" of each new tool before any use.
      asked.length = 0;
      const document = await editAsJson();
      const { $schema } = JSON.parse(document.getText()) as { readonly $schema: string };
      const all = new vscode.WorkspaceEdit();
      const whole = JSON.stringify(
        { $schema, near: 'up', far: 'a', relative: 'a', through: 1, other: 1 },
        undefined,
        2,
      );
      all.replace(document.uri, new vscode.Range(0, 0, document.lineCount, 0), whole);
      await vscode.workspace.applyEdit(all);
      const complaints = await until(
        () => vscode.languages.getDiagnostics(document.uri),
        ({ length }) => length === 3,
        'what the rest of the schema refuses',
      );
      assert.deepEqual(
        complaints.map(({ range }) => document.lineAt(range.start.line).text.trim()),
        ['"near": "up",', '"far": "a",', '"relative": "a",'],
      );
      await page.click(button('Run'));
      await untilShown('.status', /^Done after/);
      await page.click(button('Open Result in Editor'));
      const opened = await until(
        () => vscode.window.activeTextEditor?.document,
        (now) => now !== undefined && now.getText().includes('content'),
        'the result in an editor',
      );
      // The editor answers once it knows the schema of the document.
      await vscode.commands.executeCommand('vscode.executeDocumentSymbolProvider', opened?.uri);
      await vscode.commands.executeCommand(
        'vscode.executeHoverProvider',
        opened?.uri,
        new vscode.Position(1, 4),
      );
      assert.deepEqual(asked, []);
      await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    } finally {
      listener.close();
      await writeConfig(before);
      await untilTools(tools);
    }
  });

  it('Try Tool edits the arguments of a tool named schema, not its schema', async () => {
    await tryTool('plain', 'schema');
    const document = await editAsJson();
    assert.deepEqual(Object.keys(JSON.parse(document.getText()) as object), ['$schema']);
    await page.click(button('Run'));
    await untilShown('.status', /^Done after/);
    assert.deepEqual(JSON.parse(await shown('.result figure pre')), {});
  });

  it('Try Tool has inputs for dates, e-mail and URIs, and reports invalid ones', async () => {
    const before = await readConfig();
    const text = (format: string): object => ({ type: 'string', format });
    const schema = {
      type: 'object',
      properties: {
        day: text('date'),
        at: text('date-time'),
        mail: text('email'),
        page: text('uri'),
        word: text(''),
      },
      required: ['word'],
    };
    const args = ['--schema', JSON.stringify(schema)];
    await writeConfig(
      `${before}  dates: ${entry('forms.mjs', args, 'transform: [{ prefix: dates_ }]')}\n`,
    );
    try {
      await untilTools([...tools, 'mcp_dates_order']);
      await tryTool('dates', 'dates_order');
      await page.click(field('mail'));
      await page.type('ann');
      await page.click(field('page'));
      await page.type('example');
      await page.press('Control+Enter');
      await untilShown(
        '.error',
        /not an e-mail address[^]*not a URI[^]*To send an empty text, use Edit as JSON/,
      );
      await page.screenshot('formats');
      await page.click(field('mail'));
      await page.press('End');
      await page.type('@example.com');
      await page.click(field('page'));
      await selectLine();
      await page.type('https://example.com');
      await page.click(field('day'));
      await page.type('01312026');
      await page.click(field('word'));
      await page.type('x');
      await page.press('Control+Enter');
      await untilShown('.status', /^Done after/);
      const sent = {
        day: '2026-01-31',
        mail: 'ann@example.com',
        page: 'https://example.com',
        word: 'x',
      };
      assert.deepEqual(JSON.parse(await shown('.result figure pre')), sent);
    } finally {
      await writeConfig(before);
      await untilTools(tools);
    }
  });

  it('Try Tool numbers the items of a list so that labels are unique', async () => {
    await tryTool('shop', 'order');
    for (let count = 0; count < 3; count++) await page.click(button('Add to tags'));
    await page.click(inWebview('button[aria-label="Remove tags 1"]'));
    await page.click(button('Add to tags'));
    await untilShown('.item label', /4/);
    assert.deepEqual(await page.texts(inWebview('.item label')), ['tags 2', 'tags 3', 'tags 4']);
    await page.click(inWebview('button[aria-label="Remove tags 4"]'));
    await page.click(inWebview('button[aria-label="Remove tags 3"]'));
    await page.click(button('Add to tags'));
    assert.deepEqual(await page.texts(inWebview('.item label')), ['tags 2', 'tags 3']);
  });

  it('Try Tool shows every kind of content', async () => {
    await tryTool('plain', 'content');
    await page.click(button('Run'));
    await untilShown('.status', /^Done after/);
    await page.waitFor(inWebview('.result img'));
    await page.waitFor(inWebview('.result audio'));
    const text = await shown('.result');
    for (const part of [
      'some text',
      'embedded text',
      'application/octet-stream, 3 bytes',
      'linked',
      'test://linked',
    ]) {
      assert.ok(text.includes(part), `${part} in ${text}`);
    }
    await page.screenshot('content');
    await tryTool('plain', 'structured');
    await page.click(button('Run'));
    await untilShown('.result', /"celsius": 21.5/);
    await page.click(button('Open Result in Editor'));
    await until(
      () => vscode.window.activeTextEditor?.document.getText() ?? '',
      (now) => now.includes('structuredContent'),
      'the result in an editor',
    );
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it('Try Tool shows errors of the tool and of the protocol', async () => {
    await tryTool('plain', 'fail');
    await page.click(button('Run'));
    await untilShown('.status.error', /^The tool reports an error/);
    await tryTool('plain', 'throw');
    await page.click(button('Run'));
    await untilShown('.status.error', /^Failed/);
    await untilShown('.result', /thrown on request \(-32000\)/);
    await page.screenshot('error');
    await tryTool('plain', 'exit');
    await page.click(button('Run'));
    await untilShown('.status.error', /^Failed/);
    await untilShown('.result pre.error', /^result unknown/);
  });

  it('Try Tool shows progress, and cancels', async () => {
    await tryTool('plain', 'slow');
    await page.click(field('ms'));
    await page.type('60000');
    await page.click(field('steps'));
    await page.type('600');
    await page.press('Control+Enter');
    await untilShown('.status', /^Running… [2-9]\/600 · step/);
    await page.screenshot('progress');
    await page.press('Escape');
    await untilShown('.status', /^Cancelled after/);
  });

  it('Try Tool has a separate instance, which ends with the panel', async () => {
    assert.equal(await invoke('mcp_plain_count'), '1');
    const before = (await servers()).length;
    await tryTool('plain', 'count');
    for (const count of ['1', '2']) {
      await page.click(button('Run'));
      await untilShown('.result figure pre', new RegExp(`^${count}$`));
    }
    assert.equal(await invoke('mcp_plain_count'), '2', 'another instance');
    await page.screenshot('lease');
    assert.ok((await servers()).length > before);
    await closeAll();
    await until(servers, (all) => all.length === before, 'the instance has ended');
  });

  it('Try Tool leaves no error on the console', async () => {
    const own = (await page.consoleErrors()).filter((error) =>
      /Content.Security|tryTool|webview/i.test(error),
    );
    assert.deepEqual(own, []);
  });
});
