/** A folder for one test, its contents, and a log with a memory. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Log } from '../../../src/core/base/log.js';
import type { ArtifactContent } from '../../../src/core/results/artifacts.js';

const made: string[] = [];

export function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-results-'));
  made.push(folder);
  return folder;
}

/** For `afterEach`. */
export function removeFolders(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** Returns the paths of the files below a folder, relative and sorted. */
export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

export function content(...pieces: (string | Buffer)[]): ArtifactContent {
  return { extension: 'txt', pieces: pieces.map((piece) => Buffer.from(piece as string)) };
}

export class Lines implements Log {
  readonly lines: string[] = [];

  write(level: string, message: string): void {
    this.lines.push(`${level}: ${message}`);
  }
}
