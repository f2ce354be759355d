/**
 * Artifacts on disk (spec V2): `<folder>/artifacts/mcp/<server>/<tool>/<timestamp>-<uuid>.<extension>`.
 *
 * Invariants: a file is there under its name whole or not at all; nobody else may read it; its name holds nothing that a
 * caller or a server said, but the names of server and tool (spec E4). What cannot be written is an outcome.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import {
  faultOf,
  type ArtifactContent,
  type ArtifactOrigin,
  type ArtifactStore,
  type SaveOutcome,
} from './artifacts.js';
import { ArtifactQuota, type Written } from './artifactQuota.js';
import { formatBytes } from './sizes.js';

export interface DiskArtifactsOptions {
  /** Need not exist. */
  readonly folder: string;
  /** In bytes, of all files together; read at each use. */
  readonly quota: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

export function createDiskArtifacts(options: DiskArtifactsOptions): ArtifactStore {
  return new DiskArtifacts(options);
}

class DiskArtifacts implements ArtifactStore {
  private readonly root: string;
  private readonly quota: ArtifactQuota;
  private readonly saving = new Set<Promise<SaveOutcome>>();

  constructor(private readonly options: DiskArtifactsOptions) {
    this.root = path.join(options.folder, 'artifacts', 'mcp');
    this.quota = new ArtifactQuota({ root: this.root, limit: options.quota, log: options.log });
  }

  save(origin: ArtifactOrigin, content: ArtifactContent): Promise<SaveOutcome> {
    const saving = this.write(origin, content).finally(() => this.saving.delete(saving));
    this.saving.add(saving);
    return saving;
  }

  async settled(): Promise<void> {
    while (this.saving.size > 0) await Promise.all(this.saving);
    await this.quota.settled();
  }

  private async write(origin: ArtifactOrigin, content: ArtifactContent): Promise<SaveOutcome> {
    const quota = this.options.quota();
    if (content.bytes > quota) return (await faultOf(content)) ?? { kind: 'notSaved', why: overQuota(content, quota) };
    const stamp = new Date(this.options.clock.now()).toISOString().replaceAll(':', '-');
    const folder = path.join(this.root, segment(origin.server), segment(origin.tool));
    const file = path.join(folder, `${stamp}-${randomUUID()}.${content.extension}`);
    const unfinished = `${file}.partial`;
    let written: Written | undefined;
    this.quota.begin(unfinished);
    try {
      const outcome = await fill(await openIn(folder, unfinished), content);
      if (outcome.kind === 'unreadable') {
        await rm(unfinished, { force: true });
        return outcome;
      }
      await rename(unfinished, file);
      written = { file, bytes: outcome.bytes };
      return { kind: 'saved', path: file, bytes: outcome.bytes };
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => undefined);
      const why = reasonOf(error as NodeJS.ErrnoException);
      this.options.log.write('warn', `A file of ${origin.server}/${origin.tool} was not saved in ${folder}: ${why}.`);
      return { kind: 'notSaved', why };
    } finally {
      this.quota.end(unfinished, written);
    }
  }
}

async function openIn(folder: string, file: string): Promise<FileHandle> {
  for (let attempt = 1; ; attempt++) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      return await open(file, 'wx', 0o600);
    } catch (error) {
      // Somebody clears the folder at this moment.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === 3) throw error;
    }
  }
}

type Filled = { readonly kind: 'filled'; readonly bytes: number } | Extract<SaveOutcome, { kind: 'unreadable' }>;

async function fill(handle: FileHandle, content: ArtifactContent): Promise<Filled> {
  try {
    const pieces = content.pieces();
    let bytes = 0;
    for (;;) {
      const next = pieces.next();
      if (next.done)
        return next.value === undefined ? { kind: 'filled', bytes } : { kind: 'unreadable', why: next.value };
      await handle.writeFile(next.value);
      bytes += next.value.length;
    }
  } finally {
    await handle.close();
  }
}

/** One part of a path. Names by rule N4 stay as they are, but those that Windows keeps for devices. */
function segment(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
  return safe === '' || /^(con|prn|aux|nul|com\d|lpt\d)$/i.test(safe) ? `${safe}_` : safe;
}

function overQuota(content: ArtifactContent, quota: number): string {
  return quota === 0
    ? 'saving is switched off by mcpToolsets.artifactsQuota'
    : `${formatBytes(content.bytes)} are more than mcpToolsets.artifactsQuota allows in all`;
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
