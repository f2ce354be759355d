import { isObject, mapped } from '../base/isObject.js';
import { escapeRegExp } from '../base/text.js';

/**
 * No path and no argument of a program has the first character. The slash keeps the value from
 * passing for a word (S1e).
 */
const mark = '\0/';

/**
 * `..` at the end of a path or before more of it. An option may come first (`-I../lib`), and some
 * programs read URLs.
 */
const parent = /(?<!\.)(?:\.|%2e){2}(?![\w.])/i;

/**
 * Marks each path of the root: equal copies differ only in it. Undefined if a path may lead
 * elsewhere from another root.
 */
export function relocated<T>(value: T, root: string): T | undefined {
  const atRoot = new RegExp(`(?<=^|[=:;,])${escapeRegExp(root)}(?=$|[/\\\\:;,])`, 'g');
  let leadsOut = false;
  const moved = (one: unknown): unknown => {
    if (typeof one === 'string') {
      leadsOut ||= parent.test(one);
      return one.replaceAll('\0', '\0\0').replace(atRoot, () => mark);
    }
    if (Array.isArray(one)) return one.map(moved);
    if (one instanceof Map) return new Map([...one].map(([key, each]) => [key, moved(each)]));
    return isObject(one) ? mapped(one, moved) : one;
  };
  const copy = moved(value) as T;
  return leadsOut ? undefined : copy;
}
