import { isObject } from '../core/base/isObject.js';

/** Returns the JSON object of a command line, or why the text is not a JSON object. */
export function readObject(what: string, json: string): Record<string, unknown> | string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return `${what} are not JSON: ${(error as Error).message}`;
  }
  if (isObject(value)) return value;
  return `${what} are not a JSON object, such as {"text":"hello"}.`;
}
