/**
 * Finds the storage folder of a workspace. Does not import `vscode`. A remote editor or an editor in a browser locks it for one
 * window, and gives another window, or this one after a reload, `<workspace>-1` up to `-9` (VS Code,
 * `api/node/extHostStoragePaths.ts`). That window would not see what earlier windows kept. So every window uses the first
 * folder, which is safe because each of our files is written whole.
 */
import path from 'node:path';

/** @param given `<workspace>/<extension>`, with a hash or a time as the workspace's name; undefined if no folder is open */
export function storageFolder(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const { dir, base } = path.parse(given);
  return path.join(dir.replace(/(?<=[^/\\])-[1-9]$/, ''), base);
}
