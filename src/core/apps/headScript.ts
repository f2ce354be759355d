/**
 * Puts a script before everything else in the page of an app. Pages are foreign and large, so the time must stay linear
 * in their length. Everything is pure.
 */

/** @param script must not hold the end of a script element */
export function withHeadScript(page: string, script: string): string {
  const at = endOf(page, /<head/i) ?? endOf(page, /<html/i) ?? endOf(page, /<!doctype/i) ?? 0;
  return `${page.slice(0, at)}<script>${script}</script>${page.slice(at)}`;
}

/** If the first such tag is not closed, no later one is. */
function endOf(page: string, tag: RegExp): number | undefined {
  const from = page.search(tag);
  const end = from < 0 ? -1 : page.indexOf('>', from);
  return end < 0 ? undefined : end + 1;
}
