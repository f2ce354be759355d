/**
 * Reads the config files of a folder (C5) once. An unreadable file is a problem. If a command writes a file again, it reads the
 * file as `wholeUtf8` and keeps its byte order mark.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import {
  FileRefused,
  largestConfigFile,
  largestForeignFile,
  readTextFileSync,
  type Decode,
} from '../core/base/textFile.js';
import { fileUnreadable } from '../core/config/problems.js';
import type { Problem } from '../core/base/problem.js';
import type { SourceText } from '../core/config/model.js';
import { mindsPath, sourceFiles } from '../core/config/sources.js';

interface ConfigFiles {
  /** The sources by precedence; the first is the folder's `.minds/mcp.yaml`. */
  readonly sources: readonly SourceText[];
  readonly problems: readonly Problem[];
}

/** @param folder the absolute path */
export function readConfigFiles(folder: string): ConfigFiles {
  const problems: Problem[] = [];
  const sources = sourceFiles([folder], homedir()).map((source): SourceText => {
    try {
      return { ...source, text: readTextFileSync(source.file, largestConfigFile) };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ENOTDIR') {
        problems.push(fileUnreadable(source.file, error instanceof FileRefused ? error.reason : message));
      }
      return { ...source, text: undefined };
    }
  });
  return { sources, problems };
}

/**
 * Returns the nearest folder with a config file from this one upwards, at most to the root of the repository. By default
 * it is this one. Outside a repository it is always this one, because others may write a folder above, such as `/tmp`.
 */
export function nearestConfigFolder(from: string): string {
  let nearest: string | undefined;
  for (let folder = from; ; folder = path.dirname(folder)) {
    if (existsSync(path.join(folder, mindsPath))) nearest ??= folder;
    if (existsSync(path.join(folder, '.git'))) return nearest ?? from;
    if (path.dirname(folder) === folder) return from;
  }
}

/** Returns undefined if there is no such file. Throws as `readTextFileSync` does. */
export function textIfThere(file: string, decode: Decode): string | undefined {
  try {
    return readTextFileSync(file, largestForeignFile, decode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
