/**
 * Clients of a Streamable HTTP endpoint as the editor is one: every message a POST of its own, the answer an event or
 * JSON, a GET for what the server says by itself. `fetch` is what the editor uses; `node:http` costs a client least, so
 * that what is measured is the other side.
 */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';

export interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type Json = Record<string, unknown>;
export type HttpKind = 'fetch' | 'node:http';

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

  constructor(
    private readonly endpoint: Endpoint,
    private readonly kind: HttpKind,
  ) {}

  async connect(): Promise<void> {
    await this.ask('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'Visual Studio Code', version: '1.139.1' },
    });
    await this.post(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }));
  }

  async ask(method: string, params: Json = {}): Promise<Json> {
    const id = this.nextId++;
    const { status, session, body } = await this.post(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    this.session ??= session;
    const message = messagesOf(body).find((candidate) => candidate['id'] === id);
    if (status !== 200 || !message) throw new Error(`${method}: status ${status}, ${body.slice(0, 200)}`);
    if (message['error'] !== undefined) throw new Error(`${method}: ${JSON.stringify(message['error'])}`);
    return message['result'] as Json;
  }

  call(name: string, args: Json): Promise<Json> {
    return this.ask('tools/call', { name, arguments: args });
  }

  /** The first page. */
  list(): Promise<Json> {
    return this.ask('tools/list');
  }

  /** Hears what the server says by itself; resolves when the stream is open. Not every gateway has one. */
  listen(onMessage: (message: Json) => void): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const sent = httpRequest(this.endpoint.url, { method: 'GET', headers: this.headers(), agent: this.agent });
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

  private post(body: string): Promise<Reply> {
    return this.kind === 'fetch' ? this.postByFetch(body) : this.postByNode(body);
  }

  private async postByFetch(body: string): Promise<Reply> {
    const headers = {
      ...this.headers(),
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    };
    const response = await fetch(this.endpoint.url, { method: 'POST', headers, body });
    let text = '';
    if (response.body) {
      // Piece by piece, as the editor reads its answers.
      const decoder = new TextDecoder();
      const reader = response.body.getReader();
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        text += decoder.decode(read.value as Uint8Array, { stream: true });
      }
    }
    return { status: response.status, session: response.headers.get('mcp-session-id') ?? undefined, body: text };
  }

  private postByNode(body: string): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const headers = {
        ...this.headers(),
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      };
      const sent = httpRequest(this.endpoint.url, { method: 'POST', agent: this.agent, headers }, (response) => {
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
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }
}

function messagesOf(body: string): Json[] {
  if (body.startsWith('{')) return [JSON.parse(body) as Json];
  const found: Json[] = [];
  for (const line of body.split('\n')) if (line.startsWith('data: {')) found.push(JSON.parse(line.slice(6)) as Json);
  return found;
}
