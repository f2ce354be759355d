/**
 * Clients of a Streamable HTTP endpoint in the style of the editor. Every message is a separate
 * POST, the answer is an event or JSON, and a GET receives the server's own messages. The editor
 * uses `fetch`. `node:http` costs a client least, so its figures show the other side.
 */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';

import { modernVersion, type Era } from './sdkClient.js';

export interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * It speaks the older HTTP+SSE. All answers arrive on the stream of a GET, and its first event
   * contains the address for POST.
   */
  readonly isLegacy?: true;
}

export type Json = Record<string, unknown>;
export type HttpKind = 'fetch' | 'node:http';
/** Most agents use the client of the SDK. */
export type ClientKind = HttpKind | 'SDK';

interface Reply {
  readonly status: number;
  readonly session: string | undefined;
  readonly body: string;
}

const accept = 'text/event-stream, application/json';

export class HttpClient {
  private readonly agent = new Agent({ keepAlive: true, noDelay: true });
  private session: string | undefined;
  private nextId = 1;
  private listening: IncomingMessage | undefined;
  private url: string;
  /** Requests with answers on the stream. */
  private readonly waiting = new Map<unknown, (message: Json) => void>();

  constructor(
    private readonly endpoint: Endpoint,
    private readonly kind: HttpKind,
    /** In the modern era each request carries the data of a session. */
    private readonly era: Era = 'legacy',
    /** It declares them, and answers no request of a server. */
    private readonly capabilities: Json = {},
  ) {
    this.url = endpoint.url;
  }

  async connect(): Promise<void> {
    if (this.endpoint.isLegacy) await this.openLegacy();
    await this.ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: this.capabilities,
      clientInfo: { name: 'Visual Studio Code', version: '1.139.1' },
    });
    await this.post(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
  }

  async ask(method: string, params: Json = {}): Promise<Json> {
    const id = this.nextId++;
    const streamed =
      this.endpoint.isLegacy && new Promise<Json>((resolve) => this.waiting.set(id, resolve));
    const isModern = this.era === 'modern';
    const said = isModern ? { ...params, _meta: modernMeta } : params;
    const {
      status: told,
      session,
      body,
    } = await this.post(
      JSON.stringify({ jsonrpc: '2.0', id, method, params: said }),
      isModern ? modernHeaders(method, params) : {},
    );
    this.session ??= session;
    const message = streamed
      ? await streamed
      : messagesOf(body).find((candidate) => candidate['id'] === id);
    const status = told === 202 && streamed ? 200 : told;
    if (status !== 200 || !message)
      throw new Error(`${method}: status ${status}, ${body.slice(0, 200)}`);
    if (message['error'] !== undefined)
      throw new Error(`${method}: ${JSON.stringify(message['error'])}`);
    return message['result'] as Json;
  }

  call(name: string, args: Json): Promise<Json> {
    return this.ask('tools/call', { name, arguments: args });
  }

  /** The first page. */
  list(): Promise<Json> {
    return this.ask('tools/list');
  }

  /**
   * Listens to the server's own messages. Resolves when the stream is open. Some gateways have no
   * such stream.
   */
  listen(onMessage: (message: Json) => void): Promise<boolean> {
    if (this.endpoint.isLegacy) return Promise.resolve(true);
    return new Promise((resolve, reject) => {
      const sent = httpRequest(this.endpoint.url, {
        method: 'GET',
        headers: this.headers(),
        agent: this.agent,
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        response.on('error', () => {});
        if (response.statusCode !== 200) {
          response.resume();
          resolve(false);
          return;
        }
        this.listening = response;
        let rest = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          const frames = (rest + text).split('\n\n');
          rest = frames.pop() ?? '';
          for (const frame of frames) for (const message of messagesOf(frame)) onMessage(message);
        });
        resolve(true);
      });
      sent.end();
    });
  }

  private openLegacy(): Promise<void> {
    return new Promise((resolve, reject) => {
      const sent = httpRequest(
        this.endpoint.url,
        { headers: { accept }, agent: this.agent },
        (response) => {
          this.listening = response;
          let rest = '';
          response.on('error', () => {});
          if (response.statusCode !== 200)
            reject(new Error(`The stream was refused with status ${response.statusCode}.`));
          response.setEncoding('utf8').on('data', (text: string) => {
            const frames = (rest + text).split(/\r?\n\r?\n/);
            rest = frames.pop() ?? '';
            for (const frame of frames) {
              const where = /^event: endpoint\r?\ndata: (.*)$/m.exec(frame)?.[1];
              if (where !== undefined) {
                this.url = new URL(where.trim(), this.endpoint.url).href;
                resolve();
              }
              for (const message of messagesOf(frame)) {
                this.waiting.get(message['id'])?.(message);
                this.waiting.delete(message['id']);
              }
            }
          });
        },
      );
      sent.on('error', reject);
      sent.end();
    });
  }

  close(): void {
    this.listening?.destroy();
    this.agent.destroy();
  }

  private headers(): Record<string, string> {
    return {
      accept,
      ...this.endpoint.headers,
      ...(this.session === undefined ? {} : { 'mcp-session-id': this.session }),
    };
  }

  private post(body: string, more: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.kind === 'fetch' ? this.postByFetch(body, more) : this.postByNode(body, more);
  }

  private async postByFetch(body: string, more: Readonly<Record<string, string>>): Promise<Reply> {
    const headers = {
      ...this.headers(),
      ...more,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    };
    const response = await fetch(this.url, { method: 'POST', headers, body });
    let text = '';
    if (response.body) {
      // Piece by piece, like the editor.
      const decoder = new TextDecoder();
      const reader = response.body.getReader();
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        text += decoder.decode(read.value as Uint8Array, { stream: true });
      }
    }
    return {
      status: response.status,
      session: response.headers.get('mcp-session-id') ?? undefined,
      body: text,
    };
  }

  private postByNode(body: string, more: Readonly<Record<string, string>>): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const headers = {
        ...this.headers(),
        ...more,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      };
      const sent = httpRequest(
        this.url,
        { method: 'POST', agent: this.agent, headers },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          response.on('error', reject);
          response.on('end', () => {
            const session = response.headers['mcp-session-id'];
            resolve({
              status: response.statusCode ?? 0,
              session: typeof session === 'string' ? session : undefined,
              body: text,
            });
          });
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }
}

const modernMeta = {
  'io.modelcontextprotocol/protocolVersion': modernVersion,
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '0.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

function modernHeaders(method: string, { name }: Json): Record<string, string> {
  return {
    'mcp-protocol-version': modernVersion,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': name }),
  };
}

function messagesOf(body: string): Json[] {
  if (body.startsWith('{')) return [JSON.parse(body) as Json];
  const found: Json[] = [];
  for (const line of body.split('\n'))
    if (line.startsWith('data: {')) found.push(JSON.parse(line.slice(6)) as Json);
  return found;
}
