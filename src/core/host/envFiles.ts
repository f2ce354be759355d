/**
 * Follows the files of `envFile` (C2b) from their last reading on, so that no change in between is
 * missed.
 */
import type { Clock } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import type { EnvFileReading } from '../config/model.js';
import { readEnvFile } from '../files/envFile.js';
import { realDisk, watchFile } from '../files/watchedFile.js';

/** The delay that a person notices after a save, in milliseconds. */
const pollMs = 1000;

type Followed = Disposable & { reading: EnvFileReading };

export class EnvFiles implements Disposable {
  private followed = new Map<string, Followed>();

  constructor(
    private readonly clock: Clock,
    private readonly onChange: () => void,
  ) {}

  /** Follows the files read in the meantime, and no others. */
  whileReading<T>(read: (envFile: typeof readEnvFile) => T): T {
    const before = this.followed;
    this.followed = new Map();
    const result = read((file, within) => {
      const key = JSON.stringify([file, within]);
      const reading = readEnvFile(file, within);
      const known = this.followed.get(key) ?? before.get(key);
      if (known) known.reading = reading;
      this.followed.set(key, known ?? this.follow(file, within, reading));
      return reading;
    });
    for (const [key, one] of before) if (!this.followed.has(key)) one.dispose();
    return result;
  }

  dispose(): void {
    for (const one of this.followed.values()) one.dispose();
    this.followed.clear();
  }

  private follow(file: string, within: string | undefined, reading: EnvFileReading): Followed {
    const asText = (one: EnvFileReading): string => JSON.stringify(one);
    const disk = { ...realDisk, read: () => Promise.resolve(asText(readEnvFile(file, within))) };
    const watched = watchFile(file, {
      clock: this.clock,
      pollMs,
      disk,
    });
    const followed = { reading, dispose: () => watched.dispose() };
    watched.onDidChange((content) => {
      if (content.kind !== 'text' || content.text !== asText(followed.reading)) this.onChange();
    });
    return followed;
  }
}
