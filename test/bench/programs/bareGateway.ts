/**
 * The base of P3 and P4: a minimal gateway. It is handwritten JSON-RPC over HTTP, one JSON answer a
 * request, with an SDK client on a stdio server behind it. It has no sessions, no events, no limits
 * and no token. In both eras it ignores the metadata of requests. In the modern era it marks each
 * result as complete.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpuTime, readMemory } from '../harness/usage.js';
import type { Json } from '../harness/httpClient.js';
import { connectSdk, type Era, type SdkClient } from '../harness/sdkClient.js';
import { serve } from '../harness/served.js';
import type { ServerCommand } from '../harness/servers.js';

interface RpcRequest {
  readonly id?: string | number;
  readonly method: string;
  readonly params?: Record<string, unknown>;
}

let client: SdkClient;
let complete: Json = {};

async function answer({ method, params = {} }: RpcRequest): Promise<unknown> {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params['protocolVersion'],
        capabilities: { tools: {} },
        serverInfo: { name: 'bare-gateway', version: '0.0.0' },
      };
    case 'tools/list':
      return { ...complete, ...(await client.list()) };
    case 'tools/call':
      return {
        ...complete,
        ...(await client.call(params['name'] as string, params['arguments'] as Json)),
      };
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
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      });
      response.end(body);
    }
  });
});

serve({
  async start({ era = 'legacy', ...command }: ServerCommand & { era?: Era }) {
    if (era === 'modern') complete = { resultType: 'complete' };
    client = await connectSdk(era, command);
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
