/**
 * The question before a sign-in at another site (X7). It is a dialog, and a window with tests in it
 * shows none.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startEditor, type Editor } from '../../support/editor/launch.ts';
import type { EditorWindow } from '../../support/editor/window.ts';
import { copyWorkspace } from '../../support/editor/workspaces.ts';

describe('a sign-in at another site', () => {
  const page = 'http://localhost:1';
  const posts: string[] = [];
  const copy = copyWorkspace();
  let listener: Server;
  let origin: string;
  let editor: Editor;
  let window: EditorWindow;

  before(async () => {
    listener = createServer(({ method, url = '/' }, response) => {
      if (method === 'POST' && url !== '/mcp') posts.push(url);
      const metadata = url.includes('protected-resource')
        ? { resource: `${origin}/mcp`, authorization_servers: [origin] }
        : {
            issuer: origin,
            authorization_endpoint: `${page}/authorize`,
            token_endpoint: `${origin}/token`,
            registration_endpoint: `${origin}/register`,
            response_types_supported: ['code'],
            code_challenge_methods_supported: ['S256'],
          };
      response.writeHead(url.startsWith('/.well-known') ? 200 : 401, {
        'content-type': 'application/json',
      });
      response.end(JSON.stringify(metadata));
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    origin = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    mkdirSync(join(copy.path, '.minds'));
    const entry = `transport: streamable_http, url: '${origin}/mcp'`;
    writeFileSync(
      join(copy.path, '.minds/mcp.yaml'),
      `version: 1\nservers: { other: { ${entry} } }\n`,
    );
    editor = await startEditor({ settings: { 'mcpToolsets.approval': 'trustedWorkspace' } });
    window = await editor.openWindow(copy.path);
  });

  after(async () => {
    await editor.close();
    listener.closeAllConnections();
    listener.close();
    await copy.remove();
  });

  it('A sign-in at another site begins after a person agrees, and the question names the page and the server', async () => {
    await window.page.getByText('The MCP server “other” wants you to sign in.').first().waitFor();
    await window.evaluate((api) => void api.commands.executeCommand('mcpToolsets.signIn', 'other'));
    const dialog = window.page.locator('.monaco-dialog-box');
    await dialog.getByText(`Sign in at ${page} for the MCP server “other”?`).waitFor();
    const text = await dialog.innerText();
    for (const part of [
      `You sign in at: ${page}\n`,
      `redeemed by: ${origin}\n`,
      `goes to: ${origin}/mcp\n`,
    ]) {
      assert.ok(text.includes(part), text);
    }
    await window.page.screenshot({ path: `${editor.options.outputDir}/another-site.png` });
    await window.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await window.page
      .locator('.notification-toast', { hasText: 'Signing in to other' })
      .waitFor({ state: 'hidden' });
    assert.deepEqual(posts, []);
  });
});
