/**
 * The cleanup at the end of a run, after success, an error, Ctrl-C or SIGTERM.
 *
 * Undos run in reverse order, once each. A failing undo does not stop the others.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Undo = () => Promise<void> | void;

const pending = new Set<Undo>();
let interrupted = false;

/** Registers an undo. The returned function runs it now (once) and forgets it. */
export function onEnd(undo: Undo): () => Promise<void> {
  let done: Promise<void> | undefined;
  const once = (): Promise<void> => {
    pending.delete(once);
    return (done ??= Promise.resolve().then(undo));
  };
  pending.add(once);
  return once;
}

/** Runs every registered undo. */
export async function undoAll(): Promise<void> {
  for (const undo of [...pending].reverse()) {
    await Promise.resolve(undo()).catch((error: unknown) =>
      console.error('While cleaning up:', error),
    );
  }
}

/**
 * Ends the process through `undoAll` on the signals of a terminal or a CI. A second signal ends it
 * at once.
 */
export function undoOnSignals(): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    process.on(signal, () => {
      if (interrupted) process.exit(code);
      interrupted = true;
      void undoAll().finally(() => process.exit(code));
    });
  }
}

/** The id of this run. All its children inherit it through the environment. */
export const runId = (process.env['MCP_TOOLSETS_TEST_RUN'] ??= Math.random()
  .toString(16)
  .slice(2, 10)
  .padEnd(8, '0'));

/**
 * The beginning of the name of every temporary folder of this run. It is short because sockets of
 * the editor are below it.
 */
export const tempPrefix = `mcpt-${runId}-`;

/** A temporary folder that is removed at the end. */
export function tempFolder(): { path: string; remove: () => Promise<void> } {
  // Editors compare paths as text, so this must be the real path.
  const path = realpathSync(mkdtempSync(join(tmpdir(), tempPrefix)));
  const force = (): void => rmSync(path, { recursive: true, force: true });
  process.on('exit', force);
  const remove = onEnd(async () => {
    // Editors write logs until their very end, so a folder may fill during its removal.
    await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    process.off('exit', force);
  });
  return { path, remove };
}
