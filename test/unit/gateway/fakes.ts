/** The surroundings of the gateway in its tests: a backend, and a log in memory. */
import { toolsAlone } from '../../../src/core/tools/features.js';
import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { Emitter } from '../../../src/core/base/events.js';
import type { Log, LogLevel } from '../../../src/core/base/log.js';
import type { GatewayBackend, ServedToolset } from '../../../src/core/gateway/backend.js';
import type { ClientChange, ClientKind, ServerClient } from '../../../src/core/protocol/client.js';
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

  toolset(id: string, _clientKind: ClientKind, conversation?: string): ServedToolset | undefined {
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
    const empty = { tools: [], prompts: [], resources: [], templates: [], features };
    return { id, serverName: id, instructions: undefined, canGain: true, ...empty };
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
    const others = { prompts: [], resources: [], templates: [], features };
    this.toolsets.set(id, {
      serverName: id.slice(0, 13),
      instructions: undefined,
      tools,
      ...others,
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
