/** A server of 2026-07-28 with long texts. */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { EraTransport } from '../../src/core/connections/eras/eraTransport.js';
import type { ServerTransport } from '../../src/core/connections/transport.js';
import { systemClock } from '../../src/core/base/clock.js';
import { silentLog } from '../support/fakes/silentLog.js';

/** A server of 2026-07-28 with this text in every possible place. */
export async function modernServer(text: string): Promise<void> {
  const answers: Readonly<Record<string, (id: unknown) => object>> = {
    initialize: (id) => ({ id, error: { code: -32022, message: text, data: { supported: [text] } } }),
    'server/discover': (id) => ({
      id,
      result: {
        supportedVersions: [text, '2026-07-28'],
        capabilities: { tools: { listChanged: true }, [text]: {} },
        instructions: text,
        _meta: { 'io.modelcontextprotocol/serverInfo': { name: text, version: text } },
      },
    }),
    'subscriptions/listen': (id) => ({
      method: 'notifications/subscriptions/acknowledged',
      params: {
        notifications: { resourceSubscriptions: [text] },
        _meta: { 'io.modelcontextprotocol/subscriptionId': id },
      },
    }),
    'tools/list': (id) => ({
      id,
      result: {
        tools: [
          {
            name: 'a',
            inputSchema: {
              type: 'object',
              properties: { p: { type: 'string', 'x-mcp-header': 'P' }, [text]: { title: text, 'x-mcp-header': text } },
            },
          },
        ],
        _meta: { [text]: text },
      },
    }),
    'tools/call': (id) => ({
      id,
      result: {
        resultType: 'input_required',
        requestState: text,
        inputRequests: { [text]: { method: text, params: { message: text } } },
      },
    }),
    'prompts/get': (id) => ({ id, result: { resultType: text } }),
  };
  const transport: ServerTransport = {
    hasHeaders: true,
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    send: (message) => {
      const made = 'method' in message && 'id' in message ? answers[message.method]?.(message.id) : undefined;
      if (made) queueMicrotask(() => transport.onmessage?.({ jsonrpc: '2.0', ...made } as JSONRPCMessage));
      return Promise.resolve();
    },
  };
  const era = { expected: 'legacy', onSeen: () => {} } as const;
  const eras = new EraTransport({ transport, era, clock: systemClock, log: silentLog });
  eras.onmessage = (message) => {
    if ('method' in message && 'id' in message) void eras.send({ jsonrpc: '2.0', id: message.id, result: { text } });
  };
  const send = (id: number, method: string, params: Record<string, unknown> = {}): Promise<void> =>
    eras.send({ jsonrpc: '2.0', id, method, params });
  await send(0, 'initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: text, version: text },
  });
  await send(1, 'tools/list');
  await send(2, 'tools/call', { name: 'a', arguments: { p: text, [text]: text } });
  await send(3, 'prompts/get', { name: text });
  await send(4, 'resources/subscribe', { uri: text });
  await send(5, 'resources/unsubscribe', { uri: text });
  eras.whatIsWrongWithTool({ inputSchema: { type: 'object', properties: { [text]: { 'x-mcp-header': text } } } });
  transport.onmessage?.({
    jsonrpc: '2.0',
    method: text,
    params: { _meta: { 'io.modelcontextprotocol/subscriptionId': text } },
  });
  transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: text } });
  await eras.close();
}
