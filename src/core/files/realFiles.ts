/**
 * The only way to write a file in a folder of others (S1c). `test/unit/writers.test.ts` refuses
 * another way.
 */
import { english } from '../base/language.js';
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
  type BigIntStats,
} from 'node:fs';
import path from 'node:path';
import { isBelow, openedPath, realPath } from '../base/paths.js';
import { isLocalFile } from '../config/sources.js';

/**
 * Returns why a file must not be written: links lead out of its folder, a layer is a link itself, or
 * it is not a regular file with one name.
 */
export function leadsOutside(folder: string, file: string): string | undefined {
  if (!isBelow(file, folder)) {
    return english`${file} is not written: links lead to ${realPath(file)}, which is outside ${folder}.`;
  }
  // The link of a layer (C7) could lead to a file that everyone has.
  if (isLocalFile(file) && lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) {
    return english`${file} is not written: it is a link to ${realPath(file)}. Change that file yourself.`;
  }
  const there = lstatSync(realPath(file), { bigint: true, throwIfNoEntry: false });
  if (!there) return undefined;
  // A write into a pipe waits for its reader.
  if (!there.isFile()) return english`${file} is not written: it is not a regular file.`;
  if (!hasOtherNames(there)) return undefined;
  return english`${file} is not written: it is a hard link, so it may also be a file outside ${folder}. Replace it with a copy.`;
}

export interface Change {
  /** The text behind the planned change, or an empty text for a missing file. */
  readonly before: string;
  readonly after: string;
}

/**
 * Throws as `node:fs` does, for links out of the folder, and after a change by another program. The
 * opened file is checked before any change. A link placed in between can cause an empty file or
 * folder elsewhere. On Linux it changes no existing file, because Linux reports the path of an open
 * file. Elsewhere an attacker would have to swap links at the right moments.
 */
export function writeInside(folder: string, file: string, { before, after }: Change): void {
  refuseOutside(folder, file);
  const root = realPath(folder);
  const real = realPath(file);
  mkdirSync(path.dirname(real), { recursive: true });
  // Windows has neither flag. Without the second, a pipe would be waited for.
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>;
  const opened = openSync(
    real,
    constants.O_RDWR | constants.O_CREAT | O_NOFOLLOW | O_NONBLOCK,
    0o666,
  );
  try {
    const stats = fstatSync(opened, { bigint: true });
    refuseOutside(folder, file);
    const there = lstatSync(realPath(file), { bigint: true });
    const isSame = stats.ino === there.ino && stats.dev === there.dev;
    const isInside = openedPath(opened)?.startsWith(root + path.sep) ?? true;
    if (!stats.isFile() || hasOtherNames(stats) || !isSame || !isInside) {
      throw new Error(
        english`${file} is not written: it is not a regular file, or was replaced at this moment.`,
      );
    }
    if (!says(opened, before))
      throw new Error(english`${file} is not written: another program changed it just now.`);
    try {
      overwrite(opened, after);
    } catch (error) {
      // A full disk still has room for the former text.
      overwrite(opened, before);
      throw error;
    }
  } finally {
    closeSync(opened);
  }
}

function says(opened: number, text: string): boolean {
  const expected = Buffer.from(text);
  const found = Buffer.alloc(expected.length + 1);
  return (
    readSync(opened, found, 0, found.length, 0) === expected.length &&
    expected.equals(found.subarray(0, -1))
  );
}

/** A reader in between finds no empty file. */
function overwrite(opened: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) at += writeSync(opened, bytes, at, bytes.length - at, at);
  ftruncateSync(opened, bytes.length);
}

export function refuseOutside(folder: string, file: string): void {
  const why = leadsOutside(folder, file);
  if (why !== undefined) throw new Error(why);
}

function hasOtherNames(stats: BigIntStats): boolean {
  return stats.isFile() && stats.nlink > 1n;
}
