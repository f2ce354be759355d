/**
 * Whether two paths lead to one place. Nothing else compares paths that come from different hands: the editor writes
 * `c:\`, Windows `C:\`, and a folder may be reached by a link.
 */
import { realpathSync } from 'node:fs';
import path from 'node:path';

/** The path without links and in the system's own spelling; what does not exist stays as it is written. */
export function realPath(file: string): string {
  const full = path.resolve(file);
  try {
    return realpathSync.native(full);
  } catch {
    const parent = path.dirname(full);
    return parent === full ? full : path.join(realPath(parent), path.basename(full));
  }
}

export function samePath(a: string, b: string): boolean {
  return a === b || comparable(a) === comparable(b);
}

/** Whether `file` lies below `folder`, however deep. */
export function isBelow(file: string, folder: string): boolean {
  const relative = path.relative(comparable(folder), comparable(file));
  return relative !== '' && relative.split(path.sep, 1)[0] !== '..' && !path.isAbsolute(relative);
}

/** On Windows, two spellings of what does not exist yet would be one file too. */
function comparable(file: string): string {
  const real = realPath(file);
  return process.platform === 'win32' ? real.toLowerCase() : real;
}
