/**
 * Keeps the address at which the editor and its agent-host sessions find the toolsets of a folder (G2): a random port and a token, which
 * the secret storage keeps together. Such sessions outlive the window and keep their address. Does not import `vscode`.
 *
 * Invariants: a stranger on the kept port costs both port and token, because sessions may have shown it the token. A secret
 * storage that does not answer costs the address its permanence, and nothing else.
 */
import { createHash, randomInt } from 'node:crypto';
import { delay, type Clock } from '../../core/base/clock.js';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import { Emitter } from '../../core/base/events.js';
import type { Log } from '../../core/base/log.js';
import { messageOf } from '../../core/base/text.js';
import { timelyAnswer, type SecretStore } from '../../core/connections/http/oauth/contract.js';
import { knowsToken } from '../../core/files/proof.js';
import { newToken } from '../../core/files/tokenFile.js';
import type { EndpointSecret } from '../../core/gateway/http/endpointSecret.js';
import {
  StableEndpoint,
  type NextAddress,
  type OtherPorts,
  type StableEndpointDeps,
} from '../../core/gateway/http/stableEndpoint.js';

/** The parts of the window that decide about its address. */
export interface EditorAddress {
  /** The same for every window of the folder or workspace, and different for others. */
  readonly workspace: string;
  /** The name by which the editor calls itself as a client; absent where nobody else is expected. */
  readonly editor?: string;
  readonly secrets: SecretStore;
}

interface EditorEndpointDeps extends Omit<StableEndpointDeps, 'port' | 'secret' | 'otherPorts'> {
  readonly address: EditorAddress;
}

/** Below the ports that systems give to programs that ask for any. */
const ports = { lowest: 20_000, end: 30_000 };
/** If so many are taken, the system chooses one. */
const mostAttempts = 8;
/** How long a window, or a program that proves nothing, may keep the port, and the pause between two attempts, in ms. */
const patience = { window: 2_000, stranger: 500 };
const pause = 100;

export class EditorEndpoint extends StableEndpoint {
  private readonly kept: KeptAddress;

  constructor(deps: EditorEndpointDeps) {
    const kept = new KeptAddress(deps.address, deps.clock, deps.log);
    super({ ...deps, port: 0, otherPorts: kept, secret: kept });
    this.kept = kept;
  }

  /** Cuts off whoever has the old token. Rejects when the new one cannot be stored. */
  renew(): Promise<void> {
    return this.kept.renew();
  }
}

interface Address {
  readonly token: string;
  readonly port: number;
}

class KeptAddress implements EndpointSecret, OtherPorts {
  private readonly key: string;
  private readonly renewals = new Emitter<void>();
  private address: Address = { token: '', port: 0 };
  /** The storage does not have `address`, which counts until the storage changes. */
  private isOwn = false;
  private attempts = 0;
  /** The port that was found taken last, and when that was first found. */
  private taken: { readonly port: number; readonly since: number } | undefined;

  constructor(
    private readonly of: Pick<EditorAddress, 'workspace' | 'secrets'>,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly isWindow: typeof knowsToken = knowsToken,
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
    const store = new DisposableStore('address of the editor');
    const listening = this.of.secrets.onDidChange(({ key }) => {
      if (key !== this.key) return;
      this.isOwn = false;
      changed();
    });
    store.add({ dispose: () => void listening.dispose() });
    store.add(this.renewals.event(changed));
    return store;
  }

  async renew(): Promise<void> {
    const next = { ...this.address, token: newToken() };
    await this.store(next);
    this.address = next;
    this.renewals.fire();
  }

  async after(port: number, token: string): Promise<NextAddress> {
    const again = async (): Promise<NextAddress> => {
      await delay(this.clock, pause);
      return { port, token };
    };
    if (this.taken?.port !== port) {
      // A window that is about to end proves nothing any more.
      this.taken = { port, since: this.clock.now() };
      return again();
    }
    const isWindow = await this.isWindow(port, token, this.clock);
    // A window that is reloaded may still have it; so may one that is open beside this one.
    const limit = isWindow ? patience.window : patience.stranger;
    if (this.clock.now() - this.taken.since < limit) return again();
    this.taken = undefined;
    if (isWindow) return { port: 0, token, instead: { port, by: 'window' } };
    const next = { token: newToken(), port: this.attempts++ < mostAttempts ? randomPort() : 0 };
    await this.orOwn(
      this.store(next).then(() => next),
      next,
    );
    return { ...this.address, instead: { port, by: 'program' } };
  }

  /** Takes what the storage answers in time, or else an address for this window only. */
  private async orOwn(stored: Promise<Address>, own: Address): Promise<void> {
    try {
      this.address = await timelyAnswer(this.clock, stored);
    } catch (error) {
      this.address = own;
      this.isOwn = true;
      const why = messageOf(error);
      this.log.write('warn', `The address of the editor is not kept, so agent sessions end with this window: ${why}`);
    }
  }

  private async stored(): Promise<Address> {
    const { secrets } = this.of;
    const kept = parsed(await secrets.get(this.key));
    if (kept) return kept;
    await this.store({ token: newToken(), port: randomPort() });
    // Another window may have stored one at the same time: the later one counts for both.
    return parsed(await secrets.get(this.key)) ?? Promise.reject(new Error('The secret storage kept nothing.'));
  }

  private async store({ token, port }: Address): Promise<void> {
    await this.of.secrets.store(this.key, `${token} ${port}`);
  }
}

function randomPort(): number {
  return randomInt(ports.lowest, ports.end);
}

function parsed(text: string | undefined): Address | undefined {
  const [, token, port] = /^([\w-]{43}) (\d{1,5})$/.exec(text ?? '') ?? [];
  return token === undefined ? undefined : { token, port: Number(port) };
}
