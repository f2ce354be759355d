/**
 * Keeps the address at which the editor and its agent-host sessions find the toolsets of a folder (G2). Such sessions outlive the
 * window, and are never told of another address. Does not import `vscode`.
 *
 * Invariant: a secret storage that does not answer costs the address its permanence, and nothing else.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../core/base/clock.js';
import { DisposableStore, type Disposable } from '../../core/base/disposables.js';
import { Emitter } from '../../core/base/events.js';
import type { Log } from '../../core/base/log.js';
import { messageOf } from '../../core/base/text.js';
import { timelyAnswer, type SecretStore } from '../../core/connections/http/oauth/contract.js';
import { newToken } from '../../core/files/tokenFile.js';
import type { EndpointSecret } from '../../core/gateway/endpointSecret.js';
import { FolderPorts } from '../../core/gateway/folderPorts.js';
import { StableEndpoint, type StableEndpointDeps } from '../../core/gateway/stableEndpoint.js';

/** The part of VS Code's `Memento` that is used here. */
interface PortStore {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

/** The parts of the window that decide about its address. */
export interface EditorAddress {
  /** The same for every window of the folder or workspace, and different for others. */
  readonly workspace: string;
  /** The name by which the editor calls itself as a client; absent where nobody else is expected. */
  readonly editor?: string;
  readonly secrets: SecretStore;
  readonly ports: PortStore;
}

interface EditorEndpointDeps extends Omit<StableEndpointDeps, 'port' | 'secret' | 'otherPorts'> {
  readonly address: EditorAddress;
}

const portKey = 'mcpToolsets.editorPort';

export class EditorEndpoint extends StableEndpoint {
  private readonly token: StoredToken;

  constructor(deps: EditorEndpointDeps) {
    const { address, clock, log } = deps;
    const token = new StoredToken(address, clock, log);
    const kept = address.ports.get(portKey);
    const otherPorts = new FolderPorts({
      folder: address.workspace,
      kept: typeof kept === 'number' && Number.isInteger(kept) && kept > 0 && kept < 65_536 ? kept : undefined,
      // If it cannot be kept, the next window finds its way as this one did.
      keep: (port) => void Promise.resolve(address.ports.update(portKey, port)).catch(() => undefined),
      clock,
    });
    super({ ...deps, port: otherPorts.first, otherPorts, secret: token });
    this.token = token;
  }

  /** Cuts off whoever has the old token. Rejects when the new one cannot be stored. */
  renew(): Promise<void> {
    return this.token.renew();
  }
}

class StoredToken implements EndpointSecret {
  private readonly key: string;
  private readonly renewals = new Emitter<void>();
  /** The token that holds while the storage does not answer. */
  private own: string | undefined;

  constructor(
    private readonly address: EditorAddress,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {
    const tag = createHash('sha256').update(address.workspace).digest('hex').slice(0, 16);
    this.key = `mcpToolsets.editorToken.${tag}`;
  }

  async read(): Promise<string> {
    try {
      return await timelyAnswer(this.clock, this.stored());
    } catch (error) {
      this.own ??= newToken();
      const why = messageOf(error);
      this.log.write('warn', `The token of the editor is not kept, so agent sessions end with this window: ${why}`);
      return this.own;
    }
  }

  watch(changed: () => void): Disposable {
    const store = new DisposableStore('token of the editor');
    const listening = this.address.secrets.onDidChange(({ key }) => {
      if (key === this.key) changed();
    });
    store.add({ dispose: () => void listening.dispose() });
    store.add(this.renewals.event(changed));
    return store;
  }

  async renew(): Promise<void> {
    const token = newToken();
    await this.address.secrets.store(this.key, token);
    this.own = token;
    this.renewals.fire();
  }

  private async stored(): Promise<string> {
    const { secrets } = this.address;
    const kept = await secrets.get(this.key);
    if (kept !== undefined && /^[\w-]{43}$/.test(kept)) return kept;
    await secrets.store(this.key, newToken());
    // Another window may have stored one at the same time: the later one counts for both.
    return (await secrets.get(this.key)) ?? Promise.reject(new Error('The secret storage kept nothing.'));
  }
}
