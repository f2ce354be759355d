/**
 * Keeps conversations over turns (D1). Others can write to the editor's store: reading keeps the
 * valid part, never throws.
 */
import { hasFields, isObject } from '../base/isObject.js';
import { resultsOf, shortenedMessage } from './budget.js';
import type { TurnEnd } from './conversation.js';
import type {
  ContentPart,
  ConversationMessage,
  ResultFile,
  ToolCall,
  ToolResult,
} from './model.js';

export interface TurnRecord {
  readonly version: 1;
  /** The conversation's name, for its leases. */
  readonly conversation: string;
  readonly member?: string | undefined;
  /** The question is first, if there was one. */
  readonly messages: readonly ConversationMessage[];
  readonly end: TurnEnd['kind'];
}

/**
 * One text in a record has at most this many characters; a later turn rarely needs more of an
 * earlier result.
 */
const longestText = 12_000;
const longestRecord = 200_000;

export function recordOf(record: Omit<TurnRecord, 'version'>): TurnRecord {
  const messages = record.messages.map((message) => bounded(message, longestText));
  for (const [index, message] of messages.entries()) {
    if (JSON.stringify(messages).length <= longestRecord) break;
    messages[index] = bounded(message, 600);
  }
  return {
    version: 1,
    ...record,
    messages,
  };
}

function bounded(message: ConversationMessage, limit: number): ConversationMessage {
  const ofImage = (type: string): string => `[The image (${type}) was shown at that time.]`;
  return shortenedMessage(message, (limit * 2) / 3, limit / 3, ofImage);
}

export interface PastTurn {
  readonly question: string;
  /** The answer's metadata under the key of this extension. */
  readonly record: unknown;
  readonly shown: string;
}

export type Past = ReturnType<typeof pastOf>;

export function pastOf(turns: readonly PastTurn[]) {
  const past = turns.map((turn) => ({ turn, record: readRecord(turn.record) }));
  const messages = past.flatMap(({ turn, record }) => record?.messages ?? shownIn(turn));
  const { conversation, member } = past.findLast(({ record }) => record)?.record ?? {};
  return {
    conversation,
    member,
    messages: withoutOrphans(messages),
    end: past.at(-1)?.record?.end,
  };
}

function shownIn({ question, shown }: PastTurn): ConversationMessage[] {
  const user: ConversationMessage[] = question === '' ? [] : [{ kind: 'user', text: question }];
  return shown === ''
    ? user
    : [
        ...user,
        {
          kind: 'answer',
          text: shown,
          calls: [],
        },
      ];
}

export function filesIn(messages: readonly ConversationMessage[]): ResultFile[] {
  return messages.flatMap(resultsOf).flatMap(({ files }) => files ?? []);
}

const ends: readonly TurnEnd['kind'][] = ['answered', 'stepLimit', 'stopped', 'cancelled'];

export function readRecord(value: unknown): TurnRecord | undefined {
  if (!isObject(value) || value['version'] !== 1) return undefined;
  const { conversation, member, messages, end } = value;
  if (typeof conversation !== 'string' || conversation === '' || !Array.isArray(messages))
    return undefined;
  return {
    version: 1,
    conversation,
    member: typeof member === 'string' ? member : undefined,
    messages: messages.flatMap((message) => readMessage(message) ?? []),
    end: ends.find((kind) => kind === end) ?? 'answered',
  };
}

function readMessage(value: unknown): ConversationMessage | undefined {
  if (!isObject(value)) return undefined;
  const { kind, text, calls, results } = value;
  if (kind === 'user' && typeof text === 'string') return { kind, text };
  if (kind === 'answer' && typeof text === 'string' && Array.isArray(calls)) {
    return {
      kind,
      text,
      calls: calls.filter(isCall),
    };
  }
  if (kind === 'results' && Array.isArray(results))
    return { kind, results: results.filter(isResult) };
  return undefined;
}

function isCall(value: unknown): value is ToolCall {
  return hasFields(value, { id: 'string', tool: 'string' }) && isObject(value['input']);
}

function isResult(value: unknown): value is ToolResult {
  if (
    !hasFields(value, {
      callId: 'string',
      tool: 'string',
      isError: 'boolean',
    })
  )
    return false;
  const { parts, files = [] } = value;
  const hasFiles =
    Array.isArray(files) &&
    files.every((file) => hasFields(file, { path: 'string', isImage: 'boolean' }));
  return hasFiles && Array.isArray(parts) && parts.every(isPart);
}

function isPart(value: unknown): value is ContentPart {
  if (!isObject(value)) return false;
  if (value['kind'] === 'text') return hasFields(value, { text: 'string' });
  return value['kind'] === 'image' && hasFields(value, { mimeType: 'string', base64: 'string' });
}

/** Drops calls without a result and results without a call, because providers refuse them. */
function withoutOrphans(messages: readonly ConversationMessage[]): ConversationMessage[] {
  return messages.flatMap((message, index): ConversationMessage[] => {
    if (message.kind === 'results') return [];
    if (message.kind === 'user' || message.calls.length === 0) return [message];
    const next = messages[index + 1];
    const all = next ? resultsOf(next) : [];
    const results = message.calls.flatMap(
      ({ id }) => all.find(({ callId }) => callId === id) ?? [],
    );
    const calls = message.calls.filter(({ id }) => results.some(({ callId }) => callId === id));
    const answer = { ...message, calls };
    if (calls.length === 0) return message.text === '' ? [] : [answer];
    return [answer, { kind: 'results', results }];
  });
}
