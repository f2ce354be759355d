/**
 * A text in the user's home that several processes follow and change. A change reads it again under a lock, so two at once
 * lose nothing. Invariants: a reader finds the whole old or new text. Texts writable by others, and links, are never read.
 */
import { lstat } from 'node:fs/promises';
import type { Clock } from '../base/clock.js';
import { DisposableStore, type Disposable } from '../base/disposables.js';
import { Emitter } from '../base/events.js';
import { OneByOne } from '../base/oneByOne.js';
import { makePrivateFile } from '../base/privateFile.js';
import { anyBytes, FileRefused, largestForeignFile, readTextFile } from '../base/textFile.js';
import { underLock } from './fileLock.js';
import { watchFolderOf } from './folderWatch.js';
import { readContent, realDisk, watchFile, type Disk, type FileContent, type WatchedFile } from './watchedFile.js';

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
    return await readTextFile(file, largestForeignFile, anyBytes);
  },
};

export class SharedFile implements Disposable {
  private readonly store = new DisposableStore('shared file');
  private readonly changes = this.store.add(new Emitter<void>());
  private watched: WatchedFile | undefined;
  private readonly changing = new OneByOne();

  readonly onDidChange = this.changes.event;

  constructor(
    readonly path: string,
    private readonly clock: Clock,
    private readonly pollMs?: number,
  ) {}

  /** Undefined without a reliable text, and before `open`. */
  get text(): string | undefined {
    return textOf(this.watched?.content);
  }

  get refused(): string | undefined {
    const { content } = this.watched ?? {};
    return content?.kind === 'unreadable' ? content.reason : undefined;
  }

  async open(): Promise<void> {
    if (!this.watched) {
      const { clock, pollMs } = this;
      const watched = this.store.add(watchFile(this.path, { clock, ...(pollMs && { pollMs }), disk }));
      this.watched = watched;
      this.store.add(watched.onDidChange(() => this.changes.fire()));
      this.store.add(watchFolderOf(this.path, () => watched.nudge()));
    }
    await this.watched.readNow();
  }

  /** Replaces the text by the result of `edit` for the present one. Resolves after listeners received it. */
  change(edit: (text: string | undefined) => string): Promise<void> {
    const replace = async (): Promise<void> => {
      const before = textOf(await readContent(disk, this.path));
      const after = edit(before);
      if (after !== before) await makePrivateFile(this.path, after);
    };
    return this.changing.add(this.path, () => underLock(this.path, this.clock, replace)).then(() => this.open());
  }

  dispose(): void {
    this.store.dispose();
  }
}

function textOf(content: FileContent | undefined): string | undefined {
  return content?.kind === 'text' ? content.text : undefined;
}
