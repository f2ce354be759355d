/**
 * Filters of facts, from options or from words such as `tool:read agent:codex slow:2s failed`.
 * Pure.
 */
import { english } from '../base/language.js';
import { hasFailed, isCall, type Fact } from './fact.js';

/** Each text is a part of a name, in any case. */
export interface FactFilter {
  /** The whole id of a server. */
  readonly server?: string | undefined;
  readonly agent?: string | undefined;
  readonly tool?: string | undefined;
  readonly outcome?: string | undefined;
  readonly failed?: boolean;
  /** Only calls that took at least this time, in milliseconds. */
  readonly slow?: number | undefined;
  /** In milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Each is a part of any text of the fact. */
  readonly words?: readonly string[];
}

export function fits(filter: FactFilter, fact: Fact): boolean {
  const { server, failed, since, words = [] } = filter;
  if (server !== undefined && fact.toolset !== server) return false;
  if (since !== undefined && fact.at < since) return false;
  if (failed === true && !hasFailed(fact)) return false;
  if (!fitsCall(filter, fact)) return false;
  return words.every((word) => textsOf(fact).some((text) => has(text, word)));
}

function fitsCall({ agent, tool, outcome, slow }: FactFilter, fact: Fact): boolean {
  if ([agent, tool, outcome, slow].every((one) => one === undefined)) return true;
  if (!isCall(fact)) return false;
  if (outcome !== undefined && !has(fact.outcome, outcome)) return false;
  if (agent !== undefined && !has(fact.agent, agent)) return false;
  if (slow !== undefined && fact.took < slow) return false;
  return tool === undefined || has(fact.tool, tool) || has(fact.original, tool);
}

function textsOf(fact: Fact): string[] {
  const { toolset, conversation = '', reason = '' } = fact;
  const own = isCall(fact)
    ? [fact.tool, fact.original, fact.agent, fact.method ?? '', fact.outcome]
    : [fact.event];
  return [toolset, conversation, reason, ...own];
}

function has(text: string, part: string): boolean {
  return joined(text).includes(joined(part));
}

/** A word of a filter has no blanks, so `-` stands for them, as in `agent:claude-code`. */
export function joined(text: string): string {
  return text.toLowerCase().replace(/\s/g, '-');
}

export function parseFilter(text: string): FactFilter | string {
  const filter: { -readonly [key in keyof FactFilter]: FactFilter[key] } = {};
  const words: string[] = [];
  for (const word of text.split(/\s+/).filter((one) => one !== '')) {
    const [, key, value = ''] = /^(tool|agent|server|outcome|slow):(.*)$/i.exec(word) ?? [];
    const name = key?.toLowerCase();
    if (word.toLowerCase() === 'failed') filter.failed = true;
    else if (name === undefined) words.push(word);
    else if (value === '') return english`Write a value behind "${word}".`;
    else if (name === 'slow') {
      filter.slow = millisecondsOf(value);
      if (filter.slow === undefined)
        return english`"${value}" is not a time. Use a number with ms, s, m, h or d, such as 2s.`;
    } else filter[name as 'tool' | 'agent' | 'server' | 'outcome'] = value;
  }
  return words.length > 0 ? { ...filter, words } : filter;
}

const units: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** @param time such as `10m` */
export function millisecondsOf(time: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,9})(ms|[smhd])$/.exec(time) ?? [];
  const ms = units[unit];
  return count === undefined || ms === undefined ? undefined : Number(count) * ms;
}
