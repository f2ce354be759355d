/**
 * A program with the SDK's client. It calls `pid`, prints the result, and listens until it is
 * killed: `node listeningClient.mjs URL AUTHORIZATION`.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [url, authorization] = process.argv.slice(2);
const client = new Client({ name: 'listening', version: '1' });
await client.connect(
  new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: authorization } },
  }),
);
await client.callTool({ name: 'pid' });
console.log('called');
setInterval(() => {}, 1 << 30);
