/** The limits of what a server says (S2): it is charged the time that this takes (`LoopShare`), and its size is bounded. */

/** The limits of one message in bytes, or in characters: of an answer that we wait for, and of anything else. */
export const largestAnswer = 16 * 1024 * 1024;
export const largestUnasked = 8 * 1024 * 1024;
/** A message of more characters or bytes is read in slices, and heard in a turn of its own (P10). */
export const longMessage = 256 * 1024;
/** The least that is charged for a message that answers nothing we asked, in milliseconds of the loop: what follows is not all measured. */
export const unaskedMs = 0.125;
/** The same for a request of the server over HTTP, because its answer is an exchange of its own. */
export const exchangeMs = 20 * unaskedMs;
