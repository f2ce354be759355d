/**
 * A model on the loopback interface, controlled by the test. A request of an agent waits for the
 * test's decision about the answer. So each step of a check is written in order. A tag in the
 * person's question assigns a request to its conversation.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Emitter, nextEvent } from '../../../src/core/base/events.js';
import { within } from '../../support/core/within.js';
import { agentHost } from './agentHost.js';
import { chat } from './chat.js';
import { gemini } from './gemini.js';
import { messages } from './messages.js';
import {
  listOf,
  sendJson,
  type Fields,
  type ModelAnswer,
  type ModelProtocol,
  type OfferedTool,
} from './protocol.js';
import { responses } from './responses.js';

const protocols: readonly ModelProtocol[] = [messages, responses, chat, gemini, agentHost];

/** The limit for an agent's start, and for a result. */
const startMs = 180_000;

interface Waiting {
  readonly protocol: ModelProtocol;
  readonly body: Fields;
  readonly path: string;
  readonly response: ServerResponse;
}

/** One result in an agent's request to its model. */
export interface ModelResult {
  /** Everything in text form, without images. */
  readonly text: string;
  /** Images in the form of the protocol. */
  readonly images: number;
}

export class ScriptedModel {
  private readonly talks = new Map<string, Talk>();
  private readonly server = createServer(
    (request, response) => void this.receive(request, response),
  );

  /** @param record a file that collects every request, for a person to read */
  private constructor(private readonly record: string | undefined) {}

  static async start(record?: string): Promise<ScriptedModel> {
    const model = new ScriptedModel(record);
    await new Promise<void>((resolve) => model.server.listen(0, '127.0.0.1', resolve));
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** A conversation that an agent begins with `talk.prompt`. */
  talk(): Talk {
    const tag = `talk-${randomBytes(6).toString('hex')}`;
    const talk = new Talk(tag);
    this.talks.set(tag, talk);
    return talk;
  }

  end(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    let text = '';
    for await (const chunk of request) text += String(chunk);
    if (this.record) appendFileSync(this.record, `${request.method} ${path} ${text}\n`);
    const protocol = protocols.find((one) => one.speaksAt(path));
    if (!protocol) return sendJson(response, otherwise(path));
    const body = JSON.parse(text) as Fields;
    const talk = [...this.talks.values()].find(({ tag }) => text.includes(tag));
    // Agents also request titles and summaries, and offer no tools then.
    if (!talk || protocol.tools(body).length === 0) {
      return protocol.answer(response, { kind: 'text', text: 'OK' }, { body, path });
    }
    talk.take({ protocol, body, path, response });
  }
}

function otherwise(path: string): object {
  if (/countTokens|count_tokens/.test(path)) return { totalTokens: 10, input_tokens: 10 };
  if (/\/models(?:\?|$)/.test(path))
    return { object: 'list', data: [{ id: 'scripted', object: 'model' }] };
  return {};
}

/** One conversation of one agent, as its model sees it. */
export class Talk {
  readonly prompt: string;
  private readonly arrived = new Emitter<void>();
  private waiting: Waiting | undefined;
  private failure: string | undefined;
  private calls = 0;

  constructor(readonly tag: string) {
    this.prompt = `Do what the script ${tag} says.`;
  }

  take(waiting: Waiting): void {
    this.waiting = waiting;
    this.arrived.fire();
  }

  /** The agent has ended, so no more requests come. */
  gone(why: string): void {
    this.failure = why;
    this.arrived.fire();
  }

  /** Resolves when the agent waits for its model. */
  async ready(limitMs = startMs): Promise<void> {
    await this.next(limitMs);
  }

  /** The tools offered to the model now. */
  async tools(): Promise<OfferedTool[]> {
    const { protocol, body } = await this.next();
    return protocol.tools(body);
  }

  /**
   * Our tools in the agent's request as it sent them. An agent pays for every change of them (N6).
   * Some agents have tools of their own that change from one request to the next.
   */
  async toolBytes(): Promise<string> {
    const { body } = await this.next();
    const all = listOf(body['tools']).flatMap((tool) =>
      listOf(tool['functionDeclarations'] ?? [tool]),
    );
    const ours = all
      .map((tool) => JSON.stringify(tool))
      .filter((tool) => /c_(?:tally|echo|fail|chart|exit)"/.test(tool));
    assert.ok(ours.length > 0, 'no tool of ours is offered');
    return ours.join();
  }

  /**
   * The model calls a tool. Resolves with the result in the next request. @param tool its published
   * name
   */
  async call(tool: string, args: object = {}, limitMs = startMs): Promise<ModelResult> {
    const offered = await this.tools();
    const found = offered.find(
      ({ name }) => name === tool || new RegExp(`[-_]${tool}$`).test(name),
    );
    assert.ok(
      found,
      `the model is not offered ${tool}: ${offered.map(({ name }) => name).join(', ')}`,
    );
    return await this.callAs(found, args, limitMs);
  }

  async callAs(tool: OfferedTool, args: object = {}, limitMs = startMs): Promise<ModelResult> {
    await this.answer({
      kind: 'call',
      id: `call_${this.tag.slice(5)}_${++this.calls}`,
      tool,
      args,
    });
    const { protocol, body } = await this.next(limitMs);
    return resultOf(protocol.news(body));
  }

  /** The model sends its last text. */
  async finish(): Promise<void> {
    await this.answer({ kind: 'text', text: 'DONE' });
  }

  private async answer(answer: ModelAnswer): Promise<void> {
    const { protocol, body, path, response } = await this.next();
    this.waiting = undefined;
    protocol.answer(response, answer, { body, path });
  }

  private async next(limitMs = startMs): Promise<Waiting> {
    if (!this.waiting) {
      const isThere = (): boolean => this.waiting !== undefined || this.failure !== undefined;
      const come = isThere() ? Promise.resolve() : nextEvent(this.arrived.event, isThere);
      await within(come, 'a request of the agent to its model', undefined, limitMs);
    }
    return this.waiting ?? assert.fail(this.failure);
  }
}

function resultOf(news: readonly unknown[]): ModelResult {
  let images = 0;
  const words: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value === 'string') words.push(value);
    else if (Array.isArray(value)) value.forEach(walk);
    else if (typeof value === 'object' && value !== null) {
      const fields = value as Fields;
      if (isImage(fields)) images++;
      else for (const [key, inner] of Object.entries(fields)) if (!structural.has(key)) walk(inner);
    }
  };
  walk(news);
  return { text: words.join('\n'), images };
}

const structural = new Set([
  'type',
  'role',
  'id',
  'call_id',
  'callId',
  'tool_call_id',
  'tool_use_id',
  'status',
  'name',
]);

function isImage(fields: Fields): boolean {
  const inline = (fields['inlineData'] ?? fields['inline_data']) as Fields | undefined;
  if (inline) return String(inline['mimeType'] ?? inline['mime_type']).startsWith('image/');
  return ['image', 'input_image', 'image_url'].includes(String(fields['type']));
}
