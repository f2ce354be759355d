/**
 * Joins sign-ins to the servers of the host (X7). A server that waits for a sign-in starts after one in any window.
 * This module holds no token.
 */
import { judgeLaunch, type Approvals } from '../approval/approvals.js';
import type { Disposable } from '../base/disposables.js';
import type { Redactor } from '../base/log.js';
import type { ConfiguredServer, Launch } from '../config/model.js';
import type { SignInBrowser, SignIns, SignInStatus } from '../connections/http/oauth/contract.js';
import type { ServerUnit } from '../reconcile/serverUnit.js';

interface ServerSignInsDeps {
  readonly signIns: SignIns | undefined;
  readonly approvals: Approvals | undefined;
  readonly redactor: Redactor;
  readonly servers: () => readonly ConfiguredServer[];
  readonly unitOf: (server: string) => ServerUnit | undefined;
  readonly onChange: () => void;
}

const none: SignInStatus = { kind: 'none' };

export class ServerSignIns implements Disposable {
  private readonly waiting = new Set<string>();
  private readonly subscription: Disposable | undefined;

  constructor(private readonly deps: ServerSignInsDeps) {
    this.subscription = deps.signIns?.onDidChange(() => this.follow());
  }

  statusOf(server: ConfiguredServer): SignInStatus {
    const status = (server.kind === 'valid' && this.deps.signIns?.statusOf(server.definition.launch)) || none;
    return status.kind === 'needed' ? { ...status, why: this.deps.redactor.redact(status.why) } : status;
  }

  /**
   * Rejects with a message for a person, or with the signal's reason. Resolves after the start of the server,
   * successful or not.
   */
  async signIn(server: string, browser: SignInBrowser, signal: AbortSignal): Promise<void> {
    const { signIns, launch, unit } = this.known(server);
    try {
      await signIns.signIn(launch, browser, signal);
    } catch (error) {
      if (!signal.aborted) throw new Error(this.deps.redactor.redact((error as Error).message), { cause: error });
      throw error;
    }
    await unit.start();
  }

  /** The tools are withdrawn, because a person who signs out does not want agents to go on. */
  async signOut(server: string): Promise<void> {
    const { signIns, launch, unit } = this.known(server);
    await unit.stop();
    await signIns.signOut(launch);
  }

  dispose(): void {
    this.subscription?.dispose();
  }

  private follow(): void {
    for (const server of this.deps.servers()) {
      const { kind } = this.statusOf(server);
      if (kind === 'needed') this.waiting.add(server.id);
      if (kind !== 'signedIn' || !this.waiting.delete(server.id)) continue;
      const unit = this.deps.unitOf(server.id);
      if (unit && unit.facts.stoppedSince === undefined) void unit.start();
    }
    this.deps.onChange();
  }

  private known(id: string): { signIns: SignIns; launch: Launch; unit: ServerUnit } {
    const { signIns, approvals } = this.deps;
    const server = this.deps.servers().find((each) => each.id === id);
    const unit = this.deps.unitOf(id);
    if (!server || !unit) throw new Error(`There is no server "${id}" in the configuration.`);
    if (!signIns) throw new Error('A sign-in cannot be stored here.');
    if (server.kind !== 'valid') throw new Error(`The entry of "${id}" has an error; see Problems.`);
    if (judgeLaunch(server.definition, approvals).kind === 'pending') {
      throw new Error(`"${id}" waits for approval. Approve it first.`);
    }
    return { signIns, launch: server.definition.launch, unit };
  }
}
