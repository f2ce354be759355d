/** Servers with a long text in every place. */
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { openConnection } from '../../src/core/connections/eras/opening.js';
import type { ServerTransport } from '../../src/core/peer/peer.js';
import { systemClock } from '../../src/core/base/clock.js';
import { LoopShare } from '../../src/core/base/turns.js';
import { expectedClient, noClient, type ServerClient } from '../../src/core/protocol/client.js';
import { silentLog } from '../support/fakes/silentLog.js';

/** A server of 2026-07-28 with the text in every place. */
export async function modernServer(text: string): Promise<void> {
  const answers: Answers = {
    initialize: (id) => ({
      id,
      error: { code: -32022, message: text, data: { supported: [text] } },
    }),
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
              properties: {
                p: { type: 'string', 'x-mcp-header': 'P' },
                [text]: { title: text, 'x-mcp-header': text },
              },
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
  await talk(answers, text);
}

/** A server of 2025-11-25 with the text in every place. */
export async function legacyServer(text: string): Promise<void> {
  const capabilities = { tools: { listChanged: true }, resources: { subscribe: true }, [text]: {} };
  const result = {
    protocolVersion: '2025-11-25',
    capabilities,
    serverInfo: { name: text, version: text },
  };
  const tool = { name: text, description: text, inputSchema: { type: 'object', title: text } };
  await talk(
    {
      initialize: (id) => ({ id, result }),
      'tools/list': (id) => ({ id, result: { tools: [tool] } }),
      'resources/list': (id) => ({ id, result: { resources: [{ uri: text, name: text }] } }),
      'resources/templates/list': (id) => ({ id, result: { resourceTemplates: [] } }),
      'tools/call': (id) => ({ id, result: { content: [{ type: 'text', text }] } }),
      'prompts/get': (id) => ({ id, error: { code: 1, message: text, data: text } }),
      'resources/subscribe': (id) => ({ id, result: { [text]: text } }),
      'resources/unsubscribe': (id) => ({ id, result: {} }),
    },
    text,
  );
}

type Answers = Readonly<Record<string, (id: unknown) => object>>;

async function talk(answers: Answers, text: string): Promise<void> {
  const transport: ServerTransport = {
    hasHeaders: true,
    causeOfEnd: '',
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    send: (message) => {
      const made =
        'method' in message && 'id' in message ? answers[message.method]?.(message.id) : undefined;
      if (made)
        queueMicrotask(() => transport.onmessage?.({ jsonrpc: '2.0', ...made } as JSONRPCMessage));
      return Promise.resolve();
    },
  };
  const client: ServerClient = {
    ...expectedClient(noClient),
    capabilities: { elicitation: {}, [text]: { text } },
    ask: () => Promise.resolve({ text }),
  };
  const opening = await openConnection({
    transport,
    era: { expected: 'legacy', onSeen: () => {} },
    self: { version: text, capabilities: {} },
    clock: systemClock,
    share: new LoopShare(systemClock),
    log: silentLog,
    trace: () => false,
    limit: { timeoutMs: 60_000, signal: new AbortController().signal },
  });
  if (opening.kind !== 'opened') throw new Error(opening.kind);
  const { connection } = opening;
  const terms = {
    timeouts: { call: 60_000, callMax: 60_000 },
    signal: new AbortController().signal,
    client,
  };
  await connection.callTool({ ...terms, tool: 'a', arguments: { p: text, [text]: text } });
  await connection.request({ ...terms, method: 'prompts/get', params: { name: text } });
  await connection.request({ ...terms, method: 'resources/subscribe', params: { uri: text } });
  await connection.request({ ...terms, method: 'resources/unsubscribe', params: { uri: text } });
  connection.notify(text, { text });
  transport.onmessage?.({ jsonrpc: '2.0', id: text, method: text, params: { text } });
  transport.onmessage?.({
    jsonrpc: '2.0',
    method: text,
    params: { _meta: { 'io.modelcontextprotocol/subscriptionId': text } },
  });
  transport.onmessage?.({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: text },
  });
  await connection.close();
}
