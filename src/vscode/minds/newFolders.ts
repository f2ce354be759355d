/**
 * Makes folders one after the other, each when the editor has told of the one that it is in. On Linux, the editor's watcher
 * (`@parcel/watcher`) never watches what is made in a new folder before it watches that one: nobody in the window hears of
 * what then changes there, until the window is reloaded.
 */
import { dirname } from 'node:path';
import type { Clock } from '../../core/base/clock.js';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';

export interface FolderMaker {
  readonly clock: Clock;
  exists(folder: string): boolean;
  make(folder: string): Promise<void>;
  /** Calls `told` when the editor tells of this folder as new. */
  listen(folder: string, told: () => void): Disposable;
}

/** How long the editor may take to tell of a folder; where nothing is watched, as in some network drives, it never does. */
const toldLimitMs = 2_000;

/** Makes a folder and what it is in. Rejects as `make` does. */
export async function makeFolders(folder: string, maker: FolderMaker): Promise<void> {
  if (maker.exists(folder)) return;
  await makeFolders(dirname(folder), maker);
  const store = new DisposableStore('new folder');
  try {
    const told = new Promise<void>((resolve) => store.add(maker.listen(folder, resolve)));
    await maker.make(folder);
    await Promise.race([told, new Promise<void>((resolve) => store.add(maker.clock.after(toldLimitMs, resolve)))]);
  } finally {
    store.dispose();
  }
}
