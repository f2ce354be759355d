/**
 * Finds out if anything still listens after an exchange broke off (X4). Invariants: one probe at a time; silence
 * within the limit does not prove death; an unreachable server is dead at once.
 */
import { delay, limited, type Clock } from '../../base/clock.js';
import { inNextTurn } from '../../base/turns.js';
import type { TransportFailure } from '../../failures/transportFailure.js';
import type { HttpEndpoint } from './endpoint.js';
import { broken, discard } from './exchange.js';

interface LivenessDeps {
  readonly endpoint: HttpEndpoint;
  readonly clock: Clock;
  readonly die: (cause: string) => void;
  /** Aborted when the connection is closed. After it, nothing is probed or dies. */
  readonly signal: AbortSignal;
}

const probeLimitMs = 2000;
const mostAttempts = 3;

export class Liveness {
  private probing: Promise<void> | undefined;
  private probes = 0;

  constructor(private readonly deps: LivenessDeps) {}

  /**
   * Considers the meaning of a failed exchange for the connection. Requests with the same cause of failure report
   * first, because the end of the connection makes the results of the others unknown.
   */
  judge({ reason, message }: TransportFailure): void {
    const { signal, die } = this.deps;
    if (signal.aborted) return;
    if (reason.kind === 'unreachable' || reason.kind === 'sessionLost')
      inNextTurn(() => signal.aborted || die(message));
    else if (reason.kind === 'broken') this.suspect();
  }

  suspect(): void {
    const { clock, signal } = this.deps;
    this.probing ??= limited(clock, probeLimitMs, signal, (limit) => this.probe(limit)).finally(
      () => (this.probing = undefined),
    );
  }

  /** Resolves to true if the server answers a ping in the present session. */
  async answersPing(): Promise<boolean> {
    const { endpoint, signal } = this.deps;
    const reply = await endpoint.post(this.ping(), 'other', signal).catch(() => undefined);
    if (reply) discard(reply.body);
    return reply !== undefined && reply.status >= 200 && reply.status <= 299;
  }

  private async probe(signal: AbortSignal): Promise<void> {
    const { endpoint, clock, die } = this.deps;
    for (let attempt = 1; ; attempt++) {
      try {
        const reply = await endpoint.post(this.ping(), 'other', signal);
        reply.body.destroy();
        return;
      } catch (error) {
        const { reason, message } = broken(error, endpoint.url);
        // A server lives if it wants a sign-in or redirects.
        if (signal.aborted || (reason.kind !== 'unreachable' && reason.kind !== 'broken')) return;
        if (reason.kind === 'unreachable' || attempt === mostAttempts) return die(message);
        await delay(clock, 20 * attempt, signal).catch(() => undefined);
      }
    }
  }

  private ping(): string {
    return JSON.stringify({ jsonrpc: '2.0', id: `probe-${++this.probes}`, method: 'ping' });
  }
}
