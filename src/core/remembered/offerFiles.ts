/**
 * Keeps the last lists of servers in the workspace's storage, one file for each launch. All are
 * read when the window opens. Invariants: the size of the folder is bounded; a file is whole or
 * absent.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { launchOfFile, putLaunchFile } from '../base/privateFile.js';
import { readTextFile } from '../base/textFile.js';
import type { RememberedOffer } from '../reconcile/remembered.js';
import { keptText, longestKept, readKept } from './keptOffer.js';

const mebibyte = 1024 * 1024;
const mostFiles = 200;
const mostBytes = 32 * mebibyte;
/** UTF-8 takes up to three bytes for a unit of JavaScript's texts. */
const largestFile = 3 * longestKept;

export class OfferFiles {
  private readonly toWrite = new Map<string, () => Promise<string | undefined>>();
  private writing: Promise<void> | undefined;

  private constructor(
    private readonly folder: string,
    private readonly onFailure: (error: unknown) => void,
    /** A text until its offer is recalled. */
    private readonly offers: Map<string, RememberedOffer | string | undefined>,
  ) {}

  /** Reads the folder. Never rejects: a file with an error is skipped. */
  static async open(folder: string, onFailure: (error: unknown) => void): Promise<OfferFiles> {
    const names = await readdir(folder).catch(() => []);
    const files = await Promise.all(
      names.map(async (name) => {
        const file = path.join(folder, name);
        const stats = await stat(file).catch(() => undefined);
        return {
          launch: launchOfFile(name),
          file,
          size: stats?.size ?? 0,
          at: stats?.mtimeMs ?? 0,
        };
      }),
    );
    const texts = new Map<string, RememberedOffer | string | undefined>();
    let left = mostBytes;
    const kept = files
      .filter(({ launch, size }) => launch !== undefined && size <= largestFile)
      .sort((a, b) => b.at - a.at)
      .slice(0, mostFiles)
      .filter(({ size }) => (left -= size) >= 0);
    await Promise.all(
      kept.map(async ({ launch, file }) => {
        const text = await readTextFile(file, largestFile).catch(() => undefined);
        if (launch !== undefined && text !== undefined) texts.set(launch, text);
      }),
    );
    const surplus = files.filter((file) => !kept.includes(file));
    await Promise.all(surplus.map(({ file }) => rm(file, { force: true }).catch(() => undefined)));
    return new OfferFiles(folder, onFailure, texts);
  }

  recall(launch: string): RememberedOffer | undefined {
    const kept = this.offers.get(launch);
    if (typeof kept !== 'string') return kept;
    const offer = readKept(kept);
    this.offers.set(launch, offer);
    return offer;
  }

  remember(launch: string, offer: RememberedOffer, redact: (text: string) => string): void {
    this.offers.set(launch, offer);
    this.write(launch, () => keptText(offer, redact));
  }

  forget(launch: string): void {
    if (this.offers.delete(launch)) this.write(launch, () => Promise.resolve(undefined));
  }

  async settled(): Promise<void> {
    await this.writing;
  }

  private write(launch: string, text: () => Promise<string | undefined>): void {
    this.toWrite.set(launch, text);
    // No caller waits for it, and a server that has just started goes first.
    this.writing ??= new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.writeAll())
      .catch(this.onFailure)
      .finally(() => (this.writing = undefined));
  }

  private async writeAll(): Promise<void> {
    // This also reaches entries that are added on the way.
    for (const [launch, make] of this.toWrite) {
      this.toWrite.delete(launch);
      await make()
        .then((text) => putLaunchFile(this.folder, launch, text))
        .catch(this.onFailure);
    }
  }
}
