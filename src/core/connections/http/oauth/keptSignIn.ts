/**
 * What is kept of one sign-in, in memory and in the secret store. Other windows share the store.
 * Invariants: writes keep their order; a value read counts only if nothing was written since; while
 * the store fails, the value in memory counts.
 */
import type { Clock } from '../../../base/clock.js';
import type { Disposable } from '../../../base/disposables.js';
import type { Log } from '../../../base/log.js';
import { asText } from '../../../base/text.js';
import { timelyAnswer, type SecretStore } from './contract.js';
import { parseKept, secretsOfKept, type Kept } from './grant.js';

export interface KeptSignInDeps {
  readonly secrets: SecretStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with values we must never show; disposing of the result takes them back. */
  readonly keepSecret: (values: readonly string[]) => Disposable;
  readonly key: string;
  readonly onTokenChanged: () => void;
}

/** A server may still quote the token from before the renewal. */
const mostSecrets = 3;

export class KeptSignIn implements Disposable {
  value: Kept = parseKept(undefined);
  private firstRead: Promise<void> | undefined;
  private writing: Promise<void> = Promise.resolve();
  private writes = 0;
  private storeFails = false;
  private readonly secrets: Disposable[] = [];

  constructor(private readonly deps: KeptSignInDeps) {}

  get token(): string | undefined {
    return this.value.grant?.tokens.access_token;
  }

  /** Resolves when the store has been read. */
  ready(): Promise<void> {
    this.firstRead ??= this.reread();
    return this.firstRead;
  }

  /** Reads the store, because another window may have changed it. */
  async reread(): Promise<void> {
    if (this.storeFails) return;
    await timelyAnswer(this.deps.clock, this.read()).catch(() => undefined);
  }

  async keep(kept: Kept): Promise<void> {
    this.set(kept);
    this.writes += 1;
    this.writing = this.writing.then(() => this.write(kept));
    await this.writing;
  }

  async forgetGrant(): Promise<void> {
    await this.keep({ ...this.value, grant: undefined });
  }

  dispose(): void {
    for (const secret of this.secrets) secret.dispose();
  }

  private async read(): Promise<void> {
    const { secrets, key } = this.deps;
    await this.writing;
    const { writes } = this;
    const text = await Promise.resolve(secrets.get(key)).catch(() => undefined);
    // A value written since is newer.
    if (this.writes === writes) this.set(parseKept(text));
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

  private set(kept: Kept): void {
    this.secrets.push(this.deps.keepSecret(secretsOfKept(kept)));
    if (this.secrets.length > mostSecrets) this.secrets.shift()?.dispose();
    const before = this.token;
    this.value = kept;
    if (before !== this.token) this.deps.onTokenChanged();
  }
}
