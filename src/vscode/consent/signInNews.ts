/**
 * Each waiting server causes one message. After a sign-out, it causes none until the next sign-in.
 * Without `vscode`.
 */
import type { ServerStatus } from '../../core/reconcile/status.js';

export class SignInNews {
  private shown = new Set<string>();
  private readonly signedOut = new Set<string>();

  of(servers: readonly Pick<ServerStatus, 'id' | 'state'>[]): string[] {
    const waiting = servers
      .filter(({ state }) => state.kind === 'signInNeeded')
      .map(({ id }) => id);
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
