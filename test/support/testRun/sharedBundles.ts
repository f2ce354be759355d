/**
 * The folder in which the lanes of `npm test` share their bundles and the build of the command
 * line, so that each is made once. It ends with the run.
 */
import { join } from 'node:path';
import { bundlesVariable, linkPackages, sharedBuild } from '../core/bundles.ts';
import { copyPackageFolder } from '../core/packageFolder.ts';
import { tempFolder } from '../editor/cleanup.ts';

/** @param isBuilt true if `dist/` is of this run. If false, each lane builds what it needs. */
export function shareBundles(isBuilt: boolean): void {
  const { path } = tempFolder();
  linkPackages(path);
  // A copy, because another build may write `dist/` meanwhile.
  if (isBuilt) copyPackageFolder(join(path, sharedBuild), 'dist');
  process.env[bundlesVariable] = path;
}
