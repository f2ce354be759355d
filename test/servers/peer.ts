/**
 * The SDK's client of either era, over any of its transports. It declares the usual capabilities of
 * agents and answers the questions of servers. Its answers are the JSON of the wire, because the
 * SDK removes unknown fields from its results.
 */
import {
  Client as ModernSdk,
  StreamableHTTPClientTransport as ModernHttp,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as LegacySdk } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as LegacyStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as LegacyHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { pathToFileURL } from 'node:url';
import type { Era } from '../../src/core/protocol/versions.js';
import { within } from '../support/core/within.js';

export type Fields = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly result?: Fields;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface Address {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const usualCapabilities: Fields = {
  roots: { listChanged: true },
  sampling: {},
  elicitation: { form: {} },
  extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } },
};

const form = { action: 'accept' as const, content: { name: 'Ada', check: true } };
const sample = {
  role: 'assistant' as const,
  model: 'scripted',
  content: { type: 'text' as const, text: 'sampled' },
};

interface PeerOptions {
  /** The one root. */
  readonly root: string;
  /** True if it declares no capability, like a script. */
  readonly isPlain?: boolean;
}

/**
 * Any of either SDK: their classes do not agree with their own interfaces under
 * exactOptionalPropertyTypes.
 */
type Any = any; // oxlint-disable-line typescript/no-explicit-any

export class Peer {
  private readonly methods = new Map<unknown, string>();
  private last: (Answer & { readonly method: string }) | undefined;

  private constructor(
    private readonly client: LegacySdk | ModernSdk,
    private readonly transport: Any,
  ) {
    const send = transport.send.bind(transport) as (
      message: Any,
      ...rest: unknown[]
    ) => Promise<void>;
    transport.send = (message: Any, ...rest: unknown[]) => {
      if (message.method !== undefined && message.id !== undefined)
        this.methods.set(message.id, message.method);
      return send(message, ...rest);
    };
  }

  static async open(
    era: Era,
    to: Launch | Address,
    { root, isPlain = false }: PeerOptions,
  ): Promise<Peer> {
    const info = { name: `a ${era} client`, version: '1' };
    const capabilities: Any = isPlain ? {} : usualCapabilities;
    const stdio = 'command' in to && {
      ...to,
      args: [...to.args],
      env: to.env as Any,
      stderr: 'ignore' as const,
    };
    const url = new URL('url' in to ? to.url : 'stdio:');
    const requestInit = { headers: 'url' in to ? { ...to.headers } : {} };
    const handlers: Any = {
      'roots/list': () => ({ roots: [{ uri: pathToFileURL(root).href, name: 'root' }] }),
      'elicitation/create': () => form,
      'sampling/createMessage': () => sample,
    };
    let peer: Peer;
    if (era === 'legacy') {
      const client = new LegacySdk(info, { capabilities });
      peer = new Peer(
        client,
        stdio ? new LegacyStdio(stdio) : new LegacyHttp(url, { requestInit }),
      );
      if (!isPlain)
        for (const schema of [
          ListRootsRequestSchema,
          ElicitRequestSchema,
          CreateMessageRequestSchema,
        ])
          client.setRequestHandler(schema as typeof ListRootsRequestSchema, ({ method }) =>
            handlers[method](),
          );
    } else {
      const versionNegotiation = { mode: { pin: '2026-07-28' } };
      const client = new ModernSdk(info, { versionNegotiation, capabilities });
      peer = new Peer(
        client,
        stdio ? new ModernStdio(stdio) : new ModernHttp(url, { requestInit }),
      );
      if (!isPlain)
        for (const method in handlers) client.setRequestHandler(method as Any, handlers[method]);
    }
    await within(peer.client.connect(peer.transport), 'the connection', () => JSON.stringify(to));
    peer.listen();
    return peer;
  }

  /** Keeps the answers of the wire. */
  private listen(): void {
    const receive = this.transport.onmessage.bind(this.transport) as (
      message: Any,
      extra?: unknown,
    ) => void;
    this.transport.onmessage = (message: Any, extra?: unknown) => {
      const method = this.methods.get(message.id);
      const { result, error } = message;
      if (method !== undefined && message.method === undefined)
        this.last = {
          method,
          ...(result !== undefined && { result }),
          ...(error !== undefined && { error }),
        };
      receive(message, extra);
    };
  }

  get instructions(): string | undefined {
    return this.client.getInstructions();
  }

  /** One request at a time. Resolves with its answer, also with an error. */
  async request(method: string, params: Fields = {}): Promise<Answer> {
    this.last = undefined;
    const client = this.client as Any;
    const sent = client
      .request({ method, params }, ResultSchema)
      .catch((error: unknown) => error) as Promise<unknown>;
    const outcome = await within(sent, `the answer to ${method}`, () => JSON.stringify(params));
    const answer = this.last as (Answer & { method: string }) | undefined;
    if (answer?.method !== method)
      throw outcome instanceof Error ? outcome : new Error(`no answer to ${method}`);
    return {
      ...(answer.result && { result: answer.result }),
      ...(answer.error && { error: answer.error }),
    };
  }

  /** All pages of a list. An unknown method is an empty list. */
  async list(method: string, field: string): Promise<readonly Fields[]> {
    const found: Fields[] = [];
    for (let cursor: unknown, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const { result, error } = await this.request(method, cursor === undefined ? {} : { cursor });
      if (error?.code === -32601) return [];
      if (!result) throw new Error(`${method}: ${JSON.stringify(error)}`);
      found.push(...(result[field] as readonly Fields[]));
      cursor = result['nextCursor'];
    }
    return found;
  }

  /** Ends its conversation. */
  async close(): Promise<void> {
    if (this.transport.terminateSession)
      await this.transport.terminateSession().catch(() => undefined);
    await this.client.close();
  }
}
