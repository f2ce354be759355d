import path from 'node:path';
import { isBelow } from '../base/paths.js';
import type { FileContent } from '../base/textFile.js';
import { lockPath } from '../config/sources.js';

export function lockFileOf(folder: string): string {
  return path.join(folder, lockPath);
}

/** A lock is a file of its folder: a link out of it could differ for each person (S3d). */
export function lockWithin(folder: string, content: FileContent): FileContent {
  if (content.kind !== 'text' || isBelow(lockFileOf(folder), folder)) return content;
  return { kind: 'unreadable', reason: 'links lead out of its folder' };
}
