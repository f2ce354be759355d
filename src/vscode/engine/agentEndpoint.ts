/** Serves this window to agents outside the editor (G6), on a port of the system or of the setting. Does not import `vscode`. */
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
  private endpoint: StableEndpoint | undefined;
  private closing: Promise<unknown> = Promise.resolve();
  /** Undefined before the first use and after the end. */
  private port: number | undefined;

  readonly onDidChange = this.changes.event;

  constructor(private readonly deps: AgentEndpointDeps) {}

  get state(): AgentEndpointState {
    return this.endpoint?.state ?? { kind: 'off' };
  }

  get tokenFile(): string {
    return this.deps.tokenFile;
  }

  /** Sessions on another port end. @param port the port to listen on; 0 for a port that the system chooses */
  use(port: number | undefined): void {
    if (port === this.port) return;
    this.port = port;
    const { endpoint } = this;
    this.endpoint = undefined;
    // The setting may return to a port that still closes.
    this.closing = Promise.all([this.closing, endpoint?.dispose()]).then(() => this.begin());
  }

  async dispose(): Promise<void> {
    this.changes.dispose();
    this.use(undefined);
    await this.closing;
  }

  private begin(): void {
    const { port } = this;
    if (this.endpoint || port === undefined) return;
    const { tokenFile, clock, log, version } = this.deps;
    const secret = secretInFile(tokenFile, { kind: 'editor', version }, clock);
    const endpoint = new StableEndpoint({ ...this.deps, port, secret });
    endpoint.onDidChange((state) => {
      if (endpoint !== this.endpoint) return;
      if (state.kind === 'listening') {
        const address = `127.0.0.1:${state.port}`;
        log.write('info', `Agents outside the editor are served on ${address}; the token is in ${tokenFile}`);
      }
      this.changes.fire(state);
    });
    this.endpoint = endpoint;
    this.changes.fire(this.state);
  }
}
