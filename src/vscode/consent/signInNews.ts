/**
 * Says of which servers a person is told that they wait for a sign-in: of each once, as long as it waits. Who signs out need
 * not be told, whatever changes until that is done and afterwards, until they sign in again. Does not import `vscode`.
 */
import type { ServerStatus } from '../../core/reconcile/status.js';

export class SignInNews {
  private told = new Set<string>();
  private readonly signedOut = new Set<string>();

  /** Returns those to tell of now. */
  of(servers: readonly Pick<ServerStatus, 'id' | 'state'>[]): string[] {
    const waiting = servers.filter(({ state }) => state.kind === 'signInNeeded').map(({ id }) => id);
    const news = waiting.filter((id) => !this.told.has(id) && !this.signedOut.has(id));
    this.told = new Set(waiting);
    return news;
  }

  signsIn(server: string): void {
    this.signedOut.delete(server);
  }

  signsOut(server: string): void {
    this.signedOut.add(server);
  }
}
