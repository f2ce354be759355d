import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** Loads a package installed with this product. `require` would look in NODE_PATH too, which may name a repository. */
export function ownPackage(name: string): unknown {
  for (let folder = __dirname; ; folder = path.dirname(folder)) {
    const found = path.join(folder, 'node_modules', name);
    if (existsSync(found)) return createRequire(__filename)(found);
    if (folder === path.dirname(folder)) throw new Error(`Cannot find module '${name}'`);
  }
}
