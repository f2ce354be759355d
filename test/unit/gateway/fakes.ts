/** The surroundings of the gateway in its tests: a backend, and a log in memory. */
import { toolsAlone } from '../../../src/core/tools/features.js';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { Emitter } from '../../../src/core/base/events.js';
import type { Log, LogLevel } from '../../../src/core/base/log.js';
import {
  emptyToolset,
  type GatewayBackend,
  type ServedToolset,
} from '../../../src/core/gateway/backend.js';
import { Conversation } from '../../../src/core/gateway/conversations/conversation.js';
import type { Listing, Listings } from '../../../src/core/gateway/conversations/listings.js';
import { Session, type SessionTraits } from '../../../src/core/gateway/conversations/session.js';
import { known, type ClientChange, type ServerClient } from '../../../src/core/protocol/client.js';
import { policies, type ClientPolicy, type Road } from '../../../src/core/protocol/clientPolicy.js';
import type {
  OtherOutcome,
  ToolOutcome,
  ToolsetCall,
  ToolsetRequest,
} from '../../../src/core/protocol/request.js';
import type { Reply } from '../../../src/core/gateway/eventStreams.js';

export function tool(name: string, more: Partial<Tool> = {}): Tool {
  return { name, inputSchema: { type: 'object' }, ...more };
}

const features = { ...toolsAlone, logging: true };

/** A call for the test to answer. */
export interface HeldCall {
  readonly call: ToolsetCall;
  answer(outcome: ToolOutcome): void;
  fail(error: Error): void;
}

export class FakeBackend implements GatewayBackend {
  readonly toolsets = new Map<string, Omit<ServedToolset, 'id'>>();
  private readonly changes = new Emitter<readonly string[]>();
  private readonly held: HeldCall[] = [];
  private readonly waiting: ((call: HeldCall) => void)[] = [];
  /** Asking for one of these toolsets throws. */
  readonly broken = new Set<string>();
  /** Answers calls at once instead of holding them. */
  answering: ((call: ToolsetCall) => ToolOutcome) | undefined;

  readonly onDidChangeToolsets = this.changes.event;

  /** The tools for one conversation, in place of the toolset's. */
  readonly special = new Map<string, readonly Tool[]>();

  toolset(id: string, _policy: ClientPolicy, conversation?: string): ServedToolset | undefined {
    if (this.broken.has(id)) throw new Error('no list');
    const served = this.toolsets.get(id);
    const tools = conversation !== undefined && this.special.get(conversation);
    return served && { id, ...served, ...(tools && { tools }) };
  }

  changed(id: string): void {
    this.changes.fire([id]);
  }

  /** The ids of configured toolsets, served or not. */
  readonly configured = new Set<string>();
  /** Resolves when the test lets the servers start. */
  starting: Promise<void> = Promise.resolve();
  /** The number of waits for the start. */
  awaited = 0;

  placeholder(id: string): ServedToolset | undefined {
    if (!this.configured.has(id)) return undefined;
    return { ...emptyToolset, id, serverName: id, features };
  }

  whyGone(id: string): string {
    return this.configured.has(id)
      ? `The toolset "${id}" has no tools now: it waits.`
      : `There is no toolset "${id}".`;
  }

  settled(_id: string, signal: AbortSignal): Promise<void> {
    this.awaited += 1;
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
      void this.starting.then(resolve);
    });
  }

  set(id: string, names: readonly string[], more: Partial<ServedToolset> = {}): void {
    const tools = names.map((name) => tool(name));
    this.toolsets.set(id, {
      ...emptyToolset,
      canGain: false,
      serverName: id.slice(0, 13),
      tools,
      features,
      ...more,
    });
    this.changes.fire([id]);
  }

  remove(id: string): void {
    this.toolsets.delete(id);
    this.changes.fire([id]);
  }

  readonly requests: ToolsetRequest[] = [];
  readonly noted: string[] = [];
  responding: (request: ToolsetRequest) => Promise<OtherOutcome> = () =>
    Promise.resolve({ kind: 'result', result: {} });

  request(request: ToolsetRequest): Promise<OtherOutcome> {
    this.requests.push(request);
    return this.responding(request);
  }

  noteClient(_client: ServerClient, change: ClientChange): void {
    this.noted.push(change);
  }

  noteListed(): void {}

  callTool(call: ToolsetCall): Promise<ToolOutcome> {
    if (this.answering) return Promise.resolve(this.answering(call));
    return new Promise((resolve, reject) => {
      const held = { call, answer: resolve, fail: reject };
      const waiting = this.waiting.shift();
      if (waiting) waiting(held);
      else this.held.push(held);
    });
  }

  /** Returns the next call, or the oldest untaken one. */
  nextCall(): Promise<HeldCall> {
    const held = this.held.shift();
    return held ? Promise.resolve(held) : new Promise((resolve) => this.waiting.push(resolve));
  }
}

export function textOutcome(text: string): ToolOutcome {
  return { kind: 'result', result: { content: [{ type: 'text', text }] } };
}

export class MemoryLog implements Log {
  readonly lines: string[] = [];

  write(level: LogLevel, message: string): void {
    this.lines.push(`${level}: ${message}`);
  }
}

/** A reply or a listening stream with a memory. */
export class FakeStream implements Reply {
  readonly sent: Record<string, unknown>[] = [];
  settled = 0;
  ended = false;
  isRead = true;
  /** Resolves with the answer, which may take several turns. */
  readonly answered: Promise<void>;
  private isAnswered = (): void => {};

  constructor() {
    this.answered = new Promise((resolve) => {
      this.isAnswered = resolve;
    });
  }

  send(message: string): void {
    this.sent.push(JSON.parse(message) as Record<string, unknown>);
  }

  sendIfReading(message: string): void {
    if (this.isRead) this.send(message);
  }

  progressToken(first: unknown): unknown {
    return first;
  }

  settle(answer: string | undefined): void {
    this.settled += 1;
    if (answer !== undefined) this.send(answer);
    this.isAnswered();
  }

  end(): void {
    this.ended = true;
  }
}

/** Resolves after this turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A client of 2025-11-25 that declares nothing. */
export const noTraits: SessionTraits = {
  program: '',
  version: '2025-11-25',
  declared: {},
  readsStructureAlone: false,
  namer: undefined,
  agentHost: undefined,
};

export function listingOf(
  listings: Listings,
  toolset: string,
  road: Road = 'agent',
  conversation?: string,
): Listing {
  return listings.of({ toolset, policy: policies[road], traits: noTraits, conversation });
}

/** A session with a conversation under the same id. */
export function sessionOf(listing: Listing, more: Partial<SessionTraits> = {}): Session {
  const conversation = new Conversation('s', listing, known, 0);
  return new Session('s', { ...noTraits, ...more }, conversation, false);
}
