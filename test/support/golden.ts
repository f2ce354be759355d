/**
 * Compares a text with a reviewed file. `UPDATE_GOLDEN=1` rewrites the files, and a person then
 * reviews the difference.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export function assertGolden(file: string, actual: string): void {
  if (process.env['UPDATE_GOLDEN'] === '1') {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, actual);
    return;
  }
  assert.ok(existsSync(file), `${file} does not exist; UPDATE_GOLDEN=1 writes it`);
  assert.equal(actual, readFileSync(file, 'utf8'), `${file} differs; UPDATE_GOLDEN=1 rewrites it`);
}
