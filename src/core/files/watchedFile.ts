/**
 * Follows the text of one path (R1). It checks the file in intervals, because watchers miss events,
 * do not follow links and cannot watch missing folders, and at once after a `nudge`. Listeners
 * receive only changed content.
 */
import { stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.js';
import { toDisposable, type Disposable } from '../base/disposables.js';
import { Emitter } from '../base/events.js';
import { systemReason } from '../base/systemError.js';
import { asText } from '../base/text.js';
import {
  FileRefused,
  largestConfigFile,
  readTextFile,
  type FileContent,
} from '../base/textFile.js';
import { SingleFlight } from '../base/singleFlight.js';

export type WatchedFile = ReturnType<typeof watchFile>;

export interface WatchedFileDeps {
  readonly clock: Clock;
  /** The time between two looks in milliseconds. The default is 2 s. */
  readonly pollMs?: number | undefined;
  /**
   * The time without a further sign of change before the file is read, in milliseconds. The default
   * is 200.
   */
  readonly debounceMs?: number;
  readonly disk?: Disk;
  /**
   * Resolves to the server with a half-typed launch. @param before the last text without one
   */
  readonly typedIn?: (before: string, now: string) => Promise<string | undefined>;
}

/**
 * The questions to the file system; both reject as `node:fs/promises` does, and reading with
 * `FileRefused`.
 */
export interface Disk {
  read(path: string): Promise<string>;
  stamp(path: string): Promise<string>;
}

export const realDisk: Disk = {
  read: (path) => readTextFile(path, largestConfigFile),
  stamp: async (path) => {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(':');
  },
};

const patience = 5;

/** A half-typed launch counts if its text stays the same for this time, in milliseconds. */
const typingPause = 10_000;

export function watchFile(path: string, deps: WatchedFileDeps) {
  const { clock, pollMs = 2000, debounceMs = 200, disk = realDisk } = deps;
  const changes = new Emitter<FileContent>();
  let content: FileContent | undefined;
  let stamp: string | undefined;
  let ended = false;
  let poll: Disposable | undefined;
  let due: { readonly timer: Disposable; readonly since: number } | undefined;
  let restless = 0;
  let counted: string | undefined;
  let halfTyped: { readonly text: string; readonly since: number } | undefined;
  let isAskedNow = false;

  const nudge = (): void => {
    if (ended) return;
    const now = clock.now();
    const since = due?.since ?? now;
    if (due && now - since >= patience * debounceMs) return;
    due?.timer.dispose();
    const timer = clock.after(debounceMs, () => {
      due = undefined;
      void reading.request();
    });
    due = { since, timer };
  };
  const reading = new SingleFlight(async () => {
    const before = await stampOf(disk, path);
    const next = await readContent(disk, path);
    const after = await stampOf(disk, path);
    if (ended) return;
    if (before !== after && ++restless < patience) return nudge();
    restless = 0;
    const typed = next.kind === 'text' ? await typedIn(next.text) : undefined;
    if (ended) return;
    const read =
      typed === undefined
        ? next
        : {
            ...next,
            typed,
          };
    // During the typing, the stamp stays the last text's, so the next look asks again.
    if (typed === undefined) {
      stamp = before;
      counted = next.kind === 'text' ? next.text : undefined;
    }
    if (content && isDeepStrictEqual(content, read)) return;
    content = read;
    changes.fire(read);
  });
  const typedIn = async (text: string): Promise<string | undefined> => {
    const last = halfTyped;
    halfTyped = undefined;
    if (isAskedNow || counted === undefined || counted === text) return undefined;
    const server = await deps.typedIn?.(counted, text);
    if (server === undefined) return undefined;
    halfTyped =
      last?.text === text
        ? last
        : {
            text,
            since: clock.now(),
          };
    return clock.now() - halfTyped.since < typingPause ? server : undefined;
  };
  const look = async (): Promise<void> => {
    const seen = await stampOf(disk, path);
    if (ended) return;
    if (seen !== stamp) nudge();
    poll = clock.after(pollMs, () => void look());
  };

  void reading.request();
  poll = clock.after(pollMs, () => void look());
  return {
    ...toDisposable(() => {
      ended = true;
      poll?.dispose();
      due?.timer.dispose();
      changes.dispose();
    }),
    path,
    get content() {
      return content;
    },
    onDidChange: changes.event,
    nudge,
    /** Reads it before it comes to rest. Resolves after listeners received its present content. */
    readNow: async (): Promise<void> => {
      isAskedNow = true;
      await reading.request();
      isAskedNow = false;
    },
  };
}

async function stampOf(disk: Disk, path: string): Promise<string> {
  return await disk.stamp(path).catch((error: unknown) => `no stamp: ${codeOf(error)}`);
}

export async function readContent(disk: Disk, path: string): Promise<FileContent> {
  try {
    return { kind: 'text', text: await disk.read(path) };
  } catch (error) {
    const reason = reasonOf(error);
    return reason === undefined ? { kind: 'absent' } : { kind: 'unreadable', reason };
  }
}

export function reasonOf(error: unknown): string | undefined {
  if (error instanceof FileRefused) return error.reason;
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : systemReason(code);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? asText(error);
}
