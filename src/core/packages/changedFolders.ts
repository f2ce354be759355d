/**
 * Reads the words around a launcher: the folders to which a shell changes first, and launchers
 * behind a program that the table does not know (S1o). It errs on the side of more folders, because
 * each only adds files that a person approves.
 */
import path from 'node:path';
import { commandWords } from '../base/commandWords.js';

interface ChangedFolders {
  /** Relative to the folder of the launch, or absolute. */
  readonly folders: readonly string[];
  /** False if the words may lead to another folder too. */
  readonly areAll: boolean;
}

const withValue = /^(?:cd|pushd|-[CD]|--(?:chdir|cwd|directory))$/;
const withJoinedValue = /^(?:-[CD]|--(?:chdir|cwd|directory)=)(.+)$/s;
/** The home, a former folder, a variable, a pattern or a reference; a shell may search `CDPATH`. */
const otherFolder = /^(?:$|[-~])|[$`*?[%\0]/;
const leadsElsewhere = /^(?:popd|CDPATH=.*|--chroot(?:=.*)?)$/s;
const mostFolders = 32;
const mostLists = 100;
const longestScript = 100_000;

/** Returns the words of a launch, and the words of each script in them. */
export function wordLists(words: readonly string[]): readonly (readonly string[])[] {
  const lists = [words];
  for (const list of lists) {
    for (const word of list) {
      if (lists.length === mostLists) return lists;
      const isScript = /\s/.test(word) && word.length < longestScript;
      if (isScript) lists.push(scriptWords(word));
    }
  }
  return lists;
}

function scriptWords(script: string): string[] {
  const spaced = script.replace(/[;&|(){}<>`\n]/g, ' ');
  return commandWords(spaced) ?? spaced.split(/\s+/);
}

/** @param isLauncher ends a list, because the words behind it are those of the launcher */
export function changedFolders(
  lists: readonly (readonly string[])[],
  isLauncher: (word: string) => boolean,
): ChangedFolders {
  const folders = new Set<string>();
  let areAll = true;
  let at = '.';
  for (const words of lists) {
    const end = words.findIndex(isLauncher);
    const before = end < 0 ? words : words.slice(0, end);
    for (const [index, word] of before.entries()) {
      const to = withValue.test(word) ? (before[index + 1] ?? '') : withJoinedValue.exec(word)?.[1];
      if (leadsElsewhere.test(word)) areAll = false;
      if (to === undefined) continue;
      if (otherFolder.test(to) || folders.size >= mostFolders) {
        areAll = false;
        continue;
      }
      at = path.isAbsolute(to) ? to : path.join(at, to);
      folders.add(to).add(at);
    }
  }
  return { folders: [...folders], areAll };
}
