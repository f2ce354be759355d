/**
 * Keeps the gateway that agents outside the editor find again (G6): on a port and with a secret that stay the same. It
 * follows the file of the secret, so that to remove the file is to renew the secret, and keeps asking for a port that
 * is taken.
 *
 * It knows nothing of toolsets: it is given how a gateway is made. Invariants: at most one gateway; who showed the old
 * secret is cut off when it is renewed; after `dispose` nothing listens.
 */
import type { Clock } from '../base/clock.js';
import { DisposableStore, type Disposable } from '../base/disposables.js';
import { Emitter } from '../base/events.js';
import type { Log } from '../base/log.js';
import { SingleFlight } from '../base/singleFlight.js';
import { forgetAddress, noteAddress } from '../files/addressFile.js';
import { tokenIn } from '../files/tokenFile.js';
import { watchFile, type WatchedFile } from '../files/watchedFile.js';
import type { Gateway, StableAddress } from './gateway.js';

export type EndpointState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'listening'; readonly port: number }
  /** Another program listens there, perhaps another window. */
  | { readonly kind: 'portTaken'; readonly port: number }
  /** `reason` is a phrase. */
  | { readonly kind: 'failed'; readonly reason: string };

export interface StableEndpointDeps {
  readonly port: number;
  readonly tokenFile: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with values that are secrets from then on. */
  readonly keepSecret: (values: readonly string[]) => Disposable;
  readonly createGateway: (stable: StableAddress) => Gateway | Promise<Gateway>;
}

/** The time between two attempts to listen, in milliseconds. */
const again = 3_000;

export class StableEndpoint {
  private readonly store = new DisposableStore('stable endpoint');
  private readonly changes = this.store.add(new Emitter<EndpointState>());
  private readonly listening = new SingleFlight(() => this.listen());
  private open: { readonly token: string; readonly gateway: Gateway; readonly secret: Disposable } | undefined;
  private watched: WatchedFile | undefined;
  private retry: Disposable | undefined;
  private ended = false;
  /** A port that the system chose is kept, too. */
  private port: number;
  state: EndpointState = { kind: 'starting' };

  readonly onDidChange = this.changes.event;

  constructor(private readonly deps: StableEndpointDeps) {
    this.port = deps.port;
    this.begin();
  }

  /** Returns where a toolset is served, or undefined while nothing is. */
  urlOf(toolset: string): string | undefined {
    return this.state.kind === 'listening' ? this.open?.gateway.endpoint(toolset, 'plain').url : undefined;
  }

  /** Resolves when nothing listens any more. */
  async dispose(): Promise<void> {
    this.ended = true;
    this.retry?.dispose();
    this.store.dispose();
    await this.listening.settled();
    await this.close();
  }

  private watch(): void {
    this.watched = this.store.add(watchFile(this.deps.tokenFile, { clock: this.deps.clock }));
    this.store.add(this.watched.onDidChange(() => this.begin()));
  }

  private begin(): void {
    this.retry?.dispose();
    void this.listening.request();
  }

  /** Never rejects. */
  private async listen(): Promise<void> {
    const { tokenFile, log } = this.deps;
    const { port } = this;
    try {
      const token = await tokenIn(tokenFile);
      // The file is followed once it is there, so that its first reading shows what became of it since.
      if (!this.ended && !this.watched) this.watch();
      if (this.ended || this.open?.token === token) return;
      if (this.open) {
        log.write('info', 'The secret of the endpoint was renewed; its sessions are closed.');
        this.enter({ kind: 'starting' });
      }
      await this.close();
      const gateway = await this.deps.createGateway({ port, token });
      this.open = { token, gateway, secret: this.deps.keepSecret([token]) };
      await gateway.start();
      this.port = gateway.port ?? port;
      await noteAddress(tokenFile, this.port);
      this.enter({ kind: 'listening', port: this.port });
    } catch (error) {
      await this.close();
      if (this.ended) return;
      const { code, message } = error as NodeJS.ErrnoException;
      this.enter(code === 'EADDRINUSE' ? { kind: 'portTaken', port } : { kind: 'failed', reason: message });
      this.retry = this.deps.clock.after(again, () => this.begin());
    }
  }

  private async close(): Promise<void> {
    const { open } = this;
    this.open = undefined;
    if (!open) return;
    await forgetAddress(this.deps.tokenFile);
    await open.gateway.dispose();
    open.secret.dispose();
  }

  private enter(state: EndpointState): void {
    if (this.ended) return;
    const same = JSON.stringify(state) === JSON.stringify(this.state);
    this.state = state;
    if (!same) this.changes.fire(state);
  }
}
