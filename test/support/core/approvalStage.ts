/** The command line in a folder whose servers record their runs. Only a person approves them. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ApprovalLedger } from '../../../src/core/approval/ledger.js';
import { systemClock } from '../../../src/core/base/clock.js';
import { SharedFile } from '../../../src/core/files/sharedFile.js';
import { untilNone } from '../processes.js';
import { fixturePath } from './bundles.js';
import { CommandLine } from './commandLine.js';
import type { Entry } from './configText.js';

export class ApprovalStage {
  /** The folder beside the workspace. */
  readonly outside: string;
  private readonly stamp: string;
  private readonly tools: string;
  private readonly clients: Client[] = [];

  private constructor(readonly cli: CommandLine) {
    cli.approves = false;
    this.outside = path.dirname(cli.folder);
    this.stamp = cli.env['STAMP'] = path.join(this.outside, 'stamp');
    this.tools = cli.env['TOOLS'] = path.join(this.outside, 'tools');
    writeFileSync(
      path.join(this.outside, 'server.mjs'),
      `import { appendFileSync, existsSync, readFileSync } from 'node:fs';
       appendFileSync(process.env.STAMP, process.argv[2] + '\\n');
       process.argv.push('--tools', existsSync(process.env.TOOLS) ? readFileSync(process.env.TOOLS, 'utf8') : 'echo');
       await import(${JSON.stringify(pathToFileURL(fixturePath('raw')).href)});`,
    );
  }

  static async open(): Promise<ApprovalStage> {
    return new ApprovalStage(await CommandLine.open());
  }

  /** A server with the tool `<mark>_echo`. */
  server(mark: string, rest: Entry = {}): Entry {
    return {
      transport: 'stdio',
      command: process.execPath,
      args: [path.join(this.outside, 'server.mjs'), mark],
      transform: [{ prefix: `${mark}_` }],
      ...rest,
    };
  }

  /** Sets the tools of all servers from their next start on. */
  offer(...tools: string[]): void {
    writeFileSync(this.tools, tools.join(','));
  }

  /** The marks of servers with a run. */
  get ran(): string[] {
    if (!existsSync(this.stamp)) return [];
    return [...new Set(readFileSync(this.stamp, 'utf8').split('\n'))]
      .filter((mark) => mark !== '')
      .sort();
  }

  forgetRuns(): void {
    writeFileSync(this.stamp, '');
  }

  /** Revokes the approval of the first server, as the editor does. */
  async revoke(): Promise<void> {
    const store = new SharedFile(this.cli.approvalsFile, systemClock);
    const ledger = new ApprovalLedger({ store, asks: () => true });
    await ledger.load();
    await ledger.revoke(ledger.servers[0] ?? assert.fail('nothing was approved'));
    ledger.dispose();
    store.dispose();
  }

  get stored(): readonly { readonly server: string; readonly source: string }[] {
    const { approvalsFile: file } = this.cli;
    return existsSync(file)
      ? (
          JSON.parse(readFileSync(file, 'utf8')) as {
            approvals: { server: string; source: string }[];
          }
        ).approvals
      : [];
  }

  get storedNames(): string[] {
    return this.stored.map(({ server }) => server);
  }

  async approve(...args: string[]): Promise<void> {
    const { code, stderr } = await this.cli.finishBeside(
      this.cli.begin('approve', '--yes', ...args),
    );
    assert.equal(code, 0, stderr);
  }

  connect(...args: string[]): Promise<Client> {
    return this.connectIn(this.cli.folder, ...args);
  }

  async connectIn(cwd: string, ...args: string[]): Promise<Client> {
    const client = new Client({ name: 'independent', version: '1' });
    const { command, args: words, env } = this.cli.commandOf('connect', ...args);
    this.clients.push(client);
    const options = { command, args: words, cwd, env: env as Record<string, string> };
    await client.connect(new StdioClientTransport({ ...options, stderr: 'ignore' }));
    return client;
  }

  /** The names of tools from servers. */
  async names(client: Client): Promise<string[]> {
    return (await client.listTools()).tools
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('mcp_'));
  }

  /** The tool names in a new `connect` of an agent. */
  namesFor(...args: string[]): Promise<string[]> {
    return this.namesIn(this.cli.folder, ...args);
  }

  async namesIn(cwd: string, ...args: string[]): Promise<string[]> {
    const names = await this.names(await this.connectIn(cwd, ...args));
    await this.end();
    return names;
  }

  async end(): Promise<void> {
    for (const client of this.clients.splice(0)) await client.close();
    await this.cli.stopEngines();
    await untilNone(() => this.cli.processes(), 10_000);
  }

  async close(): Promise<void> {
    await this.end();
    await this.cli.close();
  }
}
