/** Writes an exact version behind the name of a package of npm. Other versions are not known here. */
import { escapeRegExp } from '../base/text.js';
import type { NamedPackage } from '../config/model.js';
import { launchers } from './launchers.js';
import { npmVersion } from './package.js';

export function isOfNpm({ launcher }: Pick<NamedPackage, 'launcher'>): boolean {
  return launchers.some(({ name, names }) => name === launcher && names === 'npm');
}

/**
 * Returns the argument with another version. Undefined if the package is not exactly once in it, or
 * the version is none.
 */
export function pinned(
  argument: string,
  { name, requested, launcher }: Pick<NamedPackage, 'launcher' | 'name' | 'requested'>,
  version: string,
): string | undefined {
  if (!isOfNpm({ launcher }) || !npmVersion.test(version)) return undefined;
  const written = requested === undefined ? name : `${name}@${requested}`;
  const [before, after, ...more] = argument.split(
    // A script of a shell has more words, and an option may be in front.
    new RegExp(`(?<=^|[\\s'"=])${escapeRegExp(written)}@?(?=$|[\\s'"])`),
  );
  const isOnce = after !== undefined && more.length === 0;
  return isOnce ? `${before}${name}@${version}${after}` : undefined;
}
