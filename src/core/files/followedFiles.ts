/**
 * Follows the texts of several files (R1). A file that cannot be read keeps its last text. Each
 * shell adds its own signs of a change, because `watchFile` looks in intervals only.
 */
import { DisposableStore, type Disposable } from '../base/disposables.js';
import { watchFile, type WatchedFile, type WatchedFileDeps } from './watchedFile.js';

interface Named {
  readonly file: string;
  /** The text before the first look. */
  readonly text?: string | undefined;
}

interface FollowedFile<Source> {
  source: Source;
  readonly file: WatchedFile;
  readonly store: DisposableStore;
  /** The last readable text; undefined without a file. */
  text: string | undefined;
}

export interface FollowedFilesDeps<Source> extends Omit<WatchedFileDeps, 'disk' | 'typedIn'> {
  readonly wanted: () => readonly Source[];
  /** Calls `nudge` at a sign that the file has changed. */
  readonly signs: (source: Source, nudge: () => void) => Disposable;
  /** Resolves to the server with a half-typed launch. */
  readonly typedIn?: (path: string, before: string, now: string) => Promise<string | undefined>;
  readonly onChange: () => void;
}

export class FollowedFiles<Source extends Named> implements Disposable {
  private readonly store = new DisposableStore('followed files');
  /** In the order of `wanted`. */
  all: readonly FollowedFile<Source>[] = [];

  constructor(private readonly deps: FollowedFilesDeps<Source>) {}

  /** True if each file was looked at. */
  get isRead(): boolean {
    return this.all.every(({ file }) => file.content !== undefined);
  }

  /** Begins. Call it again when other files are wanted. */
  follow(): void {
    const before = this.all;
    this.all = this.deps.wanted().map((source) => {
      const known = before.find(({ file }) => file.path === source.file);
      return known ? Object.assign(known, { source }) : this.open(source);
    });
    for (const one of before) if (!this.all.includes(one)) this.store.release(one.store);
    this.deps.onChange();
  }

  /** Resolves when listeners have received the present texts. */
  async readNow(): Promise<void> {
    await Promise.all(this.all.map(({ file }) => file.readNow()));
  }

  dispose(): void {
    this.store.dispose();
  }

  private open(source: Source): FollowedFile<Source> {
    const { signs, typedIn, onChange, ...watching } = this.deps;
    const { file: path } = source;
    const store = this.store.add(new DisposableStore(`followed file ${path}`));
    const file = store.add(
      watchFile(path, {
        ...watching,
        ...(typedIn && { typedIn: (before, now) => typedIn(path, before, now) }),
      }),
    );
    store.add(signs(source, file.nudge));
    const followed: FollowedFile<Source> = {
      source,
      file,
      store,
      text: source.text,
    };
    store.add(
      file.onDidChange((content) => {
        if (content.kind === 'text') followed.text = content.text;
        if (content.kind === 'absent') followed.text = undefined;
        onChange();
      }),
    );
    return followed;
  }
}
