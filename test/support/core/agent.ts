/**
 * An agent at the gateway: the SDK's client over Streamable HTTP, in the form of an editor or of
 * another program.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CallToolResultSchema,
  ToolListChangedNotificationSchema,
  type CallToolResult,
  type Progress,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { Emitter, nextEvent } from '../../../src/core/base/events.js';
import { textOf, type Stage } from './stage.js';
import { within } from './within.js';

export interface AgentCall {
  readonly conversation?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export class Agent {
  private readonly changes = new Emitter<void>();

  private constructor(
    private readonly client: Client,
    private readonly transport: StreamableHTTPClientTransport,
  ) {
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => this.changes.fire());
  }

  static async connect(
    stage: Stage,
    toolset: string,
    kind: 'editor' | 'agent' = 'editor',
  ): Promise<Agent> {
    const gateway = await stage.gateway();
    const { url, headers } = gateway.endpoint(toolset, kind);
    const client = new Client({ name: 'agent', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { ...headers } },
    });
    const agent = new Agent(client, transport);
    stage.onDispose(() => agent.close());
    // The SDK's class does not match its interface under exactOptionalPropertyTypes.
    await client.connect(transport as unknown as Parameters<Client['connect']>[0]);
    return agent;
  }

  get serverName(): string {
    return this.client.getServerVersion()?.name ?? '';
  }

  get instructions(): string | undefined {
    return this.client.getInstructions();
  }

  async tools(): Promise<Tool[]> {
    const tools: Tool[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.client.listTools(cursor === undefined ? {} : { cursor });
      tools.push(...page.tools);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return tools;
  }

  async toolNames(): Promise<string[]> {
    return (await this.tools()).map(({ name }) => name);
  }

  /** Resolves with the tools' names once they are accepted. Lists again after each notification. */
  async untilTools(accept: (names: readonly string[]) => boolean, what: string): Promise<string[]> {
    for (;;) {
      const changed = nextEvent(this.changes.event, () => true);
      const names = await this.toolNames();
      if (accept(names)) return names;
      await within(changed, what, () => `now ${names.join(' ')}`);
    }
  }

  /**
   * Unlike the client's `callTool`, and like the editor, it takes results without structured
   * content.
   */
  async result(
    tool: string,
    args: Record<string, unknown> = {},
    call: AgentCall = {},
  ): Promise<CallToolResult> {
    const { conversation, signal, onProgress } = call;
    const meta =
      conversation === undefined ? {} : { _meta: { 'vscode.conversationId': conversation } };
    const request = {
      method: 'tools/call' as const,
      params: { name: tool, arguments: args, ...meta },
    };
    return await this.client.request(request, CallToolResultSchema, {
      ...(signal && { signal }),
      ...(onProgress && { onprogress: onProgress }),
    });
  }

  /** The text of the tool itself, without the host's notes about leases (L3). */
  async text(...call: Parameters<Agent['result']>): Promise<string> {
    const { content, ...rest } = await this.result(...call);
    return textOf({
      ...rest,
      content: content.filter((part) => part.type !== 'text' || !isNote(part.text)),
    });
  }

  async close(): Promise<void> {
    // Otherwise the gateway keeps the session until it needs room.
    await this.transport.terminateSession().catch(() => undefined);
    await this.client.close();
  }
}

export function isNote(text: string): boolean {
  return text.startsWith('\n[MCP Toolsets] ');
}
