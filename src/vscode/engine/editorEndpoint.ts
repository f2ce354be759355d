/**
 * Keeps port and token of the editor's gateway in the secret storage (G2c), or for this window if
 * that is silent.
 */
import { createHash, randomInt } from 'node:crypto';
import { delay, type Clock } from '../../core/base/clock.js';
import { toDisposable, type Disposable } from '../../core/base/disposables.js';
import type { Log } from '../../core/base/log.js';
import { messageOf } from '../../core/base/text.js';
import { timelyAnswer, type SecretStore } from '../../core/connections/http/oauth/contract.js';
import { knowsToken } from '../../core/files/proof.js';
import { newToken } from '../../core/files/tokenFile.js';
import type { EndpointSecret, NextAddress } from '../../core/gateway/http/stableEndpoint.js';

export interface EditorAddress {
  readonly workspace: string;
  /** The client name of the editor; absent if no other client is expected. */
  readonly editor?: string;
  readonly secrets: SecretStore;
}

const randomPort = (): number => randomInt(20_000, 30_000);
/** After this many taken ports, the system chooses one. */
const mostAttempts = 8;
/**
 * How long to wait for a port that a window or another program has, and the pause between attempts,
 * in milliseconds.
 */
const patience = { window: 3_000, stranger: 500 };
const pause = 100;

type Address = { readonly token: string; readonly port: number };

export class KeptAddress implements EndpointSecret {
  private readonly key: string;
  private changed = (): void => {};
  private address: Address = { token: '', port: 0 };
  /** `address` is not in the storage. It counts until the storage changes. */
  private isOwn = false;
  private attempts = 0;
  /** The last port that was taken, and the time of the first attempt. */
  private taken: { readonly port: number; readonly since: number } | undefined;

  constructor(
    private readonly of: Pick<EditorAddress, 'workspace' | 'secrets'>,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {
    const tag = createHash('sha256').update(of.workspace).digest('hex').slice(0, 16);
    this.key = `mcpToolsets.editorAddress.${tag}`;
  }

  get port(): number {
    return this.address.port;
  }

  async read(): Promise<string> {
    if (!this.isOwn) await this.orOwn(this.stored(), { token: newToken(), port: 0 });
    return this.address.token;
  }

  watch(changed: () => void): Disposable {
    this.changed = changed;
    const listening = this.of.secrets.onDidChange(({ key }) => {
      if (key !== this.key) return;
      this.isOwn = false;
      changed();
    });
    return toDisposable(() => void listening.dispose());
  }

  /**
   * Makes a new token and disconnects clients with the old one. Rejects if the new token cannot be
   * stored.
   */
  async renew(): Promise<void> {
    const next = { ...this.address, token: newToken() };
    await this.store(next);
    this.address = next;
    this.changed();
  }

  async after(port: number, token: string): Promise<NextAddress> {
    const again = async (): Promise<NextAddress> => {
      await delay(this.clock, pause);
      return { port, token };
    };
    if (this.taken?.port !== port) {
      // A window that ends does not prove itself, so it gets a second attempt.
      this.taken = { port, since: this.clock.now() };
      return again();
    }
    const isWindow = await knowsToken(port, token, this.clock);
    // The port may belong to this window before its reload, or to a window that stays open.
    const limit = isWindow ? patience.window : patience.stranger;
    if (this.clock.now() - this.taken.since < limit) return again();
    this.taken = undefined;
    if (isWindow)
      return {
        port: 0,
        token,
        instead: { port, by: 'window' },
      };
    const next = { token: newToken(), port: this.attempts++ < mostAttempts ? randomPort() : 0 };
    const stored = this.store(next).then(() => next);
    await this.orOwn(stored, next);
    return { ...this.address, instead: { port, by: 'program' } };
  }

  /**
   * Takes the address of the storage if it answers in time, or else an address for this window
   * only.
   */
  private async orOwn(stored: Promise<Address>, own: Address): Promise<void> {
    try {
      this.address = await timelyAnswer(this.clock, stored);
    } catch (error) {
      this.address = own;
      this.isOwn = true;
      const why = messageOf(error);
      this.log.write(
        'warn',
        `The address of the editor is not kept, so agent sessions end with this window: ${why}`,
      );
    }
  }

  private async stored(): Promise<Address> {
    const { secrets } = this.of;
    const kept = parsed(await secrets.get(this.key));
    if (kept) return kept;
    await this.store({ token: newToken(), port: randomPort() });
    // If another window stored an address at the same time, the later one counts for both.
    return (
      parsed(await secrets.get(this.key)) ??
      Promise.reject(new Error('The secret storage kept nothing.'))
    );
  }

  private async store({ token, port }: Address): Promise<void> {
    await this.of.secrets.store(this.key, `${token} ${port}`);
  }
}

function parsed(text: string | undefined): Address | undefined {
  const [, token, port] = /^([\w-]{43}) (\d{1,5})$/.exec(text ?? '') ?? [];
  return token === undefined ? undefined : { token, port: Number(port) };
}
