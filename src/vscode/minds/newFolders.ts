/**
 * Makes folders one by one: on Linux, `@parcel/watcher` never watches one made inside a folder that
 * it has not seen.
 */
import { dirname } from 'node:path';
import type { Clock } from '../../core/base/clock.js';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';

export interface FolderMaker {
  readonly clock: Clock;
  exists(folder: string): boolean;
  make(folder: string): Promise<void>;
  listen(folder: string, reported: () => void): Disposable;
}

/** How long to wait for the report, in milliseconds. Some network drives never cause one. */
const reportLimitMs = 2_000;

export async function makeFolders(folder: string, maker: FolderMaker): Promise<void> {
  if (maker.exists(folder)) return;
  await makeFolders(dirname(folder), maker);
  const store = new DisposableStore('new folder');
  try {
    const reported = new Promise<void>((resolve) => store.add(maker.listen(folder, resolve)));
    await maker.make(folder);
    await Promise.race([
      reported,
      new Promise<void>((resolve) => store.add(maker.clock.after(reportLimitMs, resolve))),
    ]);
  } finally {
    store.dispose();
  }
}
