/** Applies transforms (N3) and checks names (N4). Names are never repaired, cut or numbered. */
import type { Replacement, Transform } from '../config/model.js';

export const nameRule = '^[a-zA-Z0-9_-]{1,64}$';
const validName = new RegExp(nameRule);

/** A longer name, of a tool or a prompt, is dropped before anything looks at it (S2). */
export const longestMatched = 1024;

export function isValidName(name: string): boolean {
  return validName.test(name);
}

export function transformName(name: string, transforms: readonly Transform[]): string {
  return transforms.reduce((now, transform) => {
    if (transform.kind === 'suffix') return now + transform.add;
    if (transform.kind === 'replace') return transform.pairs.reduce(replaced, now);
    const isRemoved = transform.kind === 'replacePrefix' && now.startsWith(transform.remove);
    return transform.add + (isRemoved ? now.slice(transform.remove.length) : now);
  }, name);
}

/** A longer name is invalid already, and each replacement could make it longer (S2). */
function replaced(name: string, [from, to]: Replacement): string {
  return name.length > longestMatched ? name : name.replaceAll(from, () => to);
}
