import { parseArgs } from 'node:util';
import { roundingError } from '../core/base/exactNumbers.js';
import { isObject } from '../core/base/isObject.js';

const flag = { type: 'boolean', default: false } as const;
const word = { type: 'string' } as const;
const patterns = { type: 'string', multiple: true } as const;

const options = {
  folder: { ...word, short: 'C' },
  json: flag,
  debug: flag,
  start: flag,
  pinned: flag,
  latest: flag,
  'max-tokens': word,
  answers: word,
  format: word,
  use: flag,
  by: word,
  write: flag,
  local: flag,
  'no-local': flag,
  'no-browser': flag,
  each: flag,
  port: word,
  'token-file': word,
  'approve-edits': flag,
  approve: flag,
  yes: flag,
  'hold-changed': flag,
  'max-instances': word,
  server: word,
  agent: word,
  failed: flag,
  since: word,
  last: word,
  follow: flag,
  allow: patterns,
  ask: patterns,
  deny: patterns,
  help: { ...flag, short: 'h' },
  version: flag,
} as const;

/** The options of all commands. Files are relative to the working directory. */
export type Options = ReturnType<typeof parseCommandLine>['values'];

export type Words = readonly string[];

/** Throws with a message for a wrong command line. Only its first sentence is about the mistake. */
export function parseCommandLine(args: string[]) {
  return parseArgs({
    args,
    allowPositionals: true,
    options,
  });
}

export function givenOptions(values: Options): (keyof Options)[] {
  const names = Object.keys(options) as (keyof Options)[];
  return names.filter((name) => values[name] !== undefined && values[name] !== false);
}

/**
 * Returns the JSON object of a command line or a file, or why the text is not such an object.
 * @param example an object
 */
export function readObject(
  what: string,
  json: string,
  example = '{"text":"hello"}',
): Record<string, unknown> | string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return `${what} are not JSON: ${(error as Error).message}`;
  }
  if (!isObject(value)) return `${what} are not a JSON object, such as ${example}.`;
  const rounded = roundingError(json);
  return rounded === undefined
    ? value
    : `${what} cannot be sent as they are: ${rounded} Write it as a text, if the server takes one.`;
}
