/**
 * The facts about a folder: requests and their outcomes, and the starts, ends and edits of servers.
 * A fact has no arguments and no results (see `contents`).
 */
import { asFields } from '../base/isObject.js';
import { asText } from '../base/text.js';
import { storedJson } from '../protocol/json.js';

const callOutcomes = [
  'ok',
  'error',
  'refused',
  'cancelled',
  'timed out',
  'lost',
  'not sent',
] as const;

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
  return isCall(fact)
    ? fact.outcome !== 'ok'
    : fact.event === 'died' || fact.event === 'start failed';
}

export const numbersOfCall = 5;

/**
 * Returns the facts of a line: one event, or calls with the same names. Each call is five numbers:
 * its own, the milliseconds after `at`, its duration and its sizes. Another line, for example of a
 * later version, has none.
 */
export function parseFacts(line: string): Fact[] {
  const value = asFields(storedJson(line));
  const text = (key: string) => asText(value[key]);
  const optional = <Key extends string>(key: Key): { [key in Key]?: string } =>
    (typeof value[key] === 'string' ? { [key]: value[key] } : {}) as { [key in Key]?: string };
  const { id, calls } = value;
  const at = Number(value['at'] ?? NaN);
  if (typeof id !== 'string' || !Number.isFinite(at)) return [];
  const common = {
    toolset: text('toolset'),
    ...optional('instance'),
    ...optional('reason'),
  };
  const event = serverEvents.find((one) => one === value['event']);
  if (event !== undefined)
    return [
      {
        id,
        at,
        ...common,
        event,
        ...optional('conversation'),
      },
    ];
  const outcome = callOutcomes.find((one) => one === value['outcome']);
  if (outcome === undefined || !Array.isArray(calls) || !calls.every(Number.isFinite)) return [];
  const names = {
    agent: text('agent'),
    conversation: text('conversation'),
    tool: text('tool'),
    original: text('original'),
    ...optional('method'),
  };
  return Array.from({ length: calls.length / numbersOfCall }, (_, index) => {
    const from = numbersOfCall * index;
    const [number, after = 0, took = 0, sentSize = 0, resultSize = 0] = calls.slice(
      from,
      from + numbersOfCall,
    ) as number[];
    // Four characters are about a token.
    const own = {
      took,
      sentSize,
      resultSize,
      tokens: Math.ceil(resultSize / 4),
      outcome,
    };
    return {
      id: `${id}${number}`,
      at: at + after,
      ...common,
      ...names,
      ...own,
    };
  });
}

/** Returns the last facts of lines, oldest first. */
export function lastFacts(lines: readonly string[], most: number): Fact[] {
  const newestFirst: Fact[] = [];
  for (let index = lines.length - 1; index >= 0 && newestFirst.length < most; index--)
    for (const fact of parseFacts(lines[index] ?? '').reverse()) newestFirst.push(fact);
  return newestFirst.slice(0, most).reverse();
}
