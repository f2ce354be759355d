/**
 * Runs something in the next turn of the event loop. A single `setImmediate` from a stream's callback still runs at the
 * end of the same turn.
 */
export function inNextTurn(run: () => void): void {
  setImmediate(() => setImmediate(run));
}
