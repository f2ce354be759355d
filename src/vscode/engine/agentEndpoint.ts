/** Serves this window to agents outside the editor (G6), on a port of the system or of the setting. Does not import `vscode`. */
import type { Disposable } from '../../core/base/disposables.js';
import { Emitter } from '../../core/base/events.js';
import {
  secretInFile,
  StableEndpoint,
  type EndpointState,
  type StableEndpointDeps,
} from '../../core/gateway/http/stableEndpoint.js';

export type AgentEndpointState = { readonly kind: 'off' } | EndpointState;

interface AgentEndpointDeps extends Omit<StableEndpointDeps, 'port' | 'secret'> {
  readonly tokenFile: string;
  readonly version: string;
}

export class AgentEndpoint {
  private readonly changes = new Emitter<AgentEndpointState>();
  private open: { readonly port: number; readonly endpoint: StableEndpoint; readonly listener: Disposable } | undefined;
  private closing = Promise.resolve();
  /** Undefined before the first use and after the end. */
  private wanted: number | undefined;

  readonly onDidChange = this.changes.event;

  constructor(private readonly deps: AgentEndpointDeps) {}

  get state(): AgentEndpointState {
    return this.open?.endpoint.state ?? { kind: 'off' };
  }

  get tokenFile(): string {
    return this.deps.tokenFile;
  }

  /** Sessions on another port end. @param port the port to listen on, or 0 for a port that the system chooses */
  use(port: number): void {
    this.wanted = port;
    if (port === this.open?.port) return;
    this.close();
    // The setting may return to a port that still closes.
    void this.closing.then(() => this.begin());
  }

  async dispose(): Promise<void> {
    this.wanted = undefined;
    this.changes.dispose();
    this.close();
    await this.closing;
  }

  private begin(): void {
    const port = this.wanted;
    if (this.open || port === undefined) return this.changes.fire(this.state);
    const { tokenFile, clock } = this.deps;
    const endpoint = new StableEndpoint({
      ...this.deps,
      port,
      secret: secretInFile(tokenFile, { kind: 'editor', version: this.deps.version }, clock),
    });
    const listener = endpoint.onDidChange((state) => {
      const { log } = this.deps;
      if (state.kind === 'listening') {
        log.write(
          'info',
          `Agents outside the editor are served on 127.0.0.1:${state.port}; the token is in ${tokenFile}`,
        );
      }
      this.changes.fire(state);
    });
    this.open = { port, endpoint, listener };
    this.changes.fire(this.state);
  }

  private close(): void {
    const { open } = this;
    this.open = undefined;
    if (!open) return;
    open.listener.dispose();
    this.closing = Promise.all([this.closing, open.endpoint.dispose()]).then(() => undefined);
  }
}
