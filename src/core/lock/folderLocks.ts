/**
 * The lock files beside the config files, by the sources of their servers (S3d). A lock counts for
 * `.minds/mcp.yaml` and `.mcprc` of its folder, because it is written without the layer of a person.
 */
import path from 'node:path';
import type { ApprovedServer } from '../approval/ledger.js';
import { realPath } from '../base/paths.js';
import { perObject } from '../base/perObject.js';
import type { Problem } from '../base/problem.js';
import { problemOf } from '../base/problemOf.js';
import type { FileContent } from '../base/textFile.js';
import { startOfFile, type SourceText } from '../config/model.js';
import { lockPath, mcprcPath, mindsPath } from '../config/sources.js';
import { readLock, type Lock, type LockedServer } from './lockFile.js';

/** Each edit of a config file comes here, and a long lock takes some time. */
export const lockIn = perObject((content: FileContent): Lock | string => {
  if (content.kind === 'unreadable') return content.reason;
  return content.kind === 'text' ? readLock(content.text) : new Map();
});

export class FolderLocks {
  /** A phrase says why a file cannot be read. */
  private readonly bySource = new Map<string, Lock | string>();
  problems: readonly Problem[] = [];

  apply(sources: readonly SourceText[]): void {
    this.bySource.clear();
    this.problems = sources.flatMap(({ folder, lock }) => {
      if (!lock || lock.kind === 'absent') return [];
      const read = lockIn(lock);
      for (const file of [mindsPath, mcprcPath])
        this.bySource.set(path.join(realPath(folder), file), read);
      const place = { file: path.join(folder, lockPath), range: startOfFile };
      return typeof read === 'string' ? [problemOf('lock-unreadable', place, { why: read })] : [];
    });
  }

  /** @param source in the real folder */
  readonly of = ({ server, source }: ApprovedServer): LockedServer | 'unreadable' | undefined => {
    const lock = this.bySource.get(source);
    return typeof lock === 'string' ? 'unreadable' : lock?.get(server);
  };
}
