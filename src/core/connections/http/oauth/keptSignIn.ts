/**
 * What is kept of one sign-in, in memory and in the secret store. Other windows share the store.
 * Invariants: writes keep their order; a value read counts only if nothing was written since; while
 * the store fails, the value in memory counts.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../base/clock.js';
import type { Disposable } from '../../../base/disposables.js';
import { english } from '../../../base/language.js';
import type { Log } from '../../../base/log.js';
import { asText, messageOf } from '../../../base/text.js';
import { timelyAnswer, type SecretStore } from './contract.js';
import { parseKept, secretsOfKept, tokenOf, type Kept } from './grant.js';

export interface KeptSignInDeps {
  readonly secrets: SecretStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with values we must never show; disposing of the result takes them back. */
  readonly keepSecret: (values: readonly string[]) => Disposable;
  readonly key: string;
  /** @param isElsewhere true if another process changed it */
  readonly onTokenChanged: (isElsewhere: boolean) => void;
}

/** A server may still quote the token from before the renewal. */
const mostSecrets = 3;

export const silent = english`The store of sign-ins did not answer. It may wait for you to unlock it.`;

export class KeptSignIn implements Disposable {
  value: Kept = parseKept(undefined);
  private firstRead: Promise<boolean> | undefined;
  private writing: Promise<void> = Promise.resolve();
  private writes = 0;
  private storeFails = false;
  private isLate = false;
  /** Says why the store cannot be read. */
  unreadable: string | undefined;
  private readonly secrets: Disposable[] = [];

  constructor(private readonly deps: KeptSignInDeps) {}

  get token(): string | undefined {
    return tokenOf(this.value);
  }

  /** Resolves when the store has been read. */
  async ready(): Promise<void> {
    await (this.firstRead ??= this.reread());
  }

  /**
   * Reads the store, because another process may have changed it. Resolves to false if it gave no
   * answer.
   */
  async reread(): Promise<boolean> {
    if (this.storeFails) return true;
    // It may wait for a person.
    if (this.isLate) return false;
    const reading = this.read();
    try {
      return await timelyAnswer(this.deps.clock, reading);
    } catch {
      this.unreadable = silent;
      this.isLate = true;
      void reading.then(() => {
        this.isLate = false;
      });
      return false;
    }
  }

  async keep(kept: Kept): Promise<void> {
    this.set(kept, false);
    this.writes += 1;
    this.writing = this.writing.then(() => this.write(kept));
    await this.writing;
  }

  dispose(): void {
    for (const secret of this.secrets) secret.dispose();
  }

  private async read(): Promise<boolean> {
    const { secrets, key } = this.deps;
    await this.writing;
    const { writes } = this;
    try {
      const text = await secrets.get(key);
      this.unreadable = undefined;
      // A value written since is newer.
      if (this.writes === writes) this.set(parseKept(text), true);
    } catch (error) {
      this.unreadable = messageOf(error);
    }
    return this.unreadable === undefined;
  }

  private async write(kept: Kept): Promise<void> {
    const { secrets, key, log } = this.deps;
    try {
      if (kept.grant || kept.registration) await secrets.store(key, JSON.stringify(kept));
      else await secrets.delete(key);
      this.storeFails = false;
    } catch (error) {
      this.storeFails = true;
      const why = `[oauth] the sign-in could not be stored, so it ends with this window: ${asText(error)}`;
      log.write('warn', why);
    }
  }

  private set(kept: Kept, isElsewhere: boolean): void {
    const secrets = secretsOfKept(kept);
    if (!isDeepStrictEqual(secrets, secretsOfKept(this.value))) {
      this.secrets.push(this.deps.keepSecret(secrets));
      if (this.secrets.length > mostSecrets) this.secrets.shift()?.dispose();
    }
    const before = this.token;
    this.value = kept;
    if (before !== this.token) this.deps.onTokenChanged(isElsewhere);
  }
}
