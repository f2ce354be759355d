/** A model and tools at the seams of a conversation. */
import type { Fitted } from '../../../src/core/minds/budget.js';
import {
  runTurn,
  type Audience,
  type ModelSetup,
  type Permit,
  type TurnOutcome,
} from '../../../src/core/minds/conversation.js';
import type {
  ConversationMessage,
  ConversationModel,
  ConversationTool,
  ModelPart,
  ModelRequest,
  ToolCall,
  ToolResult,
  ToolRunner,
} from '../../../src/core/minds/model.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

export const tool = (name: string, more: Partial<ConversationTool> = {}): ConversationTool => ({
  name,
  original: name,
  toolset: name.split('_')[0] ?? name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object' },
  ...more,
});

export const call = (id: string, name: string, input: Record<string, unknown> = {}): ModelPart => ({
  kind: 'call',
  call: { id, tool: name, input },
});

export const text = (words: string): ModelPart => ({ kind: 'text', text: words });

/** The model's reaction to one request: parts, then perhaps an error. */
export type Step =
  | readonly (ModelPart | Error)[]
  | ((request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelPart>);

export class FakeModel implements ConversationModel {
  readonly vendor = 'fake';
  readonly name = 'Fake';
  seesImages = true;
  maxInputTokens = 100_000;
  readonly requests: ModelRequest[] = [];

  constructor(private readonly steps: readonly Step[]) {}

  countTokens(words: string): Promise<number> {
    return Promise.resolve(words.length);
  }

  async *send(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart> {
    const step = this.steps[this.requests.length];
    this.requests.push(request);
    if (!step) throw new Error('The fake model has no more answers.');
    if (typeof step === 'function') {
      yield* step(request, signal);
      return;
    }
    for (const part of step) {
      await Promise.resolve();
      if (part instanceof Error) throw part;
      yield part;
    }
  }
}

export interface Rig {
  readonly tools?: readonly ConversationTool[];
  readonly messages?: readonly ConversationMessage[];
  readonly run?: (call: ToolCall, signal: AbortSignal) => Promise<ToolResult>;
  readonly permit?: (tool: ConversationTool) => Promise<Permit>;
  readonly maxSteps?: number;
  readonly signal?: AbortSignal;
  readonly setup?: () => ModelSetup;
}

export const question = (words: string): ConversationMessage => ({ kind: 'user', text: words });

export const said = (called: ToolCall, words: string, isError = false): ToolResult => ({
  callId: called.id,
  tool: called.tool,
  parts: [{ kind: 'text', text: words }],
  isError,
});

export interface Played {
  readonly outcome: Promise<TurnOutcome>;
  readonly shown: string[];
  readonly clock: FakeClock;
}

/** Plays a turn and records the audience's events in words. */
export function play(model: ConversationModel, rig: Rig = {}): Played {
  const shown: string[] = [];
  const clock = new FakeClock();
  const audience: Audience = {
    text: (words) => shown.push(`text ${words}`),
    retrying: ({ attempt, delayMs }, brokeOff) =>
      shown.push(`retry ${attempt} in ${delayMs}${brokeOff ? ', broke off' : ''}`),
    calling: (calls) => shown.push(`calls ${calls.map((one) => one.tool).join(', ')}`),
    progress: (one, { progress }) => shown.push(`progress ${one.tool} ${progress}`),
    finished: (one, { isError }) => shown.push(`${isError ? 'failed' : 'finished'} ${one.tool}`),
    shortened: ({ shortened, dropped }: Fitted) =>
      shown.push(`shortened ${shortened}, dropped ${dropped}`),
  };
  const tools = rig.tools ?? [tool('shop_count'), tool('shop_echo')];
  const run =
    rig.run ??
    ((one: ToolCall): Promise<ToolResult> => Promise.resolve(said(one, `result of ${one.tool}`)));
  const runner: ToolRunner = { run: (_tool, one, signal) => run(one, signal) };
  const outcome = runTurn({
    model,
    messages: rig.messages ?? [question('Go on.')],
    setup: rig.setup ?? (() => ({ tools, instructions: 'Be kind.' })),
    runner,
    permit: rig.permit ?? (() => Promise.resolve({ kind: 'allowed' })),
    audience,
    clock,
    random: () => 0,
    maxSteps: rig.maxSteps ?? 10,
    signal: rig.signal ?? new AbortController().signal,
  });
  return { outcome, shown, clock };
}

/** Lets resolved promises continue. */
export async function turns(count = 50): Promise<void> {
  for (let index = 0; index < count; index++) await Promise.resolve();
}
