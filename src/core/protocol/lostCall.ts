/** A call that may have taken effect (X4): its server, or the gateway on the way, ended first. */

/** @param cause a phrase or a sentence @param next sentences for the model, after a blank */
export function lostCallText(tool: string, cause: string, next: string): string {
  return `Error: result unknown. The call of "${tool}" was not answered: ${clause(cause)}. It may or may not have taken effect, and it was not sent again.${next}`;
}

/** A cause for `lostCallText`. */
export const gatewayEnded = 'the program that serves the toolsets ended';

export const lostCallReason = 'The connection ended before the answer.';

/** Some causes are sentences. */
export function clause(cause: string): string {
  return cause.replace(/\.$/, '');
}
