/**
 * Only this compares paths from different sources: the editor writes `c:\`, Windows `C:\`, and a
 * folder may be a link.
 */
import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { unlessThrown } from './unlessThrown.js';

/** The file that entries of other agents start (G6e). */
export function launcherPath(home: string): string {
  return path.join(home, '.minds', 'bin', 'mcp-toolsets.js');
}

/**
 * A missing part stays as written. A link to a missing target is followed too, because a write
 * follows it.
 */
export function realPath(file: string, hops = 16): string {
  const full = path.resolve(file);
  const found = existing(full);
  if (found !== undefined) return found;
  // From the root down, because the look-up ends at the first missing part. So a long path costs
  // one look.
  let { root: real } = path.parse(full);
  const names = full.slice(real.length).split(path.sep);
  for (const [index, name] of names.entries()) {
    const next = path.join(real, name);
    const below = existing(next);
    if (below === undefined) {
      const rest = names.slice(index + 1);
      const target = hops > 0 ? linkTarget(next) : undefined;
      return target === undefined
        ? path.join(next, ...rest)
        : realPath(path.join(target, ...rest), hops - 1);
    }
    real = below;
  }
  return real;
}

function existing(file: string): string | undefined {
  return unlessThrown(() => realpathSync.native(file));
}

/** Returns the path of an open file, or undefined on systems without that information. */
export function openedPath(descriptor: number): string | undefined {
  return unlessThrown(() => readlinkSync(`/proc/self/fd/${descriptor}`));
}

function linkTarget(file: string): string | undefined {
  return unlessThrown(() => path.resolve(path.dirname(file), readlinkSync(file)));
}

/**
 * True if neither the file nor a link in its place belongs to another user. Windows has no such
 * owners.
 */
export function isPersons(file: string): boolean {
  const own = process.getuid?.();
  if (own === undefined) return true;
  const isFree = (look: typeof statSync) =>
    [own, 0].includes(look(file, { throwIfNoEntry: false })?.uid ?? own);
  return unlessThrown(() => isFree(lstatSync) && isFree(statSync)) ?? false;
}

export function samePath(a: string, b: string): boolean {
  return a === b || comparable(a) === comparable(b);
}

export function sameAs(file: string): (other: string) => boolean {
  const known = new Map<string, boolean>();
  return (other) => {
    const same = known.get(other) ?? samePath(other, file);
    known.set(other, same);
    return same;
  };
}

export function isBelow(file: string, folder: string): boolean {
  return isInside(file, folder) && !samePath(file, folder);
}

/** True for the folder itself too. */
export function isInside(file: string, folder: string): boolean {
  return leadsDown(comparable(folder), comparable(file));
}

/** True if one real path is another one or below it. */
export function leadsDown(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return relative.split(path.sep, 1)[0] !== '..' && !path.isAbsolute(relative);
}

/** Returns the folder and all above it. */
export function foldersUp(folder: string): string[] {
  const folders = [folder];
  for (let at = folder; at !== path.dirname(at); at = path.dirname(at))
    folders.push(path.dirname(at));
  return folders;
}

/** On Windows, two spellings of a missing file also mean one file. */
function comparable(file: string): string {
  const real = realPath(file);
  return process.platform === 'win32' ? real.toLowerCase() : real;
}

/** Writes one word of a command line for the shell of this system. */
export function shellWord(word: string): string {
  if (/^[\w./:\\-]+$/.test(word)) return word;
  return process.platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** As Git and URLs write a path. */
export function slashed(file: string): string {
  return file.replaceAll(path.sep, '/');
}
