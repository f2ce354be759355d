/**
 * Keeps artifacts on disk as `<folder>/artifacts/mcp/<server>/<tool>/<timestamp>-<uuid>.<extension>` (V2). The UUID
 * identifies the conversation (`artifactName`).
 *
 * Invariants: under its name, a file is whole or absent; no other user may read it; its path has no text of a caller or
 * a server except the names of server and tool (E4). A failed write is an outcome.
 */
import { mkdir, open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import {
  type ArtifactContent,
  type ArtifactOrigin,
  type ArtifactStore,
  formatBytes,
  type SaveOutcome,
} from './artifacts.js';
import { artifactName, artifactsRoot, isArtifactOf } from './artifactName.js';
import { ArtifactQuota, onDisk, type Written } from './artifactQuota.js';
import { takeAll, type Pieces, type Taken } from './pieces.js';

interface DiskArtifactsDeps {
  /** The folder need not exist. */
  readonly folder: string;
  /** Returns the limit of all files together in bytes. Read at each use. */
  readonly quota: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

export function createDiskArtifacts(deps: DiskArtifactsDeps): ArtifactStore {
  return new DiskArtifacts(deps);
}

class DiskArtifacts implements ArtifactStore {
  private readonly root: string;
  private readonly quota: ArtifactQuota;
  private readonly saving = new Set<Promise<SaveOutcome>>();

  constructor(private readonly deps: DiskArtifactsDeps) {
    this.root = artifactsRoot(deps.folder);
    this.quota = new ArtifactQuota({ root: this.root, limit: deps.quota, log: deps.log });
  }

  save(origin: ArtifactOrigin, content: ArtifactContent): Promise<SaveOutcome> {
    const saving = this.write(origin, content).finally(() => this.saving.delete(saving));
    this.saving.add(saving);
    return saving;
  }

  async ofConversation(conversation: string): Promise<readonly string[]> {
    // A folder that does not exist has no files. Links are not followed.
    const found = await readdir(this.root, { recursive: true, withFileTypes: true }).catch(() => []);
    const isOwn = isArtifactOf(conversation);
    return found
      .filter((entry) => entry.isFile() && isOwn(entry.name))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map((entry) => path.join(entry.parentPath, entry.name));
  }

  async settled(): Promise<void> {
    while (this.saving.size > 0) await Promise.all(this.saving);
    await this.quota.settled();
  }

  private async write(origin: ArtifactOrigin, content: ArtifactContent): Promise<SaveOutcome> {
    const folder = path.join(this.root, segment(origin.server), segment(origin.tool));
    const file = path.join(folder, artifactName(this.deps.clock.now(), origin.conversation, content.extension));
    const unfinished = `${file}.partial`;
    let written: Written | undefined;
    this.quota.begin(unfinished);
    try {
      const { bytes, unreadable } = await this.fill(unfinished, content.pieces);
      if (unreadable !== undefined) {
        await discard(unfinished);
        return { kind: 'unreadable', why: unreadable };
      }
      await rename(unfinished, file);
      written = { file, bytes };
      return { kind: 'saved', path: file, bytes };
    } catch (error) {
      await discard(unfinished);
      const why = reasonOf(error as NodeJS.ErrnoException);
      this.deps.log.write('warn', `A file of ${origin.server}/${origin.tool} was not saved in ${folder}: ${why}.`);
      return { kind: 'notSaved', why };
    } finally {
      this.quota.end(unfinished, written);
    }
  }

  /** Throws if a write failed, but returns an error of the content. */
  private async fill(file: string, pieces: Pieces): Promise<Taken> {
    const quota = this.deps.quota();
    let handle: FileHandle | undefined;
    let bytes = 0;
    const put = async (piece: Uint8Array): Promise<void> => {
      bytes += piece.length;
      // The quota would remove a larger file at once.
      if (onDisk(bytes) > quota) throw new OverQuota(quota);
      handle ??= await openAnew(file);
      await handle.writeFile(piece);
    };
    try {
      const taken = await takeAll(pieces, put);
      if (taken.unreadable === undefined && taken.failure !== undefined) throw taken.failure;
      if (taken.bytes === 0 && taken.unreadable === undefined) await put(new Uint8Array());
      return taken;
    } finally {
      await handle?.close();
    }
  }
}

async function openAnew(file: string): Promise<FileHandle> {
  for (let attempt = 1; ; attempt++) {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    try {
      return await open(file, 'wx', 0o600);
    } catch (error) {
      // Another process is clearing the folder at this moment.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === 3) throw error;
    }
  }
}

/** The quota removes later what cannot be removed now. */
async function discard(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => undefined);
}

class OverQuota extends Error {
  constructor(quota: number) {
    super(
      quota === 0
        ? 'mcpToolsets.artifactsQuota is 0'
        : `it is larger than mcpToolsets.artifactsQuota allows for all files, ${formatBytes(quota)}`,
    );
  }
}

/** Makes one part of a path. Names by rule N4 stay the same, except device names of Windows. */
function segment(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
  return safe === '' || /^(con|prn|aux|nul|com\d|lpt\d)$/i.test(safe) ? `${safe}_` : safe;
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota of the user is used up',
  EACCES: 'the folder may not be written to',
  EPERM: 'the folder may not be written to',
  EROFS: 'the disk is read-only',
  ENOTDIR: 'a file is where a folder should be',
  EEXIST: 'a file is where a folder should be',
  EMFILE: 'too many files are open',
};

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === undefined) return message;
  const reason = Object.hasOwn(reasons, code) ? reasons[code] : undefined;
  return reason === undefined ? code : `${reason} (${code})`;
}
