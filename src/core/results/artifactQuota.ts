/**
 * Keeps the artifacts of a folder within a quota of disk space and files (V3). After each write the oldest go until the
 * rest fits.
 *
 * The folder is read at the first write, and again when another process turns out to have removed a file. In between, a
 * list is kept. Invariants: one run at a time; an unfinished file is not touched; a file that cannot be removed is
 * skipped and still counts; nothing throws.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Log } from '../base/log.js';
import { SingleFlight } from '../base/singleFlight.js';
import { asText } from '../base/text.js';

interface ArtifactQuotaDeps {
  /** The folder of `<server>/<tool>/<file>`. */
  readonly root: string;
  /** Returns the limit in bytes. Read at each run. */
  readonly limit: () => number;
  /** By default 10,000. */
  readonly mostFiles?: number;
  readonly log: Log;
}

/** A file takes whole blocks of a disk, usually of 4 KiB. */
const blockSize = 4096;
/** Listing and removing very many files takes long, however small they are. */
const usualMostFiles = 10_000;

/** Returns the disk space of a file in bytes. An empty file takes a block too. */
export function onDisk(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / blockSize)) * blockSize;
}

export interface Written {
  readonly file: string;
  readonly bytes: number;
}

export class ArtifactQuota {
  /** The disk space of the files by path, oldest first; undefined until they are read. */
  private files: Map<string, number> | undefined;
  private total = 0;
  private arrived: Written[] = [];
  private readonly unfinished = new Set<string>();
  private readonly runs = new SingleFlight(() => this.enforce());

  constructor(private readonly deps: ArtifactQuotaDeps) {}

  /** Has to be called before a file is written under this name. */
  begin(unfinished: string): void {
    this.unfinished.add(unfinished);
  }

  /** Has to be called when the file has its final name, or was dropped. */
  end(unfinished: string, written: Written | undefined): void {
    this.unfinished.delete(unfinished);
    if (!written) return;
    this.arrived.push(written);
    void this.runs.request();
  }

  settled(): Promise<void> {
    return this.runs.settled();
  }

  private async enforce(): Promise<void> {
    try {
      this.files ??= await this.read();
      this.takeArrived();
      await this.makeRoom();
    } catch (error) {
      this.deps.log.write('error', `The quota of artifacts could not be kept: ${asText(error)}`);
    }
  }

  private async makeRoom(): Promise<void> {
    // Two passes are enough, because a process that removes files makes room too.
    for (let pass = 1; pass <= 2 && (await this.removeOldest()) === 'outdated'; pass++) {
      this.files = await this.read();
      this.takeArrived();
    }
  }

  /** `outdated` means that another process removes files too, so the list is wrong. */
  private async removeOldest(): Promise<'done' | 'outdated'> {
    const limit = this.deps.limit();
    const { mostFiles = usualMostFiles } = this.deps;
    const files = this.files ?? new Map<string, number>();
    let left = files.size;
    for (const [file, bytes] of files) {
      if (this.total <= limit && left <= mostFiles) break;
      const outcome = await remove(file);
      if (outcome === 'gone') return 'outdated';
      if (outcome === 'kept') continue;
      files.delete(file);
      left -= 1;
      this.total -= bytes;
    }
    return 'done';
  }

  private takeArrived(): void {
    for (const { file, bytes } of this.arrived.splice(0)) {
      const taken = onDisk(bytes);
      this.total += taken - (this.files?.get(file) ?? 0);
      this.files?.delete(file);
      this.files?.set(file, taken);
    }
  }

  private async read(): Promise<Map<string, number>> {
    const found: { file: string; bytes: number; changed: number }[] = [];
    for (const server of await foldersIn(this.deps.root)) {
      for (const tool of await foldersIn(server)) {
        const files = (await entriesOf(tool))
          .filter((entry) => entry.isFile())
          .map(({ name }) => path.join(tool, name));
        const sizes = await Promise.all(files.map((file) => sizeOf(file)));
        for (const size of sizes) if (size && !this.unfinished.has(size.file)) found.push(size);
      }
    }
    found.sort((a, b) => a.changed - b.changed || (a.file < b.file ? -1 : 1));
    this.total = found.reduce((sum, { bytes }) => sum + bytes, 0);
    return new Map(found.map(({ file, bytes }) => [file, bytes]));
  }
}

async function remove(file: string): Promise<'removed' | 'gone' | 'kept'> {
  try {
    await rm(file);
    return 'removed';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'gone' : 'kept';
  }
}

async function sizeOf(file: string): Promise<{ file: string; bytes: number; changed: number } | undefined> {
  const found = await stat(file).catch(() => undefined);
  return found && { file, bytes: onDisk(found.size), changed: found.mtimeMs };
}

async function foldersIn(folder: string): Promise<string[]> {
  return (await entriesOf(folder)).filter((entry) => entry.isDirectory()).map(({ name }) => path.join(folder, name));
}

/** A folder that does not exist has no entries. */
async function entriesOf(folder: string) {
  return await readdir(folder, { withFileTypes: true }).catch(() => []);
}
