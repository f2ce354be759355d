/**
 * Finds numbers that would not be sent as a person wrote them: JavaScript rounds whole numbers beyond 2^53, and a tool would be
 * called for another thing than the one that was meant. Pure; knows neither a page nor the editor.
 */

/** Texts, which are passed over, and numbers. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Returns a sentence about the first such number. @param json A text that is JSON, or a number alone. */
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
