/**
 * Finds the storage folder of a workspace. Does not import `vscode`. A remote editor or an editor
 * in a browser locks it for one window, and gives another window, or this one after a reload,
 * `<workspace>-1` up to `-9` (VS Code, `api/node/extHostStoragePaths.ts`). That window would not
 * see what earlier windows kept. So every window uses the first folder, which is safe because each
 * of our files is written whole.
 */
import path from 'node:path';

interface Context {
  /**
   * `<workspace>/<extension>`, with a hash or a time as the workspace's name; undefined if no
   * folder is open.
   */
  readonly storageUri: { readonly fsPath: string } | undefined;
}

export function storageFolder({ storageUri }: Context): string | undefined {
  if (!storageUri) return undefined;
  const { dir, base } = path.parse(storageUri.fsPath);
  return path.join(dir.replace(/(?<=[^/\\])-[1-9]$/, ''), base);
}
