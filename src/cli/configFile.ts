/** The config file of a folder, read once. What is wrong with the reading is a problem like any other. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Problem } from '../core/base/problem.js';
import { startOfFile, type SourceText } from '../core/config/model.js';

export interface ConfigFile {
  readonly source: SourceText;
  readonly problems: readonly Problem[];
}

/** @param folder absolute */
export function readConfigFile(folder: string): ConfigFile {
  const file = path.join(folder, '.minds', 'mcp.yaml');
  try {
    return { source: { file, folder, text: readFileSync(file, 'utf8') }, problems: [] };
  } catch (error) {
    const source = { file, folder, text: undefined };
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { source, problems: [] };
    const problem: Problem = {
      code: 'file-unreadable',
      severity: 'error',
      message: `The config file cannot be read: ${code === 'EISDIR' ? 'it is a folder' : message}.`,
      fix: 'Make it a file that you may read.',
      place: { file, range: startOfFile },
    };
    return { source, problems: [problem] };
  }
}
