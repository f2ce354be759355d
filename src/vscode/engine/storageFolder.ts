/**
 * The folder in which everything is kept that belongs to a workspace. Does not import `vscode`.
 *
 * A remote editor, and one in a browser, locks the storage of a workspace for one window and gives the next one `<workspace>-1`,
 * up to `-9` (VS Code, `api/node/extHostStoragePaths.ts`). That happens to a second window, and to one that was reloaded while its
 * former extension host was still ending. It would not see what was kept before, and what it keeps would be gone with its next
 * reload. So every window takes the first folder: what we keep stands in files that are whole or not there, whoever writes them.
 */
import path from 'node:path';

interface Context {
  /** `<workspace>/<extension>`, where a workspace is named by a hash or a time; undefined if no folder is open. */
  readonly storageUri: { readonly fsPath: string } | undefined;
}

export function storageFolder({ storageUri }: Context): string | undefined {
  if (!storageUri) return undefined;
  const { dir, base } = path.parse(storageUri.fsPath);
  return path.join(dir.replace(/(?<=[^/\\])-[1-9]$/, ''), base);
}
