/** The config files (C5) as the sources of a host, followed in the way of every shell (R1). */
import type { Disposable } from '../base/disposables.js';
import { Emitter } from '../base/events.js';
import type { SourceText } from '../config/model.js';
import { FollowedFiles, type FollowedFilesDeps } from '../files/followedFiles.js';

/** A source whose first text may be known. */
export type FollowedSource = Omit<SourceText, 'text' | 'unreadable' | 'typed'> &
  Partial<Pick<SourceText, 'text'>>;

/** What readers of the files use. */
export type ConfigSources = Pick<ConfigFiles, 'sources' | 'onDidChange' | 'readNow'>;

export class ConfigFiles implements Disposable {
  private readonly changes = new Emitter<readonly SourceText[]>();
  private readonly files: FollowedFiles<FollowedSource>;
  /** Undefined until each file was looked at. */
  sources: readonly SourceText[] | undefined;

  readonly onDidChange = this.changes.event;

  constructor(deps: Omit<FollowedFilesDeps<FollowedSource>, 'onChange'>) {
    this.files = new FollowedFiles({ ...deps, onChange: () => this.report() });
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
    this.sources = this.files.all.map(({ source, text, file: { content } }) => ({
      ...source,
      text,
      unreadable: content?.kind === 'unreadable' ? content.reason : undefined,
      typed: content?.kind === 'text' ? content.typed : undefined,
    }));
    this.changes.fire(this.sources);
  }
}
