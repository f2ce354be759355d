/**
 * The engine of a window: its audiences are the editor, with the agent hosts in it, and agents
 * outside. It brings the YAML parser and much else (P1). Without `vscode`.
 */
import type { OfferLedger } from '../../core/approval/offerLedger.js';
import { Emitter } from '../../core/base/events.js';
import { ConversationTools } from '../../core/calling/conversationTools.js';
import { Engine, type EngineOptions } from '../../core/engine/openEngine.js';
import type { PersonsApprovals } from '../../core/engine/personsApprovals.js';
import { tokenFileOf } from '../../core/files/tokenFile.js';
import type { GatewayDeps } from '../../core/gateway/http/gateway.js';
import type { StableEndpoint } from '../../core/gateway/http/stableEndpoint.js';
import type { ExpectedClient, Fields } from '../../core/protocol/client.js';
import { KeptAddress, type EditorAddress } from './editorEndpoint.js';
import { WindowUse } from './windowUse.js';

export interface WindowOptions extends Omit<EngineOptions, 'expectedClient'> {
  /** Predicts the capabilities of the editor, and remembers those it declares. */
  readonly editor: { expected(): ExpectedClient; note(capabilities: Fields): void };
  readonly address: EditorAddress;
}

/** The engine, with the parts that take the answers of the person. */
export type ShellEngine = WindowEngine & {
  readonly approvals: PersonsApprovals;
  readonly offers: OfferLedger;
};

/** The servers stop after it (X5), within the editor's limit. */
const finishMs = 1_500;

export class WindowEngine extends Engine {
  readonly tokenFile: string;
  /** The endpoint for agents outside the editor. It does not begin before it is given a port. */
  readonly endpoint: StableEndpoint;
  readonly editorEndpoint: StableEndpoint;
  readonly use: WindowUse;
  readonly conversationTools = new ConversationTools(this.host, this.delivery);
  servesAgentHost = false;
  private readonly agentHostBegan = new Emitter<void>();
  private readonly address: KeptAddress;

  readonly onDidServeAgentHost = this.agentHostBegan.event;

  constructor({ editor, address, ...options }: WindowOptions) {
    super({ ...options, finishMs, expectedClient: editor.expected });
    const { folder, home, surroundings } = options;
    const { clock, version } = surroundings;
    this.tokenFile = tokenFileOf(folder ?? home, home);
    this.endpoint = this.serve({
      kind: 'agents',
      tokenFile: this.tokenFile,
      program: { kind: 'editor', version },
    });
    this.logPlace(
      this.endpoint,
      (place) =>
        `Agents outside the editor are served on ${place}; the token is in ${this.tokenFile}`,
    );
    this.use = new WindowUse({
      clock,
      servers: () => this.host.snapshot.servers,
      isRecorded: () => options.settings.recordsCalls?.() !== false,
    });
    if (folder !== undefined) this.use.follow(folder, home);
    this.address = new KeptAddress(address, clock, this.log);
    const onClient: GatewayDeps['onClient'] = (kind, capabilities) => {
      if (kind === 'editor') editor.note(capabilities);
      if (kind === 'agentHost') this.beginAgentHost();
    };
    this.editorEndpoint = this.serve({
      kind: 'editor',
      secret: this.address,
      name: address.editor,
      listeners: { onClient },
    });
    this.logPlace(this.editorEndpoint, (place) => `The gateway listens on ${place}`);
  }

  override async dispose(): Promise<void> {
    this.use.dispose();
    await super.dispose();
  }

  /** Disconnects clients with the old token. Rejects if the new one cannot be stored. */
  renewEditorToken(): Promise<void> {
    return this.address.renew();
  }

  private beginAgentHost(): void {
    if (this.servesAgentHost) return;
    this.servesAgentHost = true;
    this.agentHostBegan.fire();
  }

  private logPlace(endpoint: StableEndpoint, text: (place: string) => string): void {
    endpoint.onDidChange((state) => {
      if (state.kind === 'listening') this.log.write('info', text(`127.0.0.1:${state.port}`));
    });
  }
}
