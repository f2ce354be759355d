/**
 * The SDK's client on the stdio of a server, or on Streamable HTTP. Only the requested SDK is
 * loaded.
 */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Endpoint, Json } from './httpClient.js';
import type { ServerCommand } from './servers.js';

export type Era = 'legacy' | 'modern';

export const modernVersion = '2026-07-28';

export interface SdkClient {
  call(name: string, args: Json): Promise<Json>;
  list(): Promise<Json>;
  close(): Promise<void>;
}

export async function connectSdk(era: Era, server: ServerCommand): Promise<SdkClient> {
  const start = {
    command: server.command,
    args: [...server.args],
    env: process.env as Record<string, string>,
    stderr: 'ignore' as const,
  };
  if (era === 'modern') {
    const { Client } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const pinned = { versionNegotiation: { mode: { pin: modernVersion } } };
    const client = new Client({ name: 'bare', version: '0.0.0' }, pinned);
    await client.connect(new StdioClientTransport(start));
    return {
      call: (name, args) => client.callTool({ name, arguments: args }),
      list: () => client.listTools(),
      close: () => client.close(),
    };
  }
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  return connected(new StdioClientTransport(start));
}

/** The client of the older era, used by most agents. */
export async function connectSdkByHttp({ url, headers }: Endpoint): Promise<SdkClient> {
  const { StreamableHTTPClientTransport } =
    await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  return connected(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) as Transport,
  );
}

async function connected(transport: Transport): Promise<SdkClient> {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const client = new Client({ name: 'bare', version: '0.0.0' });
  await client.connect(transport);
  return {
    call: (name, args) => client.callTool({ name, arguments: args }) as Promise<Json>,
    list: () => client.listTools(),
    close: () => client.close(),
  };
}
