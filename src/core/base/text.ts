/** Returns at most `most` UTF-16 code units of a text. A longer one ends in an ellipsis, never in half a character. */
export function clipped(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : text;
}

/**
 * Returns a value from outside that was to be a text, as it is if it is one. `String` would throw where an object has no
 * text of its own.
 */
export function asText(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

/** Returns a pattern that matches the text and nothing else. */
export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
