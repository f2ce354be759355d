/**
 * Reads the file of `envFile` (C2b). A config file may come from anyone, so the file has to be in
 * its folder.
 */
import { isInside, realPath } from '../base/paths.js';
import { readTextFileSync } from '../base/textFile.js';
import type { EnvFileReading } from '../config/model.js';
import { reasonOf } from './watchedFile.js';

/** More than the variables of a program may take on most systems. */
const largestEnvFile = 64 * 1024;

export function readEnvFile(file: string, within: string | undefined): EnvFileReading {
  const real = realPath(file);
  if (within !== undefined && !isInside(real, within)) {
    return { kind: 'refused', reason: `it is outside ${within}, links followed` };
  }
  try {
    return { kind: 'text', text: readTextFileSync(real, largestEnvFile) };
  } catch (error) {
    return { kind: 'refused', reason: reasonOf(error) ?? 'it does not exist' };
  }
}
