/**
 * Text from outside has no effect in the editor (S1d). A link that would run a command is shown as
 * plain characters.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as vscode from 'vscode';
import { page } from '../../support/editor/bridge.ts';
import { until, writeConfig } from '../../support/editor/product.ts';

const notification = '.notifications-center .notification-list-item';
const action = 'hostile.act';

/** The texts of notifications, one line each. */
async function notifications(pattern: RegExp): Promise<string[]> {
  return until(
    async () => {
      const texts = await page.texts(notification);
      if (texts.length === 0) await vscode.commands.executeCommand('notifications.showList');
      return texts.map((text) => text.replace(/\s+/g, ' '));
    },
    (texts) => texts.some((text) => pattern.test(text)),
    `a notification with ${String(pattern)}`,
  );
}

const linksOf = (name: string): Promise<string[]> =>
  page.texts(`${notification} a:has-text("${name}")`);

describe('text from outside', () => {
  let acted = 0;
  let registration: vscode.Disposable;

  before(() => {
    registration = vscode.commands.registerCommand(action, () => acted++);
  });

  after(() => {
    registration.dispose();
    assert.equal(acted, 0);
  });

  it('Foreign text in a message is not a link, although the editor makes links of such a text', async () => {
    void vscode.window.showInformationMessage(`A control: [this text](command:${action}).`);
    await notifications(/A control/);
    assert.deepEqual(
      await linksOf('this text'),
      ['this text'],
      'else the tests below prove nothing',
    );
    await vscode.commands.executeCommand('notifications.clearAll');
  });

  it('A folder name in a .code-workspace is not a link in the question before a start', async () => {
    await vscode.commands.executeCommand('mcpToolsets.revoke', 'alpha');
    await writeConfig((await config()).replace("'echo'", "'echo,pid'"));
    await notifications(/“alpha” of .*wants to start/);
    assert.deepEqual(await linksOf('Read the documentation'), []);
    await page.screenshot('folder-name');
  });

  it('A text of the authorization server is not a link in the message of a failed sign-in', async () => {
    const server = hostileAuthority();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await writeConfig(
      `version: 1\nservers:\n  files:\n    transport: streamable_http\n    url: http://127.0.0.1:${port}/mcp\n`,
    );
    await vscode.commands.executeCommand('notifications.clearAll');
    await approve('files');
    await until(
      () => page.texts('.part.statusbar .statusbar-item'),
      (texts) => texts.some((text) => /MCP 0\/1$/.test(text.replace(/\s+/g, ' ').trim())),
      'the server waits for a sign-in',
    );
    void vscode.commands.executeCommand('mcpToolsets.signIn', 'files');
    const texts = await notifications(/Signing in to files: .*registration is closed/i);
    assert.deepEqual(await linksOf('How to register'), [], texts.join('\n'));
    await page.screenshot('error-description');
    server.closeAllConnections();
    server.close();
  });
});

async function config(): Promise<string> {
  const [one] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(one);
  return Buffer.from(
    await vscode.workspace.fs.readFile(vscode.Uri.joinPath(one.uri, '.minds/mcp.yaml')),
  ).toString();
}

async function approve(server: string): Promise<void> {
  await notifications(new RegExp(`“${server}” of .*wants to start`));
  await page.click(`${notification} .monaco-button:text-is("Review…")`);
  await notifications(new RegExp(`Let “${server}” start\\?`));
  await page.click(`${notification} .monaco-button:text-is("Approve")`);
}

/**
 * An MCP server that needs a sign-in, with an authorization server that refuses registration with a
 * link.
 */
function hostileAuthority(): Server {
  return createServer((request, response) => {
    const origin = `http://${request.headers.host}`;
    const send = (status: number, body: object, headers: Record<string, string> = {}): void => {
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    };
    switch (new URL(request.url ?? '/', origin).pathname) {
      case '/.well-known/oauth-protected-resource':
      case '/.well-known/oauth-protected-resource/mcp':
        return send(200, { resource: `${origin}/mcp`, authorization_servers: [origin] });
      case '/.well-known/oauth-authorization-server':
      case '/.well-known/openid-configuration':
        return send(200, {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
        });
      case '/register':
        return send(400, {
          error: 'invalid_client_metadata',
          error_description: `Registration is closed. [How to register](command:${action})`,
        });
      case '/mcp':
        return send(
          401,
          {},
          {
            'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`,
          },
        );
      default:
        return send(404, {});
    }
  });
}
