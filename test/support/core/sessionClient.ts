/**
 * A session at the gateway with the full protocol: the SDK's client, which records notifications.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  type CallToolResult,
  type ClientCapabilities,
  type CreateMessageResult,
  type ElicitRequest,
  type ElicitResult,
} from '@modelcontextprotocol/sdk/types.js';
import { Emitter, nextEvent } from '../../../src/core/base/events.js';
import { textOf, type Stage } from './stage.js';
import { within } from './within.js';

export interface SessionOptions {
  readonly kind?: 'editor' | 'agent';
  /** The name in the client's own info. */
  readonly name?: string;
  readonly capabilities?: ClientCapabilities;
  readonly elicit?: (
    params: ElicitRequest['params'],
    signal: AbortSignal,
  ) => ElicitResult | Promise<ElicitResult>;
  readonly sample?: (text: string) => CreateMessageResult;
  readonly roots?: () => string[];
}

interface Told {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export class SessionClient {
  readonly told: Told[] = [];
  private readonly heard = new Emitter<void>();

  private constructor(
    readonly client: Client,
    private readonly transport: StreamableHTTPClientTransport,
  ) {
    client.fallbackNotificationHandler = ({ method, params }) => {
      this.told.push({ method, params: (params ?? {}) as Told['params'] });
      this.heard.fire();
      return Promise.resolve();
    };
  }

  static async open(
    stage: Stage,
    toolset: string,
    options: SessionOptions = {},
  ): Promise<SessionClient> {
    const { kind = 'agent', name = 'session', capabilities = {}, elicit, sample, roots } = options;
    const { url, headers } = (await stage.gateway()).endpoint(toolset, kind);
    const client = new Client({ name, version: '1' }, { capabilities });
    if (elicit && capabilities.elicitation)
      client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) =>
        elicit(params, signal),
      );
    if (sample && capabilities.sampling) {
      client.setRequestHandler(CreateMessageRequestSchema, ({ params }) =>
        sample(JSON.stringify(params.messages)),
      );
    }
    if (roots && capabilities.roots)
      client.setRequestHandler(ListRootsRequestSchema, () => ({
        roots: roots().map((uri) => ({ uri })),
      }));
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { ...headers } },
      fetch: withOwnSignal,
    });
    const session = new SessionClient(client, transport);
    stage.onDispose(() => session.close());
    await client.connect(transport as unknown as Parameters<Client['connect']>[0]);
    return session;
  }

  async call(
    tool: string,
    args: object = {},
    options: { conversation?: string; signal?: AbortSignal } = {},
  ): Promise<CallToolResult> {
    const { conversation, signal } = options;
    const meta =
      conversation === undefined ? {} : { _meta: { 'vscode.conversationId': conversation } };
    const request = {
      method: 'tools/call' as const,
      params: { name: tool, arguments: { ...args }, ...meta },
    };
    return await this.client.request(request, CallToolResultSchema, { ...(signal && { signal }) });
  }

  /** The text of the tool itself. */
  async text(...call: Parameters<SessionClient['call']>): Promise<string> {
    const { content, ...rest } = await this.call(...call);
    return textOf({ ...rest, content: content.slice(0, 1) });
  }

  /** Resolves with the first notification of this method and removes it. */
  async next(method: string): Promise<Told['params']> {
    for (;;) {
      const index = this.told.findIndex((told) => told.method === method);
      const [found] = index < 0 ? [] : this.told.splice(index, 1);
      if (found) return found.params;
      await within(
        nextEvent(this.heard.event, () => true),
        `a notification ${method}`,
        () => JSON.stringify(this.told),
      );
    }
  }

  async close(): Promise<void> {
    await this.transport.terminateSession().catch(() => undefined);
    await this.client.close();
  }
}

/**
 * The SDK uses one signal for all requests of a session. Each request would add a listener to it
 * until garbage collection.
 */
function withOwnSignal(url: string | URL, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, ...(init.signal && { signal: AbortSignal.any([init.signal]) }) });
}
