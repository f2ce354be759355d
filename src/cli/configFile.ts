/**
 * Reads the config files that count in a folder (C5) once. What is wrong with the reading is a problem like any other. A file
 * that a command writes again keeps its byte order mark, and is read as `wholeUtf8`.
 */
import { homedir } from 'node:os';
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
import { sourceFiles } from '../core/config/sources.js';

interface ConfigFiles {
  /** The sources, the highest first, which is the folder's `.minds/mcp.yaml`. */
  readonly sources: readonly SourceText[];
  readonly problems: readonly Problem[];
}

/** @param folder absolute */
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

/** Returns undefined where there is no such file. Throws as `readTextFileSync` does. */
export function textIfThere(file: string, decode: Decode): string | undefined {
  try {
    return readTextFileSync(file, largestForeignFile, decode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
