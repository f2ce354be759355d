/**
 * Tells whether two paths lead to one place. Nothing else compares paths that come from different hands: the editor
 * writes `c:\`, Windows `C:\`, and a folder may be reached by a link.
 */
import { readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';

/**
 * Returns the path without links and in the system's own spelling; what does not exist stays as it is written. A link
 * whose target is missing is followed too, because it is when the file is written.
 */
export function realPath(file: string, hops = 16): string {
  const full = path.resolve(file);
  try {
    return realpathSync.native(full);
  } catch {
    const target = hops > 0 ? linkTarget(full) : undefined;
    if (target !== undefined) return realPath(target, hops - 1);
    const parent = path.dirname(full);
    return parent === full ? full : path.join(realPath(parent, hops), path.basename(full));
  }
}

/** Where an open file is; undefined where the system does not tell. */
export function openedPath(descriptor: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return undefined;
  }
}

function linkTarget(file: string): string | undefined {
  try {
    return path.resolve(path.dirname(file), readlinkSync(file));
  } catch {
    return undefined;
  }
}

export function samePath(a: string, b: string): boolean {
  return a === b || comparable(a) === comparable(b);
}

/** Returns whether a path leads to `file`. Each spelling is looked up on the disk once. */
export function sameAs(file: string): (other: string) => boolean {
  const known = new Map<string, boolean>();
  return (other) => {
    const same = known.get(other) ?? samePath(other, file);
    known.set(other, same);
    return same;
  };
}

/** Says whether `file` lies below `folder`, however deep. */
export function isBelow(file: string, folder: string): boolean {
  const relative = path.relative(comparable(folder), comparable(file));
  return relative !== '' && relative.split(path.sep, 1)[0] !== '..' && !path.isAbsolute(relative);
}

/** On Windows, two spellings of what does not exist yet would be one file too. */
function comparable(file: string): string {
  const real = realPath(file);
  return process.platform === 'win32' ? real.toLowerCase() : real;
}
