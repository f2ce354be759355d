/**
 * Keeps the secrets that the person has entered (C2a) in the editor, and in memory because config
 * files are read synchronously.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../core/base/clock.js';
import type { Disposable } from '../../core/base/disposables.js';
import { Emitter, type Event } from '../../core/base/events.js';
import { asFields } from '../../core/base/isObject.js';
import { OneByOne } from '../../core/base/oneByOne.js';
import { timelyAnswer, type SecretStore } from '../../core/connections/http/oauth/contract.js';

const storageKey = 'mcpToolsets.secrets';

export class EnteredSecrets implements Disposable {
  private readonly changes = new Emitter<void>();
  private readonly listening: { dispose(): unknown };
  private values: ReadonlyMap<string, string> = new Map();
  private readonly steps = new OneByOne();

  readonly onDidChange: Event<void> = this.changes.event;

  constructor(
    private readonly storage: SecretStore,
    private readonly clock: Clock,
    private readonly onFailure: (error: unknown) => void,
  ) {
    this.listening = storage.onDidChange(({ key }) => {
      if (key === storageKey) void this.load();
    });
  }

  get(name: string): string | undefined {
    return this.values.get(name);
  }

  /** Never rejects, and resolves even if the storage is late. A late answer still counts. */
  async load(): Promise<void> {
    const read = this.steps.add(storageKey, async () =>
      this.take(this.read(await this.storage.get(storageKey))),
    );
    await timelyAnswer(this.clock, read).catch(this.onFailure);
  }

  /** Stores a value, or removes it if it is undefined. Rejects if the storage fails. */
  set(name: string, value: string | undefined): Promise<void> {
    return this.steps.add(storageKey, async () => {
      // Another window may have stored a value since.
      const values = new Map(this.read(await this.storage.get(storageKey)));
      if (value === undefined) values.delete(name);
      else values.set(name, value);
      await this.storage.store(storageKey, JSON.stringify(Object.fromEntries(values)));
      this.take(values);
    });
  }

  dispose(): void {
    this.listening.dispose();
    this.changes.dispose();
  }

  /** A text that is not JSON has no secrets, so the next value replaces it. */
  private read(text = '{}'): ReadonlyMap<string, string> {
    try {
      const stored: unknown = JSON.parse(text);
      const values = Object.entries(asFields(stored));
      return new Map(
        values.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      );
    } catch (error) {
      this.onFailure(error);
      return this.values;
    }
  }

  private take(values: ReadonlyMap<string, string>): void {
    const isSame = isDeepStrictEqual(values, this.values);
    this.values = values;
    if (!isSame) this.changes.fire();
  }
}
