/**
 * Watches the folder of a file, or the nearest one above. The look in intervals finds changes that
 * it misses (R1).
 */
import { statSync, watch, type FSWatcher } from 'node:fs';
import path from 'node:path';
import { toDisposable, type Disposable } from '../base/disposables.js';
import { unlessThrown } from '../base/unlessThrown.js';

export function watchFolderOf(file: string, onChange: () => void): Disposable {
  let armed:
    | {
        readonly folder: string;
        readonly inode: number;
        readonly watcher: FSWatcher;
      }
    | undefined;
  const disarm = (): void => {
    armed?.watcher.close();
    armed = undefined;
  };
  const arm = (): void => {
    const nearest = nearestFolder(path.dirname(file));
    if (!nearest || (armed?.folder === nearest.folder && armed.inode === nearest.inode)) return;
    disarm();
    try {
      const watcher = watch(nearest.folder, { persistent: false }, () => {
        arm();
        onChange();
      });
      watcher.on('error', disarm);
      armed = { ...nearest, watcher };
    } catch {
      // Some systems have no watches left.
    }
  };
  arm();
  return toDisposable(disarm);
}

function nearestFolder(
  folder: string,
): { readonly folder: string; readonly inode: number } | undefined {
  // It may be missing, or nobody may look.
  const found = unlessThrown(() => statSync(folder));
  if (found?.isDirectory()) return { folder, inode: found.ino };
  const above = path.dirname(folder);
  return above === folder ? undefined : nearestFolder(above);
}
