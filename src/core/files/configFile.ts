/** Access to a folder's config file for programs that add servers (G7). */
import path from 'node:path';
import { largestConfigFile, readTextFile } from '../base/textFile.js';
import { mindsPath } from '../config/sources.js';
import { leadsOutside, writeInside, type Change } from './realFiles.js';

export type ConfigFileAccess = ReturnType<typeof configFileOf>;

export function configFileOf(
  folder: string,
  blocked: (file: string) => string | undefined = () => undefined,
) {
  const file = path.join(folder, mindsPath);
  return {
    file,
    folder,
    /** Resolves to undefined without a file. Rejects as `readTextFile` does. */
    read: (): Promise<string | undefined> =>
      readTextFile(file, largestConfigFile).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
        throw error;
      }),
    /** Returns a sentence if links lead out of the folder. Such a file is never written. */
    outside: (): string | undefined => leadsOutside(folder, file),
    write: (change: Change): void => writeInside(folder, file, change),
    blocked: (): string | undefined => blocked(file),
  };
}
