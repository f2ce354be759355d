/**
 * Follows the text of one path: whatever happens to the file, the folder it is in or the links on the way there, the
 * content ends as that of the last save (R1).
 *
 * The file is looked at in intervals, and at once when somebody who watches it says so (`nudge`): watchers of editors and
 * systems miss events, do not follow links, and know nothing of folders that do not exist yet. Bursts are one reading.
 *
 * It does not know what the text means, and never throws for what a file system does. Invariants: one reading at a time;
 * a change during a reading is read again; listeners hear only of content that differs from what they heard last.
 */
import { stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../base/clock.js';
import { toDisposable, type Disposable } from '../base/disposables.js';
import { Emitter, type Event } from '../base/events.js';
import { asText } from '../base/text.js';
import { FileRefused, largestConfigFile, readTextFile, wholeUtf8 } from '../base/textFile.js';
import { SingleFlight } from '../base/singleFlight.js';

export type FileContent =
  | { readonly kind: 'absent' }
  | { readonly kind: 'text'; readonly text: string }
  /** It is there and cannot be read as a file; `reason` is a phrase such as `permission denied`. */
  | { readonly kind: 'unreadable'; readonly reason: string };

export interface WatchedFile extends Disposable {
  readonly path: string;
  /** It is undefined until the first reading. */
  readonly content: FileContent | undefined;
  /** Fires after `content` was replaced; the first time for the first reading. */
  readonly onDidChange: Event<FileContent>;
  /** Says that something may have happened to the file. */
  nudge(): void;
  /** Reads it without waiting for it to come to rest. Resolves when listeners have heard what it says by now. */
  readNow(): Promise<void>;
}

export interface WatchedFileDeps {
  readonly clock: Clock;
  /** The time between two looks in milliseconds. The default is 2 s. */
  readonly pollMs?: number;
  /** The time without a further sign of change before the file is read, in milliseconds. The default is 200. */
  readonly debounceMs?: number;
  readonly disk?: Disk;
  /** Resolves to true while somebody still types what the text has become, so that it does not count yet. */
  readonly isHalfTyped?: (before: string, now: string) => Promise<boolean>;
}

/** The questions to the file system; both reject as `node:fs/promises` does, and reading with `FileRefused`. */
export interface Disk {
  read(path: string): Promise<string>;
  /** Resolves to a text that changes when the file does. */
  stamp(path: string): Promise<string>;
}

export const realDisk: Disk = {
  read: (path) => readTextFile(path, largestConfigFile),
  stamp: async (path) => {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [ino, size, mtimeNs, ctimeNs].join(':');
  },
};

/** For files that are written again: one that would lose something by that cannot be read. */
export const diskToEdit: Disk = { ...realDisk, read: (path) => readTextFile(path, largestConfigFile, wholeUtf8) };

/** A file that never comes to rest is read as it is after this many attempts to find it at rest. */
const patience = 5;

/** A half-typed text that stays as it is for so long, in milliseconds, counts. */
const typingPause = 10_000;

export function watchFile(path: string, deps: WatchedFileDeps): WatchedFile {
  const { clock, pollMs = 2000, debounceMs = 200, disk = realDisk } = deps;
  const changes = new Emitter<FileContent>();
  let content: FileContent | undefined;
  /** The file's stamp when `content` was read. */
  let stamp: string | undefined;
  let ended = false;
  let poll: Disposable | undefined;
  let due: { readonly timer: Disposable; readonly since: number } | undefined;
  let restless = 0;
  let halfTyped: { readonly text: string; readonly since: number } | undefined;
  let isAskedNow = false;

  const nudge = (): void => {
    if (ended) return;
    const now = clock.now();
    const since = due?.since ?? now;
    if (due && now - since >= patience * debounceMs) return;
    due?.timer.dispose();
    due = { since, timer: clock.after(debounceMs, dueNow) };
  };
  const dueNow = (): void => {
    due = undefined;
    void reading.request();
  };
  const reading = new SingleFlight(async () => {
    const before = await stampOf(disk, path);
    const next = await readContent(disk, path);
    const after = await stampOf(disk, path);
    if (ended) return;
    if (before !== after && ++restless < patience) {
      nudge();
      return;
    }
    restless = 0;
    // The stamp stays that of the last text, so that the next look reads again.
    if ((await isHeld(next)) || ended) return;
    stamp = before;
    if (content && isDeepStrictEqual(content, next)) return;
    content = next;
    changes.fire(next);
  });
  const isHeld = async (next: FileContent): Promise<boolean> => {
    const wasHeld = halfTyped;
    halfTyped = undefined;
    if (isAskedNow || content?.kind !== 'text' || next.kind !== 'text' || content.text === next.text) return false;
    if (!(await deps.isHalfTyped?.(content.text, next.text))) return false;
    const { text } = next;
    halfTyped = wasHeld?.text === text ? wasHeld : { text, since: clock.now() };
    return clock.now() - halfTyped.since < typingPause;
  };
  const look = async (): Promise<void> => {
    const seen = await stampOf(disk, path);
    if (ended) return;
    if (seen !== stamp) nudge();
    lookLater();
  };
  const lookLater = (): void => {
    poll = clock.after(pollMs, () => void look());
  };

  void reading.request();
  lookLater();
  const end = toDisposable(() => {
    ended = true;
    poll?.dispose();
    due?.timer.dispose();
    changes.dispose();
  });
  return {
    path,
    get content() {
      return content;
    },
    onDidChange: changes.event,
    nudge,
    readNow: async () => {
      isAskedNow = true;
      await reading.request();
      isAskedNow = false;
    },
    dispose: () => end.dispose(),
  };
}

async function stampOf(disk: Disk, path: string): Promise<string> {
  try {
    return await disk.stamp(path);
  } catch (error) {
    return `no stamp: ${codeOf(error)}`;
  }
}

/** Never rejects. */
export async function readContent(disk: Disk, path: string): Promise<FileContent> {
  try {
    return { kind: 'text', text: await disk.read(path) };
  } catch (error) {
    const reason = reasonOf(error);
    return reason === undefined ? { kind: 'absent' } : { kind: 'unreadable', reason };
  }
}

/** Returns a phrase that says why a file could not be read, or undefined if there is none. */
export function reasonOf(error: unknown): string | undefined {
  if (error instanceof FileRefused) return error.reason;
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : (reasons[code] ?? code);
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a folder',
  ELOOP: 'its symbolic links go in a circle',
  EIO: 'the disk reported an error',
};

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? asText(error);
}
