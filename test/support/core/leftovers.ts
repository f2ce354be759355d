/**
 * What a test has started and not yet ended. It registers at its start, so that a hook that fails
 * before it can end anything leaves nothing behind: the last hook of mocha ends the rest, and fails
 * with its names.
 */

interface Started {
  readonly what: string;
  readonly end: () => Promise<unknown> | void;
}

const started = new Set<Started>();

/** @returns a function for its own end, which takes it from the list */
export function startedByTest(what: string, end: Started['end']): () => void {
  const mine = { what, end };
  started.add(mine);
  return () => void started.delete(mine);
}

/** Ends everything that is left. Resolves with the names. */
export async function endLeftovers(): Promise<string[]> {
  const names: string[] = [];
  for (const { what, end } of [...started].reverse()) {
    names.push(what);
    try {
      await end();
    } catch (error) {
      names.push(`  ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  started.clear();
  return names;
}

/** Outside mocha, the program ends what it has started. */
if (typeof globalThis.after === 'function') {
  after('nothing is left of the tests', async () => {
    const names = await endLeftovers();
    if (names.length > 0)
      throw new Error(`Left by a test or hook, and ended now:\n${names.join('\n')}`);
  });
}
