/** The config file of a folder as something that programs add servers to (G7). */
import path from 'node:path';
import { largestConfigFile, readTextFile, wholeUtf8 } from '../base/textFile.js';
import { mindsPath } from '../config/sources.js';
import { leadsOutside, writeInside, type Change } from './realFiles.js';

/** The file that new servers are written to. */
export interface ConfigFileAccess {
  readonly file: string;
  readonly folder: string;
  /** Resolves to undefined where there is none yet. Rejects as `readTextFile` does. */
  read(): Promise<string | undefined>;
  /** Throws as `writeInside` does. */
  write(change: Change): void;
  /** Returns a sentence if links lead out of the folder, so that it is never written. */
  outside(): string | undefined;
  /** Returns a sentence that says why it must not be written now. */
  blocked(): string | undefined;
}

/** @param folder absolute */
export function configFileOf(
  folder: string,
  blocked: (file: string) => string | undefined = () => undefined,
): ConfigFileAccess {
  const file = path.join(folder, mindsPath);
  return {
    file,
    folder,
    read: () =>
      readTextFile(file, largestConfigFile, wholeUtf8).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
        throw error;
      }),
    outside: () => leadsOutside(folder, file),
    write: (change) => writeInside(folder, file, change),
    blocked: () => blocked(file),
  };
}
