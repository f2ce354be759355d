/**
 * The config files (C5) as the sources of a host, with the locks beside them (S3d), followed in the
 * way of every shell (R1).
 */
import type { Disposable } from '../base/disposables.js';
import { Emitter } from '../base/events.js';
import type { SourceText } from '../config/model.js';
import { FollowedFiles, type FollowedFilesDeps } from '../files/followedFiles.js';
import { lockFileOf, lockWithin } from '../files/lockFile.js';

/** A source whose first text may be known. */
export type FollowedSource = Omit<SourceText, 'text' | 'unreadable' | 'typed'> &
  Partial<Pick<SourceText, 'text'>>;

/** A source, or the lock beside it. */
interface Followed extends FollowedSource {
  readonly isLock?: boolean;
}

/** What readers of the files use. */
export type ConfigSources = Pick<ConfigFiles, 'sources' | 'onDidChange' | 'readNow'>;

export class ConfigFiles implements Disposable {
  private readonly changes = new Emitter<readonly SourceText[]>();
  private readonly files: FollowedFiles<Followed>;
  /** Undefined until each file was looked at. */
  sources: readonly SourceText[] | undefined;

  readonly onDidChange = this.changes.event;

  constructor(deps: Omit<FollowedFilesDeps<FollowedSource>, 'onChange'>) {
    this.files = new FollowedFiles<Followed>({
      ...deps,
      wanted: () => deps.wanted().flatMap(withLock),
      onChange: () => this.report(),
    });
  }

  /** Begins. Call it again when other files are wanted. */
  follow(): void {
    this.files.follow();
  }

  /** Resolves when listeners have received the present texts. */
  readNow(): Promise<void> {
    return this.files.readNow();
  }

  dispose(): void {
    this.files.dispose();
    this.changes.dispose();
  }

  private report(): void {
    if (!this.files.isRead) return;
    const { all } = this.files;
    const lockOf = (folder: string): SourceText['lock'] => {
      const content = all.find(({ source }) => source.isLock && source.folder === folder)?.file
        .content;
      return content && lockWithin(folder, content);
    };
    const ofConfig = all.filter(({ source }) => !source.isLock);
    this.sources = ofConfig.map(({ source, text, file: { content } }) => ({
      ...source,
      text,
      unreadable: content?.kind === 'unreadable' ? content.reason : undefined,
      typed: content?.kind === 'text' ? content.typed : undefined,
      ...(hasLock(source) && { lock: lockOf(source.folder) }),
    }));
    this.changes.fire(this.sources);
  }
}

function hasLock({ origin = 'folder' }: FollowedSource): boolean {
  return origin === 'folder';
}

function withLock(source: FollowedSource): Followed[] {
  if (!hasLock(source)) return [source];
  const lock = { ...source, file: lockFileOf(source.folder), text: undefined, isLock: true };
  return [source, lock];
}
