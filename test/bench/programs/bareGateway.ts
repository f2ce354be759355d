/**
 * The base of P3 and P4: the least that can be called a gateway. JSON-RPC over HTTP by hand, one answer a request as
 * JSON, and an SDK client on a stdio server behind it. No sessions, no events, no limits, no token.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpuTime, readMemory } from '../harness/usage.js';
import { serve } from '../harness/served.js';

interface RpcRequest {
  readonly id?: string | number;
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

const client = new Client({ name: 'bare-gateway', version: '0.0.0' });

async function answer({ method, params = {} }: RpcRequest): Promise<unknown> {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params['protocolVersion'],
        capabilities: { tools: {} },
        serverInfo: { name: 'bare-gateway', version: '0.0.0' },
      };
    case 'tools/list':
      return client.listTools();
    case 'tools/call':
      return client.callTool(params as { name: string });
    default:
      throw new Error(`Unknown method ${method}`);
  }
}

const server = createServer((request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const message = JSON.parse(Buffer.concat(chunks).toString()) as RpcRequest;
    if (message.id === undefined) {
      response.writeHead(202).end();
      return;
    }
    answer(message).then(
      (result) => end({ result }),
      (error: Error) => end({ error: { code: -32603, message: error.message } }),
    );
    function end(outcome: object): void {
      const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, ...outcome });
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
      response.end(body);
    }
  });
});

serve({
  async start({ command, args }: { command: string; args: string[] }) {
    await client.connect(
      new StdioClientTransport({ command, args, env: process.env as Record<string, string>, stderr: 'ignore' }),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, headers: {} };
  },
  cpu: cpuTime,
  memory: readMemory,
  async end() {
    server.closeAllConnections();
    server.close();
    await client.close();
  },
});
