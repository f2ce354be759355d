/**
 * Bare clients, loaded before the clock runs: the SDK's on stdio, and one that reads and writes
 * lines of JSON without checks. The base of P2, P5, P6 and P7.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { readMemory } from '../harness/usage.js';
import { serve } from '../harness/served.js';

interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

const open = new Set<Client>();

async function connect({ command, args }: Command): Promise<Client> {
  const client = new Client({ name: 'bare', version: '0.0.0' });
  open.add(client);
  const env = process.env as Record<string, string>;
  await client.connect(
    new StdioClientTransport({ command, args: [...args], env, stderr: 'ignore' }),
  );
  return client;
}

async function listAll(client: Client): Promise<number> {
  let tools = 0;
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor });
    tools += page.tools.length;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

/** JSON-RPC by lines. The answer of each request is parsed once and returned unchanged. */
class LineClient {
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, (result: unknown) => void>();
  private nextId = 1;

  constructor({ command, args }: Command) {
    this.child = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    if (!this.child.stdout) throw new Error('The child has no output.');
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const { id, result } = JSON.parse(line) as { id?: number; result: unknown };
      if (id === undefined) return;
      this.waiting.get(id)?.(result);
      this.waiting.delete(id);
    });
  }

  ask(method: string, params: object = {}): Promise<unknown> {
    const id = this.nextId++;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  }

  async connect(): Promise<void> {
    const clientInfo = { name: 'bare', version: '0.0.0' };
    await this.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    this.child.stdin?.write(
      `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`,
    );
  }

  close(): void {
    this.child.kill('SIGKILL');
  }
}

serve({
  /**
   * Milliseconds from the spawn until the tools of each are listed. It does not wait for servers
   * that never answer.
   */
  async start({ commands, others = [] }: { commands: Command[]; others?: Command[] }) {
    const begun = performance.now();
    for (const other of others) connect(other).catch(() => undefined);
    return Promise.all(
      commands.map(async (command) => {
        await listAll(await connect(command));
        return performance.now() - begun;
      }),
    );
  },

  /** Milliseconds of each of several lists. `lines`: by the client without checks. */
  async lists({ command, lines, times }: { command: Command; lines: boolean; times: number }) {
    const took: number[] = [];
    const measure = async (list: () => Promise<unknown>): Promise<void> => {
      for (let turn = 0; turn < times; turn++) {
        const begun = performance.now();
        await list();
        took.push(performance.now() - begun);
      }
    };
    if (lines) {
      const client = new LineClient(command);
      await client.connect();
      await measure(() => client.ask('tools/list'));
      client.close();
    } else {
      const client = await connect(command);
      await measure(() => listAll(client));
    }
    return took;
  },

  memory: readMemory,

  async end() {
    await Promise.race([
      Promise.all([...open].map((client) => client.close())),
      new Promise((resolve) => setTimeout(resolve, 5000).unref()),
    ]);
  },
});
