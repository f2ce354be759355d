import { parseArgs } from 'node:util';
import { roundingError } from '../core/base/exactNumbers.js';
import { isObject } from '../core/base/isObject.js';

const options = {
  folder: { type: 'string', short: 'C' },
  json: { type: 'boolean', default: false },
  debug: { type: 'boolean', default: false },
  start: { type: 'boolean', default: false },
  answers: { type: 'string' },
  format: { type: 'string' },
  write: { type: 'boolean', default: false },
  port: { type: 'string' },
  'token-file': { type: 'string' },
  'approve-edits': { type: 'boolean', default: false },
  approve: { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
  'hold-changed': { type: 'boolean', default: false },
  server: { type: 'string' },
  agent: { type: 'string' },
  failed: { type: 'boolean', default: false },
  since: { type: 'string' },
  last: { type: 'string' },
  follow: { type: 'boolean', default: false },
  allow: { type: 'string', multiple: true },
  ask: { type: 'string', multiple: true },
  deny: { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h', default: false },
  version: { type: 'boolean', default: false },
} as const;

/** The options of all commands. Files are relative to the working directory. */
export type Options = ReturnType<typeof parseCommandLine>['values'];

export type Words = readonly string[];

/** Throws with a sentence for a wrong command line. */
export function parseCommandLine(args: string[]) {
  return parseArgs({ args, allowPositionals: true, options });
}

export function givenOptions(values: Options): (keyof Options)[] {
  const names = Object.keys(options) as (keyof Options)[];
  return names.filter((name) => values[name] !== undefined && values[name] !== false);
}

/** Returns the JSON object of a command line or a file, or why the text is not such an object. @param example an object */
export function readObject(what: string, json: string, example = '{"text":"hello"}'): Record<string, unknown> | string {
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
