/** Offers the words of a filter while a person writes it. Pure. Loaded on demand. */
import { isCall, type Fact } from './fact.js';
import { joined } from './filter.js';

/**
 * Returns the words that complete the one at the end of a text, from the agents, servers and
 * outcomes of facts. If it is complete, these are further words.
 */
export function filterWords(text: string, facts: readonly Fact[]): readonly string[] {
  const calls = facts.filter(isCall);
  const all = new Set([
    'failed',
    ...calls.map(({ agent }) => `agent:${joined(agent)}`),
    ...facts.map(({ toolset }) => `server:${toolset}`),
    ...calls.map(({ outcome }) => `outcome:${joined(outcome)}`),
  ]);
  for (const known of text.toLowerCase().split(/\s+/)) all.delete(known);
  const begun = unfinished(text).toLowerCase();
  const completing = [...all].filter((word) => word.includes(begun));
  return completing.length > 0 ? completing : [...all];
}

/** Returns a text with a word in place of the one that it completes, or at the end. */
export function withFilterWord(text: string, word: string): string {
  const begun = unfinished(text);
  const kept = word.includes(begun.toLowerCase())
    ? text.slice(0, text.length - begun.length)
    : `${text} `;
  return `${kept}${word} `;
}

function unfinished(text: string): string {
  return text.split(/\s/).at(-1) ?? '';
}
