/**
 * Decides which waiting servers cause a message about the sign-in: each one once while it waits. After a sign-out, a server causes
 * no message until the next sign-in. Does not import `vscode`.
 */
import type { ServerStatus } from '../../core/reconcile/status.js';

export class SignInNews {
  private shown = new Set<string>();
  private readonly signedOut = new Set<string>();

  of(servers: readonly Pick<ServerStatus, 'id' | 'state'>[]): string[] {
    const waiting = servers.filter(({ state }) => state.kind === 'signInNeeded').map(({ id }) => id);
    const news = waiting.filter((id) => !this.shown.has(id) && !this.signedOut.has(id));
    this.shown = new Set(waiting);
    return news;
  }

  signsIn(server: string): void {
    this.signedOut.delete(server);
  }

  signsOut(server: string): void {
    this.signedOut.add(server);
  }
}
