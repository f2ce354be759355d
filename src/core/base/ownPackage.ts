import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { foldersUp } from './paths.js';

/**
 * Loads a package installed with this product. `require` would look in NODE_PATH too, which may
 * name a repository.
 */
export function ownPackage(name: string): unknown {
  const found = foldersUp(__dirname)
    .map((folder) => path.join(folder, 'node_modules', name))
    .find(existsSync);
  if (found === undefined) throw new Error(`Cannot find module '${name}'`);
  return createRequire(__filename)(found);
}
