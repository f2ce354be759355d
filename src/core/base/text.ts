/** Returns at most `most` UTF-16 code units of a text. A longer one ends in an ellipsis, never in half a character. */
export function clipped(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : text;
}

/**
 * Returns as a text what was to be one, or was thrown. `String` would throw where an object from outside has no text of its
 * own.
 */
export function asText(value: unknown): string {
  if (value instanceof Error) return String(value);
  if (Array.isArray(value)) return 'a list';
  // oxlint-disable-next-line typescript/no-base-to-string -- No object is left.
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** Returns what was thrown as a sentence of its own, without the name of its class. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : asText(error);
}

/** Returns a pattern that matches the text and nothing else. */
export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

export function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
