/**
 * A running `mcp-toolsets serve` as another program sees it: its address, its token file, its
 * output.
 */
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { Emitter, nextEvent } from '../../../src/core/base/events.js';
import type { CommandLine } from './commandLine.js';
import { within } from './within.js';

export class Serving {
  stdout = '';
  stderr = '';
  private readonly heard = new Emitter<void>();
  private readonly clients: Client[] = [];

  private constructor(
    private readonly cli: CommandLine,
    readonly process: ChildProcess,
  ) {
    process.stdout?.on('data', (chunk) => {
      this.stdout += String(chunk);
      this.heard.fire();
    });
    process.stderr?.on('data', (chunk) => {
      this.stderr += String(chunk);
      this.heard.fire();
    });
  }

  /** Resolves when it listens and has printed these toolsets. */
  static async begin(
    cli: CommandLine,
    toolsets: readonly string[],
    ...args: string[]
  ): Promise<Serving> {
    const serving = new Serving(cli, cli.begin('serve', '--port', '0', ...args));
    await serving.until('Listening on ');
    for (const id of toolsets) await serving.until(`${id}  http`);
    return serving;
  }

  /** Resolves after either stream has printed the text. */
  async until(text: string | RegExp): Promise<void> {
    const isThere = (): boolean =>
      [this.stdout, this.stderr].some((output) =>
        typeof text === 'string' ? output.includes(text) : text.test(output),
      );
    if (isThere()) return;
    await within(
      nextEvent(this.heard.event, isThere),
      String(text),
      () => `${this.stdout}\n${this.stderr}`,
    );
  }

  get base(): string {
    return /Listening on (http:\S+),/.exec(this.stdout)?.[1] ?? assert.fail(this.stdout);
  }

  get tokenFile(): string {
    const folder = path.join(this.cli.home, '.minds', 'endpoints');
    const files = readdirSync(folder).filter((name) => name.endsWith('.token'));
    assert.equal(files.length, 1);
    return path.join(folder, files[0] ?? '');
  }

  get token(): string {
    return readFileSync(this.tokenFile, 'utf8').trim();
  }

  /** The SDK's client in a new session. */
  async connect(
    toolset: string,
    token = this.token,
    capabilities: ClientCapabilities = {},
  ): Promise<Client> {
    const client = await Serving.clientOf(`${this.base}/mcp/${toolset}`, token, capabilities);
    this.clients.push(client);
    return client;
  }

  static async clientOf(
    url: string,
    token: string,
    capabilities: ClientCapabilities = {},
  ): Promise<Client> {
    const client = new Client({ name: 'independent', version: '1' }, { capabilities });
    const headers = { Authorization: `Bearer ${token}` };
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
    // The SDK's class does not match its interface under exactOptionalPropertyTypes.
    await client.connect(transport as unknown as Parameters<Client['connect']>[0]);
    return client;
  }

  /** Resolves with its exit code after the signal. No process of it is left then. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    for (const client of this.clients) await client.close().catch(() => undefined);
    if (this.process.exitCode !== null || this.process.signalCode !== null)
      return this.process.exitCode;
    const closed = once(this.process, 'close') as Promise<[number | null]>;
    this.process.kill(signal);
    const [code] = await within(closed, 'the end of serve', () => `${this.stdout}\n${this.stderr}`);
    await this.cli.leftNothing(this.process);
    return code;
  }
}
