/**
 * Keeps `<folder>/artifacts/mcp/<server>/<tool>/<timestamp>-<uuid>.<extension>` (V2). Invariants: a
 * file is whole or absent; no other user may read it; its path has no foreign text except the names
 * of server and tool (E4).
 */
import path from 'node:path';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import {
  formatBytes,
  type ArtifactContent,
  type ArtifactOrigin,
  type ArtifactStore,
  type SaveOutcome,
} from './artifacts.js';
import { SingleFlight } from '../base/singleFlight.js';
import { fileError } from '../base/systemError.js';
import { messageOf } from '../base/text.js';
import { createHash, randomUUID } from 'node:crypto';

interface DiskArtifactsDeps {
  readonly folder: string;
  /** Returns the limit of all files together in bytes. */
  readonly quota: () => number;
  readonly mostFiles?: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Listing and removing very many files takes long, however small they are. */
const usualMostFiles = 10_000;

export class DiskArtifacts implements ArtifactStore {
  private readonly root: string;
  private readonly saving = new Set<Promise<SaveOutcome>>();
  /** The disk space of each whole file, oldest first; undefined before the first write. */
  private files: Promise<Map<string, number>> | undefined;
  private readonly quota = new SingleFlight(() => this.keepQuota());

  constructor(private readonly deps: DiskArtifactsDeps) {
    this.root = artifactsRoot(deps.folder);
  }

  save(origin: ArtifactOrigin, content: ArtifactContent): Promise<SaveOutcome> {
    const saving = this.write(origin, content).finally(() => this.saving.delete(saving));
    this.saving.add(saving);
    return saving;
  }

  async ofConversation(conversation: string): Promise<readonly string[]> {
    const own = new RegExp(`^[\\dT.-]+Z-${marksOf(conversation)}.*(?<!\\.partial)$`);
    const files = (await filesIn(this.root)).filter((file) => own.test(path.basename(file)));
    return files.sort((a, b) => (path.basename(a) < path.basename(b) ? -1 : 1));
  }

  async settled(): Promise<void> {
    while (this.saving.size > 0) await Promise.all(this.saving);
    await this.quota.settled();
  }

  private async write(
    origin: ArtifactOrigin,
    { extension, pieces }: ArtifactContent,
  ): Promise<SaveOutcome> {
    const folder = path.join(this.root, segment(origin.server), segment(origin.tool));
    const file = path.join(
      folder,
      artifactName(this.deps.clock.now(), origin.conversation, extension),
    );
    const unfinished = `${file}.partial`;
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const limit = this.deps.quota();
    try {
      // Read before the first write, so no unfinished file of ours is among them.
      const files = await (this.files ??= sizesIn(this.root));
      const tooLarge = `it is larger than mcpToolsets.artifactsQuota allows for all files, ${formatBytes(limit)}`;
      // The quota would remove a larger file at once.
      if (onDisk(bytes) > limit)
        throw new Error(limit === 0 ? 'mcpToolsets.artifactsQuota is 0' : tooLarge);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(unfinished, pieces, { flag: 'wx', mode: 0o600 });
      await rename(unfinished, file);
      files.set(file, onDisk(bytes));
      void this.quota.request();
      return {
        kind: 'saved',
        path: file,
        bytes,
      };
    } catch (error) {
      // The quota of a later window removes what cannot be removed now.
      await rm(unfinished, { force: true }).catch(() => undefined);
      const why = fileError(error)?.replace(/^.*: /s, '') ?? messageOf(error);
      this.deps.log.write(
        'warn',
        `A file of ${origin.server}/${origin.tool} was not saved in ${folder}: ${why}.`,
      );
      return { kind: 'notSaved', why };
    }
  }

  /**
   * Removes the oldest files over the quota (V3). A file that cannot be removed is skipped and
   * still counts.
   */
  private async keepQuota(): Promise<void> {
    const { quota, mostFiles = usualMostFiles } = this.deps;
    const files = (await this.files) ?? new Map<string, number>();
    const limit = quota();
    let total = [...files.values()].reduce((sum, bytes) => sum + bytes, 0);
    for (const [file, bytes] of [...files]) {
      if (total <= limit && files.size <= mostFiles) break;
      const removed = rm(file, { force: true }).then(() => files.delete(file));
      if (await removed.catch(() => false)) total -= bytes;
    }
  }
}

/** Names by rule N4 stay the same, except device names of Windows. */
function segment(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
  return safe === '' || /^(con|prn|aux|nul|com\d|lpt\d)$/i.test(safe) ? `${safe}_` : safe;
}

/** A file takes whole blocks of a disk, usually of 4 KiB, and an empty file takes a block too. */
const blockSize = 4096;

function onDisk(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / blockSize)) * blockSize;
}

async function sizesIn(root: string): Promise<Map<string, number>> {
  const files = await filesIn(root);
  const sized = files.map(async (file) => {
    const { size, mtimeMs } = await stat(file);
    return {
      file,
      bytes: onDisk(size),
      mtimeMs,
    };
  });
  const found = (await Promise.allSettled(sized)).flatMap((one) =>
    one.status === 'fulfilled' ? [one.value] : [],
  );
  found.sort((a, b) => a.mtimeMs - b.mtimeMs || (a.file < b.file ? -1 : 1));
  return new Map(found.map(({ file, bytes }) => [file, bytes]));
}

/** Links are not followed, and a folder that does not exist has no files. */
async function filesIn(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && path.dirname(path.dirname(entry.parentPath)) === root)
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** @param folder the workspace's storage */
export function artifactsRoot(folder: string): string {
  return path.join(folder, 'artifacts', 'mcp');
}

function artifactName(now: number, conversation: string, extension: string): string {
  const stamp = new Date(now).toISOString().replaceAll(':', '-');
  return `${stamp}-${marksOf(conversation)}${randomUUID().slice(15)}.${extension}`;
}

/**
 * Returns the time of an artifact in milliseconds since the epoch, and NaN for a name of another
 * kind.
 */
export function timeOfArtifact(name: string): number {
  return Date.parse(name.replace(/^([\d-]+T\d\d)-(\d\d)-([\d.]+Z)-.*$/s, '$1:$2:$3'));
}

/** Returns the first two groups of the UUID, and its version. */
function marksOf(conversation: string): string {
  const hash = createHash('sha256').update(conversation).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8`;
}
