/**
 * A session's client as servers reach it: in one of its calls on the stream of that call, as long as it is in flight,
 * else on the stream on which it listens (spec G4).
 */
import type { BackendClient } from './backend.js';
import { isToldTo, question } from './dialect.js';
import type { MessageStream } from './eventStreams.js';
import { notificationMessage, type Params } from './jsonRpc.js';
import { isLoudEnough } from './logLevels.js';
import type { Session } from './session.js';

export class SessionClient implements BackendClient {
  /** @param ofCall the stream of the call, while there is one. */
  constructor(
    readonly session: Session,
    private readonly ofCall: () => MessageStream | undefined = () => undefined,
    readonly dialog: string | undefined = undefined,
  ) {}

  get isGone(): boolean {
    return this.session.isClosed;
  }

  get capabilities(): Params {
    return this.session.clientCapabilities;
  }

  get logLevel(): string | undefined {
    return this.session.logLevel;
  }

  ask(
    method: string,
    params: Params | undefined,
    signal: AbortSignal,
    onProgress?: (progress: Params) => void,
  ): Promise<Params> {
    let asked: Params | undefined;
    try {
      asked = question(this.session.protocolVersion, method, params);
    } catch (error) {
      return Promise.reject(error as Error);
    }
    return this.session.questions.ask(this.stream, method, asked, signal, onProgress);
  }

  tell(method: string, params: Params): void {
    if (!isToldTo(this.session.protocolVersion, method)) return;
    if (method === 'notifications/message' && !isLoudEnough(params['level'], this.logLevel)) return;
    this.stream?.send(notificationMessage(method, params));
  }

  private get stream(): MessageStream | undefined {
    return this.ofCall() ?? this.session.listening;
  }
}
