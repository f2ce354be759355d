/**
 * Agents outside the editor (G6): the endpoint by its setting, and the entries for other
 * programs.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { freePort } from '../../support/freePort.ts';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as vscode from 'vscode';
import { page } from '../../support/editor/bridge.ts';
import {
  configFile,
  entry,
  folder,
  problems,
  readConfig,
  servers,
  toolIds,
  until,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';

const minds = join(homedir(), '.minds');
const endpoints = join(minds, 'endpoints');

const tokenFile = (): string =>
  join(endpoints, readdirSync(endpoints).find((name) => name.endsWith('.token')) ?? '');
const token = (): string => readFileSync(tokenFile(), 'utf8').trim();

const update = (port: number, target: vscode.ConfigurationTarget): Thenable<void> =>
  vscode.workspace
    .getConfiguration('mcpToolsets')
    .update('endpoint.port', port === 0 ? undefined : port, target);

/** In the person's own settings. */
async function setPort(port: number): Promise<void> {
  await update(0, vscode.ConfigurationTarget.Workspace);
  await update(port, vscode.ConfigurationTarget.Global);
}

async function listen(): Promise<{ server: Server; port: number }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

interface Entry {
  readonly command: string;
  readonly args: string[];
}

const codes = async (): Promise<string[]> => (await problems()).map(({ code }) => code);

describe('other agents', () => {
  let port: number;
  const clients: Client[] = [];

  before(async () => {
    await mkdir(minds, { recursive: true });
    await writeFile(
      join(minds, 'mcp.yaml'),
      `version: 1\nservers:\n  mine: ${entry('raw.mjs', ['--tools', 'add,pid'])}\n`,
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
    const transport = new StreamableHTTPClientTransport(new URL(url(`/mcp/${toolset}`)), {
      requestInit: { headers },
    });
    await client.connect(transport as unknown as Parameters<Client['connect']>[0]);
    return client;
  }

  const pidOf = async (client: Client): Promise<string> =>
    ((await client.callTool({ name: 'pid' })).content as { text: string }[])[0]?.text ?? '';

  it('By default the window serves agents on a port of the system, which `connect` finds', async () => {
    const address = await until(
      () =>
        existsSync(endpoints)
          ? readdirSync(endpoints).find((name) => name.endsWith('.address'))
          : undefined,
      (name) => name !== undefined,
      'the address',
    );
    const { pid } = JSON.parse(readFileSync(join(endpoints, address ?? ''), 'utf8')) as {
      pid: number;
    };
    assert.equal(pid, process.pid);
  });

  it('With a port, each session of another agent is a conversation with a separate instance', async () => {
    await setPort(port);
    await until(answers, Boolean, 'the port');
    assert.equal(statSync(tokenFile()).mode & 0o777, 0o600);
    const [one, two] = [await connect('mine'), await connect('mine')];
    const { tools } = await one.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['add', 'pid', 'mcp_release_mine'],
    );
    assert.equal(await pidOf(one), await pidOf(one));
    assert.notEqual(await pidOf(one), await pidOf(two));
    assert.deepEqual((await status('/editor/mine', { method: 'POST', body: '{}' }))[0], 404);
  });

  it('REST adds a server to the folder’s file, and a person is asked before it starts', async () => {
    const [command, ...args] = ['node', 'x.mjs'];
    const body = JSON.stringify({ id: 'gamma', transport: 'stdio', command, args });
    const [created, text] = await status('/api/v1/users/mcp/upstreams', { method: 'POST', body });
    assert.equal(created, 201, text);
    assert.match(text, /"approval":"pending"/);
    assert.match(await readConfig(), /^version: 1\n\nservers:\n {2}gamma:\n/);
    assert.ok(!(await servers()).some((server) => server.command.includes('x.mjs')));
    await until(codes, (shown) => shown.includes('approval-pending'), 'the question about it');
  });

  it('REST does not change a file with unsaved changes in the editor', async () => {
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

  it('A port of another program is a problem until it is free, and the former port is closed', async () => {
    const { server, port: taken } = await listen();
    await setPort(taken);
    await until(codes, (shown) => shown.includes('endpoint-port-taken'), 'the problem');
    assert.equal(await answers(), false);
    server.close();
    await until(codes, (shown) => !shown.includes('endpoint-port-taken'), 'no problem');
    port = taken;
    assert.equal(await answers(), true);
  });

  it('After the setting is switched off, its port is closed and the sessions there are over', async () => {
    const client = await connect('mine');
    await setPort(0);
    await until(answers, (found) => !found, 'the end');
    await assert.rejects(client.listTools());
  });

  it('A port in the settings of the workspace has no effect until the person chooses it (G6a)', async () => {
    await update(port, vscode.ConfigurationTarget.Workspace);
    await until(codes, (shown) => shown.includes('endpoint-port-unconfirmed'), 'the problem');
    assert.equal(await answers(), false);
    void vscode.commands.executeCommand('mcpToolsets.setUpAgent');
    await page.waitFor('.quick-input-widget .quick-input-list-row:has-text("Claude Code")');
    await page.press('Enter');
    await page.waitFor('.quick-input-widget :text("ask for a fixed port")');
    await page.press('Enter');
    await until(answers, Boolean, 'the port');
    await until(codes, (shown) => !shown.includes('endpoint-port-unconfirmed'), 'no problem');
    await page.waitFor('.quick-input-widget .quick-input-list-row:has-text("mcp_admin")');
    await page.press('Escape');
    await update((port = await freePort()), vscode.ConfigurationTarget.Workspace);
    await until(answers, (found) => !found, 'a port that somebody else wrote there is closed');
    await until(codes, (shown) => shown.includes('endpoint-port-unconfirmed'), 'the problem again');
    await setPort(0);
  });

  describe('“Set Up Another Agent”', () => {
    const input = '.quick-input-widget';
    const mcpJson = join(folder(), '.mcp.json');
    const gemini = join(folder(), '.gemini', 'settings.json');

    const untilRow = (text: string): Promise<unknown> =>
      page.waitFor(`${input} .quick-input-list-row:has-text("${text}")`);

    async function choose(agent: string): Promise<void> {
      await untilRow('Claude Code');
      await page.type(agent);
      await untilRow(agent);
      await page.press('Enter');
      await untilRow('mcp_admin');
      await page.press('Enter');
    }

    /** The tools of an entry, as its agent gets them. */
    async function toolsOf({ command, args }: Entry): Promise<string[]> {
      const client = new Client({ name: 'agent', version: '1' });
      clients.push(client);
      const env = { PATH: process.env['PATH'] ?? '', HOME: homedir() };
      await client.connect(new StdioClientTransport({ command, args, cwd: folder(), env }));
      const { tools } = await client.listTools();
      await client.close();
      return tools.map(({ name }) => name);
    }

    const untilSaid = (words: string): Promise<unknown> =>
      until(
        async () => {
          await vscode.commands.executeCommand('notifications.showList');
          return page.texts('.notifications-center .notification-list-item');
        },
        (texts) => texts.some((text) => text.includes(words)),
        words,
      );

    async function answer(question: string, button: string): Promise<void> {
      await untilSaid(question);
      // The hover of a tab would cover the button.
      await page.hover('.part.statusbar');
      await page.click(`.notifications-center .monaco-button:text-is("${button}")`);
    }

    // Old messages would cover the buttons of the next one.
    beforeEach(() => vscode.commands.executeCommand('notifications.clearAll'));

    after(async () => {
      await rm(dirname(gemini), { recursive: true, force: true });
    });

    it('“Set Up Another Agent” asks for the agent, shows and writes the entry, and the entry connects', async () => {
      await writeFile(
        mcpJson,
        '{\n  "mcpServers": {\n    "own": { "command": "npx" } // by hand\n  }\n}\n',
      );
      void vscode.commands.executeCommand('mcpToolsets.setUpAgent');
      await untilRow('.mcp.json');
      await page.screenshot('agents');
      await choose('Claude Code');
      await page.waitFor('.monaco-diff-editor');
      await page.waitFor('.view-lines :text("connect")');
      await page.waitFor('.view-line:has-text("loads the launcher")');
      await page.screenshot('preview');
      assert.ok(!readFileSync(mcpJson, 'utf8').includes('connect'));
      await answer('Write this entry to .mcp.json?', 'Write');
      const text = await until(
        () => readFileSync(mcpJson, 'utf8'),
        (written) => written.includes('connect'),
        'the file',
      );
      assert.ok(
        text.startsWith(
          '{\n  "mcpServers": {\n    "own": { "command": "npx" }, // by hand\n    "toolsets": {',
        ),
        text,
      );
      assert.ok(![folder(), homedir(), '127.0.0.1'].some((word) => text.includes(word)), text);
      const { mcpServers } = JSON.parse(text.replace(' // by hand', '')) as {
        mcpServers: Record<string, Entry>;
      };
      const before = (await servers()).length;
      const offered = await toolsOf(mcpServers['toolsets'] ?? assert.fail());
      for (const name of ['add', 'pid', 'mcp_release']) assert.ok(offered.includes(name), name);
      assert.equal((await servers()).length, before, 'it is served by the window');
      await page.screenshot('written');
      await rm(mcpJson);
    });

    it('“Set Up Another Agent” leaves entries of single toolsets, and says how to join them into one entry (G6k)', async () => {
      const mine = { command: 'npx', args: ['mcp-toolsets', 'connect', 'mine'] };
      const text = JSON.stringify({ mcpServers: { mine } });
      await writeFile(mcpJson, text);
      void vscode.commands.executeCommand('mcpToolsets.setUpAgent');
      await choose('Claude Code');
      await untilSaid('To join them into one entry, remove `mine` from .mcp.json.');
      assert.equal(readFileSync(mcpJson, 'utf8'), text);
      await rm(mcpJson);
    });

    it('“Set Up Another Agent” shows and approves launches without a question here, because `connect` cannot ask (S1)', async () => {
      const file = join(minds, 'approvals.json');
      const approved = (): boolean =>
        existsSync(file) && readFileSync(file, 'utf8').includes('"theirs"');
      const asks = (value: string): Thenable<void> =>
        vscode.workspace
          .getConfiguration('mcpToolsets')
          .update('approval', value, vscode.ConfigurationTarget.Global);
      const before = await readConfig();
      try {
        await asks('trustedWorkspace');
        await writeConfig(
          `version: 1\nservers:\n  theirs: ${entry('raw.mjs', ['--tools', 'echo'])}\n`,
        );
        await untilTools(['mcp_mine_add', 'mcp_mine_pid', 'mcp_theirs_echo']);
        await rm(gemini, { force: true });
        void vscode.commands.executeCommand('mcpToolsets.setUpAgent');
        await choose('Gemini CLI');
        await until(
          () =>
            vscode.workspace.textDocuments.some((shown) =>
              /may start then[^]*  command +/.test(shown.getText()),
            ),
          Boolean,
          'what would start',
        );
        assert.equal(approved(), false);
        await answer('Write this entry to .gemini/settings.json?', 'Write');
        await until(approved, Boolean, 'the approval');
      } finally {
        await writeConfig(before);
        await asks('ask');
        await untilTools(['mcp_mine_add', 'mcp_mine_pid']);
      }
    });

    it("“Set Up Another Agent” for Cline creates a missing file at Cline's place", async () => {
      void vscode.commands.executeCommand('mcpToolsets.setUpAgent');
      await choose('Cline');
      await page.waitFor('.view-lines :text("connect")');
      await answer('Write this entry to', 'Write');
      const document = await until(
        () => vscode.window.activeTextEditor?.document,
        (shown) =>
          shown?.uri.scheme === 'file' &&
          shown.fileName.endsWith('cline_mcp_settings.json') &&
          !shown.isDirty,
        'the file',
      );
      const { path: where } = document?.uri ?? assert.fail();
      assert.match(
        where,
        /\/globalStorage\/saoudrizwan\.claude-dev\/settings\/cline_mcp_settings\.json$/,
      );
      const { mcpServers } = JSON.parse(readFileSync(where, 'utf8')) as {
        mcpServers: Record<string, { command: string; args: string[] }>;
      };
      const { command, args } = mcpServers['toolsets'] ?? assert.fail();
      assert.deepEqual([command, ...args.slice(-3)], ['node', 'connect', '-C', folder()]);
      assert.ok(existsSync(join(minds, 'bin', 'mcp-toolsets.js')));
    });

    it('“Set Up Another Agent” reads a newer file of another program, despite an older copy in the editor', async () => {
      const where = vscode.window.activeTextEditor?.document.uri.fsPath ?? assert.fail();
      // The editor does not watch a file outside the folders unless it is shown.
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      await writeFile(where, '{ "theirs": 1 }\n');
      void vscode.commands.executeCommand('mcpToolsets.setUpAgent');
      await choose('Cline');
      await answer('Write this entry to', 'Write');
      // It is shown after its save. An earlier picker would lose the focus.
      const document = await until(
        () => vscode.window.activeTextEditor?.document,
        (shown) =>
          shown?.uri.fsPath === where && !shown.isDirty && shown.getText().includes('mcpServers'),
        'the entries',
      );
      const text = readFileSync(where, 'utf8');
      assert.equal(text, document?.getText());
      assert.ok('theirs' in (JSON.parse(text) as object), text);
    });

    it('The toolsets of the editor are unchanged', async () => {
      assert.deepEqual(toolIds(), ['mcp_mine_add', 'mcp_mine_pid']);
      assert.ok(!(await codes()).includes('editor-toolset-hidden'));
    });
  });
});
