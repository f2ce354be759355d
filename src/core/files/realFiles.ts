/** Finds where files really are, with links followed (S1a): nothing is written outside the folder that it names. */
import { isBelow, realPath, samePath } from '../base/paths.js';

/** Returns a sentence that says why a file must not be written, because links lead out of its folder; else undefined. */
export function leadsOutside(folder: string, file: string): string | undefined {
  if (isBelow(file, folder)) return undefined;
  return `${file} is not written: links lead to ${realPath(file)}, which is outside ${folder}.`;
}

/** Says whether a folder is inside one of these, links followed. */
export function isInsideAny(folder: string, folders: readonly string[]): boolean {
  return folders.some((other) => samePath(folder, other) || isBelow(folder, other));
}
