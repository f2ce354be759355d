/**
 * At most one gateway, with a lasting port and secret (G6). A renewal disconnects clients with the
 * old secret.
 */
import type { Clock } from '../../base/clock.js';
import { DisposableStore, type Disposable } from '../../base/disposables.js';
import { Emitter } from '../../base/events.js';
import type { Log } from '../../base/log.js';
import { SingleFlight } from '../../base/singleFlight.js';
import { messageOf } from '../../base/text.js';
import type { Gateway, StableAddress } from './gateway.js';
import { noteAddress, type Program } from '../../files/addressFile.js';
import { tokenIn } from '../../files/tokenFile.js';
import { watchFile } from '../../files/watchedFile.js';

export type EndpointState =
  | { readonly kind: 'starting' }
  /**
   * `instead` is the port known to earlier clients. `unnoted`: why clients without port and token
   * do not find it, as a phrase.
   */
  | {
      readonly kind: 'listening';
      readonly port: number;
      readonly instead?: TakenPort;
      readonly unnoted?: string;
    }
  /** Another program listens there, perhaps another window. */
  | { readonly kind: 'portTaken'; readonly port: number }
  /** `reason` is a phrase. */
  | { readonly kind: 'failed'; readonly reason: string };

interface TakenPort {
  readonly port: number;
  /** A `window` has proved to know the same secret. */
  readonly by: 'window' | 'program';
}

export interface NextAddress {
  readonly port: number;
  readonly token: string;
  readonly instead?: TakenPort;
}

export interface EndpointSecret {
  read(): Promise<string>;
  /** Reports every change after the first reading. */
  watch(changed: () => void): Disposable;
  /**
   * Publishes the port for clients without port and secret. Resolves to the function that takes it
   * back.
   */
  noteAddress?(port: number): Promise<() => Promise<void>>;
  /** The port that is kept with the secret, known after reading it. */
  readonly port?: number;
  /**
   * Another token comes if clients may have shown theirs to a stranger. By default, the port is
   * tried again.
   */
  after?(taken: number, token: string): Promise<NextAddress>;
}

interface StableEndpointDeps {
  /**
   * The port to listen on, or 0 for a port that the system chooses. Without it, `use` names the
   * first port.
   */
  readonly port?: number;
  readonly secret: EndpointSecret;
  readonly clock: Clock;
  readonly log: Log;
  /** Logs are redacted with these. */
  readonly keepSecret: (values: readonly string[]) => Disposable;
  readonly createGateway: (stable: StableAddress) => Gateway | Promise<Gateway>;
}

const again = 3_000;

export class StableEndpoint {
  private readonly store = new DisposableStore('stable endpoint');
  private readonly changes = this.store.add(new Emitter<EndpointState>());
  private readonly listening = new SingleFlight(() => this.listen());
  private open:
    | {
        readonly token: string;
        readonly gateway: Gateway;
        readonly secret: Disposable;
        forgetAddress?: () => Promise<void>;
      }
    | undefined;
  private watched: Disposable | undefined;
  private retry: Disposable | undefined;
  private ended = false;
  private wanted: number | undefined;
  private tried: number | undefined;
  /** A port chosen by the system is kept too. */
  private port = 0;
  state: EndpointState = { kind: 'starting' };

  readonly onDidChange = this.changes.event;

  constructor(private readonly deps: StableEndpointDeps) {
    this.use(deps.port);
  }

  /** Sessions on another port end. */
  use(port: number | undefined): void {
    if (this.ended || port === undefined || port === this.wanted) return;
    this.wanted = port;
    this.enter({ kind: 'starting' });
    this.begin();
  }

  /** Undefined if nothing listens. Each renewal of the secret makes a new gateway. */
  get gateway(): Gateway | undefined {
    return this.state.kind === 'listening' ? this.open?.gateway : undefined;
  }

  /** Resolves when it does not try to listen at the moment. */
  settled(): Promise<void> {
    return this.listening.settled();
  }

  /** @param finishMs for the calls in flight, in milliseconds */
  async dispose(finishMs = 0): Promise<void> {
    this.ended = true;
    this.retry?.dispose();
    this.store.dispose();
    await this.settled();
    await this.close(finishMs);
  }

  private begin(): void {
    this.retry?.dispose();
    void this.listening.request();
  }

  /** Never rejects. */
  private async listen(): Promise<void> {
    const { secret, log } = this.deps;
    const { wanted = 0 } = this;
    const isOver = (): boolean => this.ended || wanted !== this.wanted;
    try {
      const token = await secret.read();
      // Following begins after the first reading, so the first event is a later change.
      if (this.ended) return;
      this.watched ??= this.store.add(secret.watch(() => this.begin()));
      if (wanted !== this.tried) {
        this.port = wanted;
        this.tried = wanted;
      } else if (this.open?.token === token) return;
      else if (this.open) {
        log.write('info', 'The token of the endpoint was renewed, and its sessions are closed.');
        this.enter({ kind: 'starting' });
      }
      await this.close();
      const instead = await this.openWith(token);
      if (isOver()) return;
      let unnoted = '';
      const forgetAddress = await secret.noteAddress?.(this.port).catch((error: unknown) => {
        unnoted = messageOf(error);
      });
      if (this.open && forgetAddress) this.open.forgetAddress = forgetAddress;
      this.enter({
        kind: 'listening',
        port: this.port,
        ...(instead && { instead }),
        ...(unnoted !== '' && { unnoted }),
      });
    } catch (error) {
      await this.close();
      if (isOver()) return;
      this.enter(
        isTaken(error)
          ? { kind: 'portTaken', port: this.port }
          : { kind: 'failed', reason: messageOf(error) },
      );
      this.retry = this.deps.clock.after(again, () => this.begin());
    }
  }

  /** Resolves to the wanted port if another one is used. */
  private async openWith(known: string): Promise<TakenPort | undefined> {
    const { createGateway, keepSecret, secret } = this.deps;
    let token = known;
    this.port ||= secret.port ?? 0;
    for (let instead: TakenPort | undefined; ;) {
      const gateway = await createGateway({ port: this.port, token });
      this.open = {
        token,
        gateway,
        secret: keepSecret([token]),
      };
      try {
        await gateway.start();
        this.port = gateway.port ?? this.port;
        return instead;
      } catch (error) {
        if (this.ended || !secret.after || !isTaken(error)) throw error;
        await this.close();
        const next = await secret.after(this.port, token);
        if (this.ended) return undefined;
        ({ port: this.port, token } = next);
        instead ??= next.instead;
      }
    }
  }

  private async close(finishMs = 0): Promise<void> {
    const { open } = this;
    this.open = undefined;
    if (!open) return;
    await open.forgetAddress?.();
    await open.gateway.dispose(finishMs);
    open.secret.dispose();
  }

  private enter(state: EndpointState): void {
    if (this.ended) return;
    const same = JSON.stringify(state) === JSON.stringify(this.state);
    this.state = state;
    if (!same) this.changes.fire(state);
  }
}

/** Windows refuses a port reserved by the system in another way than a taken port. */
function isTaken(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EADDRINUSE' || (code === 'EACCES' && process.platform === 'win32');
}

/** For agents outside the editor. Removing the file renews the secret. */
export function secretInFile(tokenFile: string, program: Program, clock: Clock): EndpointSecret {
  const since = clock.now();
  return {
    read: () => tokenIn(tokenFile),
    watch: (changed) => {
      const watched = watchFile(tokenFile, { clock });
      watched.onDidChange(changed);
      return watched;
    },
    noteAddress: (port) => noteAddress(tokenFile, { port, program, since }),
  };
}
