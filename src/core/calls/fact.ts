/**
 * The facts about a folder: requests and their outcomes, and the starts, ends and edits of servers. A fact has no
 * arguments and no results (see `contents`).
 */
import { isObject } from '../base/isObject.js';
import { asText } from '../base/text.js';
import { storedJson } from '../protocol/json.js';

const callOutcomes = ['ok', 'error', 'refused', 'cancelled', 'timed out', 'lost', 'not sent'] as const;

const serverEvents = ['started', 'start failed', 'died', 'released', 'ended', 'edited'] as const;

interface CommonFact {
  /** Unique among all programs of the folder. */
  readonly id: string;
  /** The beginning, in milliseconds since the epoch. */
  readonly at: number;
  readonly toolset: string;
  readonly instance?: string | undefined;
  /** Our own words, redacted. */
  readonly reason?: string | undefined;
}

export interface CallFact extends CommonFact {
  /** The name of the calling program; empty if it gave none. */
  readonly agent: string;
  readonly conversation: string;
  /** The published name, and the server's own. For another request, the prompt or the resource. */
  readonly tool: string;
  readonly original: string;
  readonly method?: string | undefined;
  /** In milliseconds. */
  readonly took: number;
  /** The approximate sizes of the arguments and the result, in characters. */
  readonly sentSize: number;
  readonly resultSize: number;
  readonly tokens: number;
  readonly outcome: (typeof callOutcomes)[number];
}

export interface ServerFact extends CommonFact {
  readonly event: (typeof serverEvents)[number];
  readonly conversation?: string;
}

export type Fact = CallFact | ServerFact;

export function isCall(fact: Fact): fact is CallFact {
  return 'outcome' in fact;
}

export function hasFailed(fact: Fact): boolean {
  return isCall(fact) ? fact.outcome !== 'ok' : fact.event === 'died' || fact.event === 'start failed';
}

/** Four characters are about a token. */
function tokensOf(size: number): number {
  return Math.ceil(size / 4);
}

/** Returns undefined for another line, for example of a later version. */
export function parseFact(line: string): Fact | undefined {
  const value = storedJson(line);
  if (!isObject(value)) return undefined;
  const text = (key: string): string => asText(value[key]);
  const optional = <Key extends string>(key: Key): { [key in Key]?: string } =>
    (typeof value[key] === 'string' ? { [key]: value[key] } : {}) as { [key in Key]?: string };
  const { id, at, took, sentSize, resultSize } = value;
  if (!Number.isFinite(at) || typeof id !== 'string') return undefined;
  const common = { id, at: Number(at), toolset: text('toolset'), ...optional('instance'), ...optional('reason') };
  const event = serverEvents.find((one) => one === value['event']);
  if (event !== undefined) return { ...common, event, ...optional('conversation') };
  const outcome = callOutcomes.find((one) => one === value['outcome']);
  if (outcome === undefined || ![took, sentSize, resultSize].every(Number.isFinite)) return undefined;
  const [agent, conversation] = [text('agent'), text('conversation')];
  const names = { agent, conversation, tool: text('tool'), original: text('original'), ...optional('method') };
  const [size, tokens] = [Number(resultSize), tokensOf(Number(resultSize))];
  const sizes = { sentSize: Number(sentSize), resultSize: size, tokens };
  return { ...common, ...names, ...sizes, took: Number(took), outcome };
}
