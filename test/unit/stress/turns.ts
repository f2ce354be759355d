/** Turns of the event loop for a simulation. */
import assert from 'node:assert/strict';

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Waits for a promise by turns of the event loop and not by time, because nothing here takes time.
 */
export async function within(promise: Promise<unknown>): Promise<void> {
  let done = false;
  const ended = promise.then(
    () => (done = true),
    () => (done = true),
  );
  for (let turns = 0; turns < 50 && !done; turns++) await turn();
  assert.ok(done, 'an edit or an action does not come to its end');
  await ended;
}
