/**
 * A text in the user's home. Several processes follow and change it. A change reads the file again under a lock and
 * replaces it in one step, so two changes at once lose nothing.
 *
 * Invariants: a reader finds the whole old or new text. Texts writable by others, and links, are never read. A lock
 * left behind by an ended process counts for `staleMs`.
 */
import { link, lstat, mkdir, rename, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../base/clock.js';
import { DisposableStore, type Disposable } from '../base/disposables.js';
import { Emitter } from '../base/events.js';
import { makePrivateFile } from '../base/privateFile.js';
import { FileRefused, largestForeignFile, readTextFile } from '../base/textFile.js';
import { watchFolderOf } from './folderWatch.js';
import { readContent, realDisk, watchFile, type Disk, type WatchedFile } from './watchedFile.js';

const staleMs = 5000;
/** A longer wait for the lock fails, because it cannot be removed or is never free. */
const patienceMs = 15_000;

/** Other users of the machine could have written an open file. Windows keeps a home folder closed. */
const disk: Disk = {
  ...realDisk,
  read: async (file) => {
    const found = await lstat(file);
    if (found.isSymbolicLink()) throw new FileRefused(file, 'it is a link');
    const { getuid } = process;
    if (getuid && ((found.mode & 0o022) !== 0 || found.uid !== getuid())) {
      throw new FileRefused(file, 'others may write it');
    }
    return await readTextFile(file, largestForeignFile);
  },
};

export class SharedFile implements Disposable {
  private readonly store = new DisposableStore('shared file');
  private readonly changes = this.store.add(new Emitter<void>());
  private watched: WatchedFile | undefined;
  private changing: Promise<unknown> = Promise.resolve();

  /** Fires when `text` has changed. */
  readonly onDidChange = this.changes.event;

  constructor(
    readonly path: string,
    private readonly clock: Clock,
    private readonly pollMs?: number,
  ) {}

  /** Undefined without a reliable text, and before `open`. */
  get text(): string | undefined {
    const { content } = this.watched ?? {};
    return content?.kind === 'text' ? content.text : undefined;
  }

  /** Returns a phrase with the reason against reading an existing file. */
  get refused(): string | undefined {
    const { content } = this.watched ?? {};
    return content?.kind === 'unreadable' ? content.reason : undefined;
  }

  /** Begins to follow the file. Resolves when it was read. */
  async open(): Promise<void> {
    if (!this.watched) {
      const watched = this.store.add(
        watchFile(this.path, { clock: this.clock, ...(this.pollMs && { pollMs: this.pollMs }), disk }),
      );
      this.watched = watched;
      this.store.add(watched.onDidChange(() => this.changes.fire()));
      this.store.add(watchFolderOf(this.path, () => watched.nudge()));
    }
    await this.watched.readNow();
  }

  /**
   * Replaces the text by the result of `edit` for the present one. Resolves after listeners received it. Rejects as
   * `node:fs/promises` does.
   */
  change(edit: (text: string | undefined) => string): Promise<void> {
    const changed = this.changing.then(() =>
      this.locked(async () => {
        const content = await readContent(disk, this.path);
        const before = content.kind === 'text' ? content.text : undefined;
        const after = edit(before);
        if (after !== before) await makePrivateFile(this.path, after);
      }),
    );
    this.changing = changed.catch(() => undefined);
    return changed.then(() => this.open());
  }

  dispose(): void {
    this.store.dispose();
  }

  private async locked(work: () => Promise<void>): Promise<void> {
    const lock = `${this.path}.lock`;
    await mkdir(path.dirname(lock), { recursive: true, mode: 0o700 });
    for (const since = this.clock.now(); ;) {
      try {
        await writeFile(lock, '', { mode: 0o600, flag: 'wx' });
        break;
      } catch (error) {
        const isHeld = (error as NodeJS.ErrnoException).code === 'EEXIST';
        if (!isHeld || this.clock.now() - since > patienceMs) throw error;
        await this.breakStale(lock);
        // A timer of the clock would let the process end here.
        await pause(5 + Math.random() * 20);
      }
    }
    try {
      await work();
    } finally {
      await unlink(lock).catch(() => undefined);
    }
  }

  /** Another process may have broken it and taken the lock in between. That lock is put back. */
  private async breakStale(lock: string): Promise<void> {
    const found = await lstat(lock).catch(() => undefined);
    if (!found || Math.abs(this.clock.now() - found.mtimeMs) < staleMs) return;
    const broken = `${lock}.${process.pid}`;
    await rename(lock, broken).catch(() => undefined);
    const taken = await lstat(broken).catch(() => undefined);
    if (taken && taken.ino !== found.ino) await link(broken, lock).catch(() => undefined);
    await unlink(broken).catch(() => undefined);
  }
}
