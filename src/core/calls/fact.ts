/**
 * The facts of calls: who called which tool, when, and what came of it. What went in and out is no part of a fact. Everything is
 * pure.
 */
import { isObject } from '../base/isObject.js';
import { asText } from '../base/text.js';

const callOutcomes = ['ok', 'error', 'refused', 'cancelled', 'timed out', 'lost', 'not sent'] as const;

export type CallOutcome = (typeof callOutcomes)[number];

export interface CallFact {
  /** The beginning, in milliseconds since the epoch. */
  readonly at: number;
  /** The name of the calling program; empty if it gave none. */
  readonly agent: string;
  readonly conversation: string;
  readonly toolset: string;
  /** The published name, and the server's own. */
  readonly tool: string;
  readonly original: string;
  /** In milliseconds. */
  readonly took: number;
  /** The approximate sizes of the arguments and the result, in characters. */
  readonly sentSize: number;
  readonly resultSize: number;
  readonly outcome: CallOutcome;
  /** Our own words about a call without an answer of its server. */
  readonly reason?: string;
}

/** Returns undefined for a line that is no fact, for example of a later version. */
export function parseFact(line: string): CallFact | undefined {
  let read: unknown;
  try {
    read = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isObject(read)) return undefined;
  const { at, took, sentSize, resultSize, reason } = read;
  const outcome = callOutcomes.find((one) => one === read['outcome']);
  if (outcome === undefined || ![at, took, sentSize, resultSize].every(Number.isFinite)) return undefined;
  const text = (key: string): string => asText(read[key]);
  return {
    at: Number(at),
    agent: text('agent'),
    conversation: text('conversation'),
    toolset: text('toolset'),
    tool: text('tool'),
    original: text('original'),
    took: Number(took),
    sentSize: Number(sentSize),
    resultSize: Number(resultSize),
    outcome,
    ...(typeof reason === 'string' && { reason }),
  };
}

export interface CallFilter {
  readonly server?: string | undefined;
  /** A part of the agent's name, in any case. */
  readonly agent?: string | undefined;
  /** True for calls with another outcome than `ok`. */
  readonly failed?: boolean;
  /** In milliseconds since the epoch. */
  readonly since?: number | undefined;
}

export function fits({ server, agent, failed, since }: CallFilter, fact: CallFact): boolean {
  return (
    (server === undefined || fact.toolset === server) &&
    (agent === undefined || fact.agent.toLowerCase().includes(agent.toLowerCase())) &&
    (failed !== true || fact.outcome !== 'ok') &&
    (since === undefined || fact.at >= since)
  );
}

/** A larger value is not measured to its end. */
const mostParts = 10_000;

/** Returns the number of characters in the texts of a value, and eight for each other part. */
export function approximateSize(value: unknown): number {
  let [size, parts] = [0, 0];
  const rest: unknown[] = [value];
  while (rest.length > 0 && parts++ < mostParts) {
    const one = rest.pop();
    if (typeof one === 'string') size += one.length;
    else if (Array.isArray(one)) for (const item of one) rest.push(item);
    else if (isObject(one)) {
      for (const [key, item] of Object.entries(one)) {
        size += key.length;
        rest.push(item);
      }
    } else if (one !== undefined) size += 8;
  }
  return size;
}
