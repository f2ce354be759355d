/**
 * A text in the user's home that several processes follow and change. A change reads it again under
 * a lock, so two at once lose nothing. Invariants: a reader finds the whole old or new text. Texts
 * writable by others, and links, are never read. A text that cannot be read is never replaced.
 */
import { lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import { DisposableStore, type Disposable } from '../base/disposables.js';
import { Emitter } from '../base/events.js';
import { OneByOne } from '../base/oneByOne.js';
import { makePrivateFile } from '../base/privateFile.js';
import { shellWord } from '../base/paths.js';
import {
  FileRefused,
  largestForeignFile,
  readTextFile,
  type FileContent,
} from '../base/textFile.js';
import { underLock } from './fileLock.js';
import { watchFolderOf } from './folderWatch.js';
import { readContent, realDisk, watchFile, type Disk, type WatchedFile } from './watchedFile.js';

/** The rights of others that refuse a file: to write it, or also to read it. */
type Closed = 'to writers' | 'to readers';

/**
 * Throws a `FileRefused` with a way to mend it if another user of the machine could have written
 * the file. A missing file passes. Windows keeps a home folder closed.
 */
export function refuseForeign(file: string, closed: Closed = 'to writers'): void {
  const { getuid } = process;
  if (!getuid) return;
  for (const [place, mode, refused] of [
    [path.dirname(file), 'go-w', 0o022],
    [file, '600', closed === 'to readers' ? 0o077 : 0o022],
  ] as const) {
    const found = statSync(place, { throwIfNoEntry: false });
    // A link to a file on a missing disk is no missing file.
    if (!found && lstatSync(place, { throwIfNoEntry: false })) {
      throw new FileRefused(file, `${place} is a link to nothing`);
    }
    if (!found) return;
    if (![0, getuid()].includes(found.uid))
      throw new FileRefused(file, `another user owns ${place}`);
    if ((found.mode & refused) !== 0) {
      const may = (found.mode & 0o022) === 0 ? 'read' : 'write';
      throw new FileRefused(
        file,
        `others may ${may} ${place}. \`chmod ${mode} ${shellWord(place)}\` mends this`,
      );
    }
  }
}

function diskFor(closed?: Closed): Disk {
  return {
    ...realDisk,
    read: async (file) => {
      if (lstatSync(file).isSymbolicLink()) throw new FileRefused(file, 'it is a link');
      refuseForeign(file, closed);
      return await readTextFile(file, largestForeignFile);
    },
  };
}

export class SharedFile implements Disposable {
  private readonly store = new DisposableStore('shared file');
  private readonly changes = this.store.add(new Emitter<void>());
  private watched: WatchedFile | undefined;
  private readonly changing = new OneByOne();
  private readonly disk: Disk;

  readonly onDidChange = this.changes.event;

  constructor(
    readonly path: string,
    private readonly clock: Clock,
    private readonly pollMs?: number,
    closed?: Closed,
  ) {
    this.disk = diskFor(closed);
  }

  /** Absent before `open`. */
  get content(): FileContent {
    return this.watched?.content ?? { kind: 'absent' };
  }

  async open(): Promise<void> {
    if (!this.watched) {
      const { clock, pollMs, disk } = this;
      const watched = this.store.add(watchFile(this.path, { clock, pollMs, disk }));
      this.watched = watched;
      this.store.add(watched.onDidChange(() => this.changes.fire()));
      this.store.add(watchFolderOf(this.path, () => watched.nudge()));
    }
    await this.watched.readNow();
  }

  /** Resolves to the text of this moment, also while it changes. */
  read(): Promise<FileContent> {
    return readContent(this.disk, this.path);
  }

  /**
   * Replaces the text by the result of `edit` for the present one. Resolves after listeners
   * received it. Rejects for an unreadable text.
   */
  change(edit: (text: string | undefined) => string): Promise<void> {
    const replace = async (): Promise<void> => {
      const content = await this.read();
      if (content.kind === 'unreadable') throw new FileRefused(this.path, content.reason);
      const before = content.kind === 'text' ? content.text : undefined;
      const after = edit(before);
      if (after !== before) await makePrivateFile(this.path, after);
    };
    return this.changing
      .add(this.path, () => underLock(this.path, this.clock, replace))
      .then(() => this.open());
  }

  dispose(): void {
    this.store.dispose();
  }
}
