/** Applies transforms (N3) and checks names (N4). Names are never repaired, cut or numbered. */
import { assertNever } from '../base/assertNever.js';
import type { Transform } from '../config/model.js';

export const nameRule = '^[a-zA-Z0-9_-]{1,64}$';
const validName = new RegExp(nameRule);

/** A longer name, of a tool or a prompt, is dropped before anything looks at it (S2). */
export const longestMatched = 1024;

export function isValidName(name: string): boolean {
  return validName.test(name);
}

export function transformName(name: string, transforms: readonly Transform[]): string {
  return transforms.reduce(applyTransform, name);
}

function applyTransform(name: string, transform: Transform): string {
  switch (transform.kind) {
    case 'prefix':
      return transform.add + name;
    case 'replacePrefix':
      return transform.add + (name.startsWith(transform.remove) ? name.slice(transform.remove.length) : name);
    case 'suffix':
      return name + transform.add;
    default:
      return assertNever(transform);
  }
}
