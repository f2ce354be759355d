/**
 * Reads `envFile` (C2): a file of variables in the form of `.env`, as other editors have it. `ConfigDeps`
 * reads the file. No value is quoted in a problem, because it may be a secret.
 */
import { parse } from 'dotenv';
import path from 'node:path';
import type { EntryReader } from './entryReader.js';
import type { EnvFile } from '../model.js';
import * as problems from '../problems.js';
import type { MapEntry } from '../../yaml/valueNodes.js';

/** The parser takes time in the square of the length of such a run. */
const longestBlank = 1000;
const blankRun = new RegExp(`\\s{${longestBlank}}`);

/**
 * @param folder the base of a relative path
 * @param starts true if the server starts, so the file must exist
 */
export function readEnvFile(
  reader: EntryReader,
  entry: MapEntry | undefined,
  folder: string,
  starts: boolean,
): EnvFile | undefined {
  const fix = 'Write the path of a file, for example `envFile: .env`.';
  const written = reader.string(entry, fix);
  if (!entry || written === undefined) return undefined;
  if (written.trim() === '') return reader.wrong(entry, 'the path of a file', fix, 'an empty text');
  const file = path.resolve(folder, written);
  if (!starts) return { file, values: new Map() };
  const unusable = (reason: string): undefined =>
    reader.note(problems.envFileUnusable(reader.atValue(entry), written, file, reason));
  const { origin = 'folder' } = reader.source;
  // A workspace must not cause reads of other files (S1a). The user's own file may name any.
  const reading = reader.deps.envFile?.(file, origin === 'user' ? undefined : folder);
  if (reading === undefined) return { file, values: new Map() };
  if (reading.kind === 'refused') return unusable(reading.reason);
  if (blankRun.test(reading.text)) return unusable(`it has ${longestBlank} blanks or empty lines in a row`);
  const values = new Map(Object.entries(parse(reading.text)));
  if ([...values.values()].some((value) => value.includes('\0'))) return unusable('it has a NUL character in a value');
  return { file, values };
}
