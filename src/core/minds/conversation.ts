/**
 * Runs one turn of a conversation: it asks the model, runs the calls of its answer in parallel, and
 * asks again until the model answers without calls (D1). It never throws for errors of a model or a
 * tool. Invariants: tools and instructions are current for each request. Every call of an answer
 * has a result, even a refused or cancelled one, so the conversation can continue after any stop.
 * No call runs twice.
 */
import { delay, type Clock } from '../base/clock.js';
import { unlessAborted } from '../base/events.js';
import { messageOf } from '../base/text.js';
import { fitToModel, type Fitted } from './budget.js';
import type {
  ConversationMessage,
  ConversationModel,
  ConversationTool,
  ModelPart,
  ModelRequest,
  ToolCall,
  ToolCallProgress,
  ToolResult,
  ToolRunner,
} from './model.js';
import { afterFailure, failureOf, toolIn, type Retry, type StopReason } from './modelFailures.js';

export interface Audience {
  text(text: string): void;
  /**
   * The request failed and will be sent again. `brokeOff` means that a part of its answer was
   * shown.
   */
  retrying(retry: Retry, brokeOff: boolean): void;
  calling(calls: readonly ToolCall[]): void;
  progress(call: ToolCall, progress: ToolCallProgress): void;
  finished(call: ToolCall, result: ToolResult): void;
  shortened(fitted: Fitted): void;
}

export type ModelSetup = {
  readonly tools: readonly ConversationTool[];
  readonly instructions: string;
};

export type Permit =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'refused'; readonly why: string };

interface Turn {
  readonly model: ConversationModel;
  readonly messages: readonly ConversationMessage[];
  readonly setup: () => ModelSetup;
  readonly runner: ToolRunner;
  /** Asks a person if needed. It rejects only when `signal` ends. */
  readonly permit: (tool: ConversationTool, call: ToolCall, signal: AbortSignal) => Promise<Permit>;
  readonly audience: Audience;
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly maxSteps: number;
  readonly signal: AbortSignal;
}

export type TurnEnd =
  | { readonly kind: 'answered' }
  | { readonly kind: 'stepLimit'; readonly steps: number }
  /** `tool` is the refused tool, if the provider names it. */
  | {
      readonly kind: 'stopped';
      readonly why: StopReason;
      readonly tool?: string;
    }
  | { readonly kind: 'cancelled' };

export type TurnOutcome = {
  readonly end: TurnEnd;
  readonly messages: readonly ConversationMessage[];
};

export async function runTurn(turn: Turn): Promise<TurnOutcome> {
  const added: ConversationMessage[] = [];
  const outcome = (end: TurnEnd): TurnOutcome => ({ end, messages: added });
  let reported = 0;
  for (let step = 1; step <= turn.maxSteps; step++) {
    if (turn.signal.aborted) return outcome({ kind: 'cancelled' });
    const { tools, instructions } = turn.setup();
    const whole: ModelRequest = {
      instructions,
      tools,
      messages: [...turn.messages, ...added],
    };
    // A model without a counter gets everything, and reports an overrun.
    const uncounted: Fitted = {
      messages: whole.messages,
      shortened: 0,
      dropped: 0,
    };
    const fitted = await fitToModel(whole, turn.model, turn.signal).catch(() => uncounted);
    const touched = fitted.shortened + fitted.dropped;
    if (touched > reported) turn.audience.shortened(fitted);
    reported = Math.max(reported, touched);

    const answer = await ask({ ...whole, messages: fitted.messages }, turn);
    if (answer.text !== '' || answer.calls.length > 0) {
      added.push({
        kind: 'answer',
        text: answer.text,
        calls: answer.calls,
      });
    }
    if (answer.end) return outcome(answer.end);
    if (answer.calls.length === 0) return outcome({ kind: 'answered' });

    turn.audience.calling(answer.calls);
    const results = await Promise.all(answer.calls.map((call) => runCall(call, tools, turn)));
    added.push({ kind: 'results', results });
  }
  return outcome(
    turn.signal.aborted ? { kind: 'cancelled' } : { kind: 'stepLimit', steps: turn.maxSteps },
  );
}

type Answer = {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly end?: TurnEnd;
};

async function ask(request: ModelRequest, turn: Turn): Promise<Answer> {
  const { model, audience, clock, random, signal } = turn;
  for (let retries = 0; ; retries++) {
    let text = '';
    const calls: ToolCall[] = [];
    try {
      // A stream that ignores the signal is left.
      const stream = model.send(request, signal)[Symbol.asyncIterator]();
      const nextPart = (): Promise<IteratorResult<ModelPart>> =>
        unlessAborted(stream.next(), signal);
      for (let next = await nextPart(); next.done !== true; next = await nextPart()) {
        const part = next.value;
        if (part.kind === 'call') calls.push(part.call);
        else if (part.text !== '') {
          text += part.text;
          audience.text(part.text);
        }
      }
      if (!signal.aborted) return { text, calls };
    } catch (error) {
      if (!signal.aborted) {
        const next = afterFailure(failureOf(error), retries, random());
        if (next.kind !== 'retry')
          return {
            text: '',
            calls: [],
            end: stopped(next, request.tools),
          };
        audience.retrying(next, text !== '');
        text = '';
        await delay(clock, next.delayMs, signal);
      }
    }
    // Shown text stays. Calls that have not run will not run.
    if (signal.aborted)
      return {
        text,
        calls: [],
        end: { kind: 'cancelled' },
      };
  }
}

function stopped(why: StopReason, tools: readonly ConversationTool[]): TurnEnd {
  const mayName = why.kind !== 'exhausted' && why.kind !== 'unavailable';
  const tool = mayName
    ? toolIn(
        why.text,
        tools.map(({ name }) => name),
      )
    : undefined;
  return {
    kind: 'stopped',
    why,
    ...(tool !== undefined && { tool }),
  };
}

async function runCall(
  call: ToolCall,
  tools: readonly ConversationTool[],
  turn: Turn,
): Promise<ToolResult> {
  const { audience, runner, signal } = turn;
  const tool = tools.find(({ name }) => name === call.tool);
  const result = await (async (): Promise<ToolResult> => {
    if (!tool)
      return failedResult(
        call,
        `there is no tool "${call.tool}" here. Use one of the offered tools.`,
      );
    try {
      const permit = await turn.permit(tool, call, signal);
      if (permit.kind === 'refused') return failedResult(call, permit.why);
      if (signal.aborted) return failedResult(call, 'the person cancelled before it was called.');
      return await runner.run(tool, call, signal, (progress) => audience.progress(call, progress));
    } catch (error) {
      if (signal.aborted) return failedResult(call, 'the person cancelled before it was called.');
      return failedResult(call, `the call failed inside MCP Toolsets: ${messageOf(error)}`);
    }
  })();
  audience.finished(call, result);
  return result;
}

function failedResult(call: ToolCall, why: string): ToolResult {
  const text = `Error: ${why}`;
  return {
    callId: call.id,
    tool: call.tool,
    parts: [{ kind: 'text', text }],
    isError: true,
  };
}
