/**
 * An MCP client on bare `node:http` that behaves on the wire like the editor's: every message a
 * POST of its own, no `MCP-Protocol-Version`, a GET right after `initialize`, no waiting for order.
 * It also does what no client should.
 */
import { once } from 'node:events';
import {
  Agent,
  request,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import type { GatewayEndpoint } from '../../../src/core/gateway/http/gateway.js';

export type Json = Record<string, unknown>;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The events of a response, perhaps before its head; a JSON answer counts as one. */
export class EventReader {
  private readonly frames: string[] = [];
  private readonly waiting: ((frame: string | undefined) => void)[] = [];
  private rest = '';
  private ended = false;

  constructor(private readonly sent: ClientRequest) {
    sent.once('response', (response) => {
      response.setEncoding('utf8');
      response.on('data', (text: string) => {
        const frames = (this.rest + text).split('\n\n');
        this.rest = frames.pop() ?? '';
        for (const frame of frames) this.give(frame);
      });
      response.on('error', () => {});
    });
    sent.on('error', () => {});
    sent.once('close', () => {
      if (this.rest.startsWith('{')) this.give(this.rest);
      this.ended = true;
      for (const waiting of this.waiting.splice(0)) waiting(undefined);
    });
  }

  /** Returns the next event or comment unchanged; undefined if the stream ends first. */
  frame(): Promise<string | undefined> {
    const frame = this.frames.shift();
    if (frame !== undefined || this.ended) return Promise.resolve(frame);
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Returns the message of the next event, without comments. */
  async message(): Promise<Json | undefined> {
    for (;;) {
      const frame = await this.frame();
      if (frame === undefined) return undefined;
      const message = messageOf(frame);
      if (message) return message;
    }
  }

  close(): void {
    this.sent.destroy();
  }

  private give(frame: string): void {
    const waiting = this.waiting.shift();
    if (waiting) waiting(frame);
    else this.frames.push(frame);
  }
}

function messageOf(frame: string): Json | undefined {
  const data = frame.startsWith('{') ? frame : /^event: message\ndata: (.*)$/s.exec(frame)?.[1];
  return data === undefined ? undefined : (JSON.parse(data) as Json);
}

/** Returns the messages of a reply with events or JSON. */
export function messagesOf(body: string): Json[] {
  return body
    .split('\n\n')
    .map(messageOf)
    .filter((message) => message !== undefined);
}

export class RawClient {
  session: string | undefined;
  private readonly agent = new Agent({ keepAlive: true });
  private nextId = 1;

  constructor(private readonly endpoint: GatewayEndpoint) {}

  /** Headers set to undefined are left out. */
  open(method: string, headers: OutgoingHttpHeaders = {}, url = this.endpoint.url): ClientRequest {
    const all: OutgoingHttpHeaders = {
      accept: 'text/event-stream, application/json',
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      ...(this.session === undefined ? {} : { 'mcp-session-id': this.session }),
      ...this.endpoint.headers,
      ...headers,
    };
    const given = Object.fromEntries(
      Object.entries(all).filter(([, value]) => value !== undefined),
    );
    return request(url, { method, agent: this.agent, headers: given });
  }

  async answer(sent: ClientRequest): Promise<Answer> {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let body = '';
    for await (const chunk of response.setEncoding('utf8')) body += chunk as string;
    return { status: response.statusCode ?? 0, headers: response.headers, body };
  }

  send(
    method: string,
    body?: string,
    headers: OutgoingHttpHeaders = {},
    url?: string,
  ): Promise<Answer> {
    const sent = this.open(method, headers, url);
    const answer = this.answer(sent);
    sent.end(body);
    return answer;
  }

  /** POSTs the value unchanged. */
  post(value: unknown, headers: OutgoingHttpHeaders = {}): Promise<Answer> {
    return this.send('POST', JSON.stringify(value), headers);
  }

  request(method: string, params?: Json, id: string | number = this.nextId++): Json {
    return { jsonrpc: '2.0', id, method, ...(params ? { params } : {}) };
  }

  /** Returns the only message of the answer. */
  async ask(method: string, params?: Json): Promise<Json> {
    const { status, body } = await this.post(this.request(method, params));
    const [message, more] = messagesOf(body);
    if (status !== 200 || !message || more) throw new Error(`${method}: ${status} ${body}`);
    return message;
  }

  /** Sends a call, and returns its open answer. */
  call(params: Json, id: string | number = this.nextId++): EventReader {
    const sent = this.open('POST');
    sent.end(JSON.stringify(this.request('tools/call', params, id)));
    return new EventReader(sent);
  }

  notify(method: string, params?: Json): Promise<Answer> {
    return this.post({ jsonrpc: '2.0', method, ...(params ? { params } : {}) });
  }

  async initialize(protocolVersion = '2025-11-25', capabilities: Json = {}): Promise<Json> {
    const params = {
      protocolVersion,
      capabilities,
      clientInfo: { name: 'Visual Studio Code', version: '1.139.1' },
    };
    const answer = await this.post(this.request('initialize', params), {
      'mcp-session-id': undefined,
    });
    const session = answer.headers['mcp-session-id'];
    if (typeof session === 'string') this.session = session;
    const [message] = messagesOf(answer.body);
    if (!message) throw new Error(`initialize: ${answer.status} ${answer.body}`);
    return message;
  }

  /** Resolves with the head of the stream. */
  async listen(): Promise<EventReader & { readonly head: IncomingMessage }> {
    const sent = this.open('GET');
    const reader = new EventReader(sent);
    sent.end();
    const [head] = (await once(sent, 'response')) as [IncomingMessage];
    return Object.assign(reader, { head });
  }

  close(): void {
    this.agent.destroy();
  }
}
