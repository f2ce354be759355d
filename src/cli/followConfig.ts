/** Follows the config files of a folder: the host is given what they say whenever that changes. */
import { homedir } from 'node:os';
import { systemClock } from '../core/base/clock.js';
import type { DisposableStore } from '../core/base/disposables.js';
import { asText } from '../core/base/text.js';
import { sourceFiles } from '../core/config/sources.js';
import { watchFile } from '../core/files/watchedFile.js';
import type { Host } from '../core/host/hostContract.js';
import { complain } from './output.js';

/** Returns what reads the files at once; it resolves when the host has been given what they say by then. */
export function followConfig(host: Host, folder: string, store: DisposableStore): () => Promise<void> {
  const files = sourceFiles([folder], homedir()).map((source) => ({
    source,
    watched: store.add(watchFile(source.file, { clock: systemClock, pollMs: 500 })),
    text: undefined as string | undefined,
  }));
  for (const each of files) {
    store.add(
      each.watched.onDidChange((content) => {
        // A file that cannot be read keeps what it said.
        if (content.kind !== 'unreadable') each.text = content.kind === 'text' ? content.text : undefined;
        if (files.some(({ watched }) => watched.content === undefined)) return;
        host
          .setSources(files.map(({ source, text }) => ({ ...source, text })))
          .catch((error: unknown) => complain(`The config files were not applied: ${asText(error)}`));
      }),
    );
  }
  return async () => {
    await Promise.all(files.map(({ watched }) => watched.readNow()));
  };
}
