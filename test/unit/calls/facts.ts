/** Facts for tests. */
import type { CallFact, ServerFact } from '../../../src/core/calls/fact.js';

export function callFact(over: Partial<CallFact> = {}): CallFact {
  return {
    id: 'a1',
    at: 1_000,
    agent: 'Claude Code',
    conversation: 'c',
    toolset: 'files',
    tool: 'files_read',
    original: 'read',
    instance: 'files#1',
    took: 5,
    sentSize: 10,
    resultSize: 20,
    tokens: 5,
    outcome: 'ok',
    ...over,
  };
}

/** A line of calls with the names of the first. Each id is a letter and a number. */
export function lineOf(...facts: readonly [CallFact, ...CallFact[]]): string {
  const [first] = facts;
  const calls = facts.flatMap(({ id, at, took, sentSize, resultSize }) => [
    Number(id.slice(1)),
    at - first.at,
    took,
    sentSize,
    resultSize,
  ]);
  return JSON.stringify({ ...first, id: first.id.slice(0, 1), calls });
}

export function serverFact(over: Partial<ServerFact> = {}): ServerFact {
  return { id: 'a2', at: 2_000, toolset: 'files', event: 'died', instance: 'files#1', ...over };
}
