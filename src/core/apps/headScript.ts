/**
 * Puts a script before everything that the page of an app does. Pages are foreign, and up to the limit of their size, so
 * none may take longer than its length asks for. Everything here is pure.
 */

/** @param script must not hold the end of a script element */
export function withHeadScript(page: string, script: string): string {
  const at = endOf(page, /<head/i) ?? endOf(page, /<html/i) ?? endOf(page, /<!doctype/i) ?? 0;
  return `${page.slice(0, at)}<script>${script}</script>${page.slice(at)}`;
}

/** Where the first such tag is not closed, nothing after it is. */
function endOf(page: string, tag: RegExp): number | undefined {
  const from = page.search(tag);
  const end = from < 0 ? -1 : page.indexOf('>', from);
  return end < 0 ? undefined : end + 1;
}
