/** Reads JSON from a command line. */

/** Returns the object, or a sentence that says why the text is none. */
export function readObject(what: string, json: string): Record<string, unknown> | string {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return `${what} are not JSON: ${(error as Error).message}`;
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  return `${what} are not a JSON object, such as {"text":"hello"}.`;
}
