import { RememberedConversations } from '../../../src/core/remembered/conversations.js';

/** Pretends these numbers of earlier conversations with each server (P9), and stores nothing. */
export function hadConversations(
  counts: Readonly<Record<string, number>> = {},
): RememberedConversations {
  return new RememberedConversations({
    stored: storedOf(counts),
    store: () => {},
    isConversation: () => true,
  });
}

export function storedOf(counts: Readonly<Record<string, number>>): unknown {
  const losses = (count: number): [string, string][] =>
    Array.from({ length: count }, (_, at) => [`earlier-${at}`, '']);
  return Object.fromEntries(
    Object.entries(counts).map(([server, count]) => [server, Object.fromEntries(losses(count))]),
  );
}
