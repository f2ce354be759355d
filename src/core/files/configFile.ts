/** Access to a folder's config file for programs that add servers (G7). */
import path from 'node:path';
import { largestConfigFile, readTextFile, wholeUtf8 } from '../base/textFile.js';
import { mindsPath } from '../config/sources.js';
import { leadsOutside, writeInside, type Change } from './realFiles.js';

export interface ConfigFileAccess {
  readonly file: string;
  readonly folder: string;
  /** Resolves to undefined without a file. Rejects as `readTextFile` does. */
  read(): Promise<string | undefined>;
  write(change: Change): void;
  /** Returns a sentence if links lead out of the folder. Such a file is never written. */
  outside(): string | undefined;
  blocked(): string | undefined;
}

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
