/**
 * Finds numbers that JavaScript cannot represent. A call with a rounded id would act on another
 * thing. Pure.
 */

/**
 * Strings, which `roundingError` skips, and numbers. A string without its end goes to the end, so
 * that reading stays linear.
 */
const tokens = /"(?:[^"\\]|\\.)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Returns a sentence about the first such number. @param json a JSON text, which may be only a
 * number
 */
export function roundingError(json: string): string | undefined {
  for (const [token] of json.matchAll(tokens)) {
    if (token.startsWith('"')) continue;
    const sent = Number(token);
    const isWhole = /^-?\d+$/.test(token);
    if (!Number.isFinite(sent) || (isWhole && BigInt(token) !== BigInt(sent)))
      return `${token} would be sent as another number.`;
  }
  return undefined;
}
