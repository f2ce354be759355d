/** Searches all texts and stores of the extension in a real window for secrets (E4). */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tokenFileOf } from '../../../src/core/files/tokenFile.ts';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import type { EditorWindow } from '../../support/editor/window.ts';
import { copyWorkspace } from '../../support/editor/workspaces.ts';
import { freePort } from '../../support/freePort.ts';

/**
 * Runs in the page: every value of every store of the browser. It is text, because the page lacks
 * our types.
 */
const readStores = `(async () => {
  const databases = await indexedDB.databases();
  const settled = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const values = [];
  for (const { name } of databases) {
    const database = await settled(indexedDB.open(name));
    for (const store of database.objectStoreNames) {
      values.push(await settled(database.transaction(store).objectStore(store).getAll()));
    }
    database.close();
  }
  return JSON.stringify(values, (_, value) =>
    value instanceof Uint8Array || value instanceof ArrayBuffer ? new TextDecoder().decode(value) : value,
  );
})()`;

const canary = /canary-[a-z]+-5ca1ab1e/g;

describe('secrets in a window (E4)', () => {
  let editor: Editor;
  let window: EditorWindow;
  const copy = copyWorkspace('secrets');
  /** The token of the endpoint for agents outside the editor. */
  const token = 'canary-endpoint-5ca1ab1e-0123456789-0123456789';
  let port: number;

  before(async () => {
    port = await freePort();
    editor = await startEditor({
      env: { HOST_SECRET: 'canary-host-5ca1ab1e' },
      settings: {
        'mcpToolsets.approval': 'ask',
        'mcpToolsets.trace': true,
        'mcpToolsets.endpoint.port': port,
        'chat.tools.global.autoApprove': true,
      },
    });
    const tokenFile = tokenFileOf(realpathSync(copy.path), editor.home);
    mkdirSync(dirname(tokenFile), { recursive: true, mode: 0o700 });
    writeFileSync(tokenFile, token, { mode: 0o600 });
    await editor.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    window = await editor.openWindow(copy.path);
    await window.approveCalls();
    await window.evaluate(
      ({ commands }) => void commands.executeCommand('mcpToolsets.servers.focus'),
    );
  });

  after(async () => {
    await editor.close();
    await copy.remove();
  });

  const row = (name: string): ReturnType<EditorWindow['page']['locator']> =>
    window.page.locator('.part.sidebar .monaco-list-row', { hasText: name });

  /** Looks in the notification centre, because a controlled editor shows no toasts. */
  async function untilQuestion(text: string): Promise<ReturnType<EditorWindow['page']['locator']>> {
    const question = window.page.locator('.notifications-center .notification-list-item', {
      hasText: text,
    });
    await window.waitFor(
      ({ commands }) => void commands.executeCommand('notifications.showList'),
      () => true,
    );
    await question.waitFor();
    return question;
  }

  /** Texts, accessible names and titles of the whole window. */
  const shown = (): Promise<string> => window.page.content();

  function found(text: string): string[] {
    return [...new Set(text.match(canary) ?? [])];
  }

  it('Secrets do not show in the question for approval', async () => {
    await window.page.getByText('3 to approve').waitFor();
    await untilQuestion('3 MCP servers');
    assert.deepEqual(found(await shown()), []);
    await window.evaluate(
      ({ commands }) => void commands.executeCommand('mcpToolsets.reviewPending'),
    );
    const question = await untilQuestion('Let these 3 MCP servers start?');
    const review = await window.waitFor(
      ({ workspace }) =>
        workspace.textDocuments.flatMap((doc) =>
          doc.uri.scheme === 'mcp-toolsets-approval' ? [doc.getText()] : [],
        ),
      (texts) => texts.length > 0,
    );
    assert.match(review.join(), /SECRET = •••/);
    assert.deepEqual(found(review.join()), []);
    await question.locator('.monaco-button', { hasText: 'Approve All' }).click();
  });

  it('Secrets do not show in rows, tooltips, problems and status, though servers quote them', async () => {
    await row('quotes').filter({ hasText: '4 tools' }).waitFor();
    await row('exits').filter({ hasText: 'exited with code' }).first().waitFor();
    await row('far')
      .filter({ hasText: /answered with HTTP|did not connect/ })
      .first()
      .waitFor();
    await window.waitFor(
      ({ lm }) => lm.tools.map(({ name }) => name),
      (names) => names.includes('mcp_quotes_env'),
    );
    assert.match(
      await window.invokeTool('mcp_quotes_env', { name: 'HOST' }),
      /canary-host/,
      'the agent gets what the tool says',
    );
    await window.invokeTool('mcp_quotes_stderr', {
      text: 'token canary-literal-5ca1ab1e is wrong',
    });
    await window.invokeTool('mcp_quotes_fail', { text: 'canary-host-5ca1ab1e' });
    await window.invokeTool('mcp_quotes_content', {});
    for (const server of ['quotes', 'exits', 'far']) {
      const isOpen = (await row(server).first().getAttribute('aria-expanded')) === 'true';
      if (!isOpen) await row(server).first().locator('.monaco-tl-twistie').click();
      await row(server).first().hover();
      await window.page.locator('.monaco-hover', { hasText: server }).first().waitFor();
      assert.deepEqual(found(await shown()), []);
    }
    await window.screenshot('secrets');
    const problems = await window.evaluate(({ languages }) =>
      JSON.stringify(languages.getDiagnostics()),
    );
    assert.match(problems, /bad token •••/);
    assert.deepEqual(found(problems), []);
  });

  it('The endpoint for other agents takes its token from the file and does not show it', async () => {
    const ask = async (path: string, bearer: string): Promise<[number, string]> => {
      const body =
        '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}';
      const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        headers,
        body,
      });
      return [answer.status, await answer.text()];
    };
    const [status, text] = await ask('/mcp/quotes', token);
    assert.equal(status, 200);
    const [strange, advice] = await ask('/mcp/quotes', `${token}x`);
    assert.equal(strange, 404);
    const [, refusal] = await ask('/api/v1/users/mcp/upstreams', token);
    const [, wrong] = await ask('/api/v1/users/mcp/upstreams', `${token}x`);
    assert.deepEqual(found(text + advice + refusal + wrong), []);
    const listed = await fetch(`http://127.0.0.1:${port}/api/v1/users/mcp/upstreams`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const upstreams = await listed.text();
    assert.match(upstreams, /"quotes"/);
    assert.deepEqual(found(upstreams), []);
  });

  it('Secrets are not copied', async () => {
    for (const server of ['quotes', 'exits', 'far']) {
      const copied = await window.evaluate(async ({ commands, env }, id) => {
        await commands.executeCommand('mcpToolsets.copyName', id);
        return env.clipboard.readText();
      }, server);
      assert.deepEqual(found(copied), []);
    }
    const diagnostics = await window.evaluate(async ({ commands, env }) => {
      await commands.executeCommand('mcpToolsets.copyDiagnostics');
      return env.clipboard.readText();
    });
    for (const part of ['bad token •••', 'quotes', 'Trusted workspace'])
      assert.ok(diagnostics.includes(part), diagnostics);
    assert.deepEqual(found(diagnostics), []);
  });

  it('Secrets are not in the stores of the editor and the extension', async () => {
    // The state of an extension is written with a delay, so this waits for its last value.
    const stored = async (): Promise<string> => window.page.evaluate<string>(readStores);
    let state = await stored();
    while (!state.includes('mcpToolsets.tools')) state = await stored();
    assert.deepEqual(found(state), []);
    const approvals = readFileSync(join(editor.home, '.minds', 'approvals.json'), 'utf8');
    assert.match(approvals, /"quotes"/);
    assert.deepEqual(found(approvals), []);

    const files = readdirSync(editor.dataDir, { recursive: true, withFileTypes: true }).filter(
      (file) => file.isFile(),
    );
    const paths = files.map((file) => join(file.parentPath, file.name));
    assert.ok(
      paths.some((path) => /artifacts\/mcp\/quotes\/content\//.test(path)),
      'an artifact was written',
    );
    for (const path of paths) {
      assert.deepEqual(found(path), []);
      assert.deepEqual(found(readFileSync(path, 'latin1')), [], path);
    }
  });
});
