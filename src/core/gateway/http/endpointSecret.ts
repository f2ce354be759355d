/** The secret of a stable endpoint (G2, G6). */
import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/disposables.js';
import { forgetAddress, keepAddress, noteAddress, type Program } from '../../files/addressFile.js';
import { tokenIn } from '../../files/tokenFile.js';
import { watchFile } from '../../files/watchedFile.js';

export interface EndpointSecret {
  /** Makes the secret if there is none. */
  read(): Promise<string>;
  /** Reports every change after the first reading. */
  watch(changed: () => void): Disposable;
  /** Publishes the port for clients without port and secret. */
  noteAddress?(port: number): Promise<void>;
  forgetAddress?(): Promise<void>;
}

/**
 * Returns the secret for agents outside the editor. Removing the file renews it.
 * @param program the one that serves with it
 */
export function secretInFile(tokenFile: string, program: Program, clock: Clock): EndpointSecret {
  let kept: Disposable | undefined;
  const since = clock.now();
  return {
    read: () => tokenIn(tokenFile),
    watch: (changed) => {
      const watched = watchFile(tokenFile, { clock });
      watched.onDidChange(changed);
      return watched;
    },
    noteAddress: async (port) => {
      await noteAddress(tokenFile, { port, program, since });
      kept?.dispose();
      kept = keepAddress(tokenFile, { port, program, since }, clock);
    },
    forgetAddress: async () => {
      kept?.dispose();
      await forgetAddress(tokenFile, program);
    },
  };
}
