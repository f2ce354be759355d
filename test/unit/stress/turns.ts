/** Turns of the event loop for a simulation. */
import assert from 'node:assert/strict';

/** The host divides longer work, such as reading a list, into slices of a few milliseconds. */
const mostSlices = 20;

/** Resolves when all has happened that needs no timer. */
export async function turn(): Promise<void> {
  for (let slice = 0; slice < mostSlices; slice++)
    await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Waits for a promise by turns of the event loop and not by time, because nothing here takes time.
 */
export async function within(promise: Promise<unknown>): Promise<void> {
  let done = false;
  const ended = promise.then(
    () => (done = true),
    () => (done = true),
  );
  for (let turns = 0; turns < 10 && !done; turns++) await turn();
  assert.ok(done, 'an edit or an action does not come to its end');
  await ended;
}
