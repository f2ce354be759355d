/**
 * A client of 2026-07-28 with requests written by the test, over HTTP and without a session. It
 * shows details hidden by the SDK's client. `Message` is any answer.
 */
import { Agent, request, type IncomingMessage } from 'node:http';
import { modernVersion } from '../../../src/core/protocol/versions.js';
import type { Stage } from './stage.js';
import { within } from './within.js';

type Fields = Readonly<Record<string, unknown>>;

export interface Message {
  readonly status: number;
  readonly result?: Fields;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  /** The notifications before the answer. */
  readonly told: readonly { readonly method: string; readonly params: Fields }[];
}

interface ModernOptions {
  readonly name?: string;
  readonly capabilities?: Fields;
  /** Makes the address a private one. */
  readonly address?: string;
}

export interface RequestOptions {
  readonly meta?: Fields;
  readonly signal?: AbortSignal;
  /** The answer is a stream, and the test ends it. */
  readonly isLong?: boolean;
  readonly onTold?: (method: string, params: Fields) => void;
}

let nextId = 1;

export class ModernClient {
  private constructor(
    private readonly url: string,
    private readonly headers: Readonly<Record<string, string>>,
    private readonly agent: Agent,
    private readonly options: ModernOptions,
  ) {}

  static async open(
    stage: Stage,
    toolset: string,
    options: ModernOptions = {},
  ): Promise<ModernClient> {
    const { url, headers } = (await stage.gateway()).endpoint(toolset, 'agent');
    const agent = new Agent({ keepAlive: true });
    stage.onDispose(() => Promise.resolve(agent.destroy()));
    return new ModernClient(
      options.address ? `${url}/c/${options.address}` : url,
      headers,
      agent,
      options,
    );
  }

  /** Resolves with the answer. Rejects when the signal is aborted, which closes the stream. */
  async request(
    method: string,
    params: Fields = {},
    options: RequestOptions = {},
  ): Promise<Message> {
    const { name = 'modern', capabilities = {} } = this.options;
    const target = {
      'tools/call': params['name'],
      'prompts/get': params['name'],
      'resources/read': params['uri'],
    };
    const mcpName = method.startsWith('tasks/') ? params['taskId'] : (target as Fields)[method];
    const meta = {
      'io.modelcontextprotocol/protocolVersion': modernVersion,
      'io.modelcontextprotocol/clientInfo': { name, version: '1' },
      'io.modelcontextprotocol/clientCapabilities': capabilities,
      ...options.meta,
    };
    const headers = {
      'mcp-protocol-version': modernVersion,
      'mcp-method': method,
      ...(typeof mcpName === 'string' && { 'mcp-name': mcpName }),
    };
    const body = { jsonrpc: '2.0', id: nextId++, method, params: { ...params, _meta: meta } };
    const response = await this.send('POST', headers, JSON.stringify(body), options.signal);
    const answer = this.read(response, options);
    return await (options.isLong === true ? answer : within(answer, `the answer to ${method}`));
  }

  async call(
    tool: string,
    args: Fields = {},
    options: RequestOptions & { more?: Fields } = {},
  ): Promise<Message> {
    return await this.request(
      'tools/call',
      { name: tool, arguments: args, ...options.more },
      options,
    );
  }

  /** The text of a result without an error. */
  async text(...call: Parameters<ModernClient['call']>): Promise<string> {
    const answer = await this.call(...call);
    if (answer.result?.['isError'] !== false && answer.result?.['isError'] !== undefined)
      throw new Error(`an error: ${JSON.stringify(answer)}`);
    return textIn(answer);
  }

  /** Opens a stream, or ends the resource at the address. */
  async send(
    method: 'GET' | 'POST' | 'DELETE',
    headers: Readonly<Record<string, string>> = {},
    body?: string,
    signal?: AbortSignal,
  ): Promise<IncomingMessage> {
    const all = {
      accept: 'application/json, text/event-stream',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...this.headers,
      ...headers,
    };
    return await new Promise((resolve, reject) => {
      const sent = request(
        this.url,
        { method, headers: all, agent: this.agent, ...(signal && { signal }) },
        resolve,
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }

  private async read(response: IncomingMessage, { onTold }: RequestOptions): Promise<Message> {
    const told: { method: string; params: Fields }[] = [];
    const status = response.statusCode ?? 0;
    let answer: Partial<Message> = {};
    let text = '';
    for await (const part of response.setEncoding('utf8') as AsyncIterable<string>) {
      text += part;
      const events = text.split('\n\n');
      if (events.length === 1) continue;
      text = events.pop() ?? '';
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data === undefined) continue;
        const message = JSON.parse(data) as Fields;
        if (typeof message['method'] !== 'string') answer = message;
        else {
          const params = (message['params'] ?? {}) as Fields;
          told.push({ method: message['method'], params });
          onTold?.(message['method'], params);
        }
      }
    }
    if (text.startsWith('{')) answer = JSON.parse(text) as Partial<Message>;
    return { ...answer, status, told };
  }
}

/** What the tool said first. */
export function textIn({ result, error }: Message): string {
  const [part] = (result?.['content'] ?? []) as readonly { readonly text?: string }[];
  return part?.text ?? JSON.stringify(error ?? result);
}
