/** The limits of a server's messages (S2). */

/** The limits of one message in bytes or characters: of an expected answer, and of anything else. */
export const largestAnswer = 16 * 1024 * 1024;
export const largestUnasked = 8 * 1024 * 1024;
/** Longer messages, in characters or bytes, are read in slices and delivered in a separate turn (P10). */
export const longMessage = 256 * 1024;
/** The least charge for a message without an open request, in ms, because its further work is not all measured. */
export const unaskedMs = 0.125;
/** The same for a request of the server over HTTP, because the answer to it is another exchange. */
export const exchangeMs = 20 * unaskedMs;
