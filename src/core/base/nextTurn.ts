/**
 * Runs something in the next turn of the event loop. A single `setImmediate` that is set while a stream is read still runs at the
 * end of the same turn.
 */
export function inNextTurn(run: () => void): void {
  setImmediate(() => setImmediate(run));
}
