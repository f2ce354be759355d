/** Agents outside the editor (G6, G7): the endpoint by its setting, and the entries that other programs are given. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as vscode from 'vscode';
import { configFile, entry, problems, readConfig, servers, until, untilTools } from '../../support/editor/product.ts';

const minds = join(homedir(), '.minds');
const endpoints = join(minds, 'endpoints');

const tokenFile = (): string => join(endpoints, readdirSync(endpoints)[0] ?? '');
const token = (): string => readFileSync(tokenFile(), 'utf8').trim();

const setPort = (port: number): Thenable<void> =>
  vscode.workspace
    .getConfiguration('mcpToolsets')
    .update('endpoint.port', port === 0 ? undefined : port, vscode.ConfigurationTarget.Workspace);

async function listen(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

async function freePort(): Promise<number> {
  const { server, port } = await listen();
  server.close();
  await once(server, 'close');
  return port;
}

const codes = async (): Promise<string[]> => (await problems()).map(({ code }) => code);

describe('other agents', () => {
  let port: number;
  const clients: Client[] = [];

  before(async () => {
    await mkdir(minds, { recursive: true });
    await writeFile(
      join(minds, 'mcp.yaml'),
      `version: 1\nservers:\n  mine: ${entry('plain.mjs', ['--tools', 'add,pid'])}\n`,
    );
    await untilTools(['mcp_mine_add', 'mcp_mine_pid']);
    port = await freePort();
  });

  after(async () => {
    await setPort(0);
    for (const client of clients) await client.close().catch(() => undefined);
    await rm(minds, { recursive: true, force: true });
  });

  const url = (path: string): string => `http://127.0.0.1:${port}${path}`;

  const answers = (): Promise<boolean> =>
    fetch(url('/')).then(
      () => true,
      () => false,
    );

  const status = async (path: string, init: RequestInit = {}): Promise<[number, string]> => {
    const headers = { Authorization: `Bearer ${token()}`, 'content-type': 'application/json' };
    const answer = await fetch(url(path), { ...init, headers });
    return [answer.status, await answer.text()];
  };

  async function connect(toolset: string): Promise<Client> {
    const client = new Client({ name: 'independent', version: '1' });
    clients.push(client);
    const headers = { Authorization: `Bearer ${token()}` };
    const transport = new StreamableHTTPClientTransport(new URL(url(`/mcp/${toolset}`)), { requestInit: { headers } });
    await client.connect(transport as unknown as Parameters<Client['connect']>[0]);
    return client;
  }

  const pidOf = async (client: Client): Promise<string> =>
    ((await client.callTool({ name: 'pid' })).content as { text: string }[])[0]?.text ?? '';

  it('by default nobody is served, and there is no token', () => {
    assert.ok(!existsSync(endpoints));
  });

  it('with a port, each session of another agent is a dialog with an instance of its own', async () => {
    await setPort(port);
    await until(answers, Boolean, 'the port');
    assert.equal(statSync(tokenFile()).mode & 0o777, 0o600);
    const [one, two] = [await connect('mine'), await connect('mine')];
    const { tools } = await one.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['add', 'pid'],
    );
    assert.equal(await pidOf(one), await pidOf(one));
    assert.notEqual(await pidOf(one), await pidOf(two));
    assert.deepEqual((await status('/editor/mine', { method: 'POST', body: '{}' }))[0], 404);
  });

  it('REST adds a server to the folder’s file; a person is asked before it starts', async () => {
    const [command, ...args] = ['node', 'x.mjs'];
    const body = JSON.stringify({ id: 'gamma', transport: 'stdio', command, args });
    const [created, text] = await status('/api/v1/users/mcp/upstreams', { method: 'POST', body });
    assert.equal(created, 201, text);
    assert.match(text, /"approval":"pending"/);
    assert.match(await readConfig(), /^version: 1\n\nservers:\n {2}gamma:\n/);
    assert.ok(!(await servers()).some((server) => server.command.includes('x.mjs')));
    await until(codes, (shown) => shown.includes('approval-pending'), 'the question about it');
  });

  it('REST leaves a file alone that has unsaved changes in the editor', async () => {
    const document = await vscode.workspace.openTextDocument(configFile());
    const edit = new vscode.WorkspaceEdit();
    edit.insert(document.uri, new vscode.Position(0, 0), '# unsaved\n');
    await vscode.workspace.applyEdit(edit);
    const body = JSON.stringify({ id: 'delta', transport: 'stdio', command: 'x' });
    const [refused, text] = await status('/api/v1/users/mcp/upstreams', { method: 'POST', body });
    assert.equal(refused, 409);
    assert.match(text, /"config-unsaved"/);
    await document.save();
    assert.ok((await readConfig()).startsWith('# unsaved\n'));
  });

  it('a port that another program has is a problem, until it is free; the former port is closed', async () => {
    const { server, port: taken } = await listen();
    await setPort(taken);
    await until(codes, (shown) => shown.includes('endpoint-port-taken'), 'the problem');
    assert.equal(await answers(), false);
    server.close();
    await until(codes, (shown) => !shown.includes('endpoint-port-taken'), 'no problem');
    port = taken;
    assert.equal(await answers(), true);
  });

  it('switched off, nothing listens and sessions are over', async () => {
    const client = await connect('mine');
    await setPort(0);
    await until(answers, (found) => !found, 'the end');
    await assert.rejects(client.listTools());
  });
});
