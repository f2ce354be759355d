/** How much a server may say that answers nothing we asked (S2). */

/** This many messages, and lines that are none, are read in a second at full speed. */
export const unaskedRate = 2_000;
/** Reading pauses for at least this long, in milliseconds: shorter pauses cost more than they keep back. */
export const leastPause = 20;
/** As many characters count as a message: to read much takes its time as to read many does. */
const charactersOfMessage = 8 * 1024;

/**
 * Returns what a line, a body or an event counts for at that rate.
 * @param length that of its text, in characters
 * @param unasked how many of its messages answer nothing that we asked; 1 where it is not JSON-RPC
 */
export function unaskedWeight(length: number, unasked: number): number {
  return unasked === 0 ? 0 : Math.max(unasked, Math.ceil(length / charactersOfMessage));
}
