/**
 * Starts a server and ends it again, through the product's connector or with only the SDK's client.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { systemClock } from '../../../src/core/base/clock.js';
import { createConnector } from '../../../src/core/connector/createConnector.js';
import { serve } from '../harness/served.js';
import { literal } from '../../../src/core/config/model.js';

interface Case {
  readonly command: string;
  readonly args: string[];
  /** The mark of its processes. */
  readonly mark: { readonly name: string; readonly value: string };
}

let connector: ReturnType<typeof createConnector> | undefined;

async function start(
  guardianScript: string,
  { command, args, mark }: Case,
): Promise<{ close(): Promise<void> }> {
  connector ??= createConnector({
    env: process.env,
    clock: systemClock,
    trace: () => false,
    clientVersion: '0.0.0',
    guardianScript,
  });
  const outcome = await connector.connect({
    server: 'subject',
    launch: {
      transport: 'stdio',
      command,
      args: args.map(literal),
      cwd: process.cwd(),
      env: new Map([[mark.name, literal(mark.value)]]),
    },
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    log: { write: () => {} },
  });
  if (outcome.kind !== 'connected') throw new Error(JSON.stringify(outcome));
  return outcome.connection;
}

async function startBare({ command, args, mark }: Case): Promise<{ close(): Promise<void> }> {
  const client = new Client({ name: 'bare', version: '0.0.0' });
  const env = { ...process.env, [mark.name]: mark.value } as Record<string, string>;
  await client.connect(new StdioClientTransport({ command, args, env, stderr: 'ignore' }));
  await client.listTools();
  return client;
}

serve({
  /** Milliseconds until `close()` has resolved. */
  async stop({ guardian, ours, subject }: { guardian: string; ours: boolean; subject: Case }) {
    const started = ours ? await start(guardian, subject) : await startBare(subject);
    const begun = performance.now();
    await started.close();
    return performance.now() - begun;
  },

  async end() {
    await connector?.dispose();
  },
});
