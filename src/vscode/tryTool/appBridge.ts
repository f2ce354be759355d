/**
 * The host side of an app (G8, MCP Apps 2026-01-26). It answers each request once, and says nothing
 * before the app is ready.
 */
import { asFields, isObject, type Fields } from '../../core/base/isObject.js';
import { messageOf } from '../../core/base/text.js';
import { errorCodes } from '../../core/protocol/errors.js';
import type { OtherOutcome, ToolOutcome } from '../../core/protocol/request.js';

const version = '2026-01-26';
const mostRequests = 32;

interface AppBridgeDeps {
  readonly tool: Fields;
  readonly arguments: Fields;
  readonly result: Fields;
  readonly productVersion: string;
  readonly theme: () => 'light' | 'dark';
  readonly call: (name: string, given: Fields, signal: AbortSignal) => Promise<ToolOutcome>;
  /** Reads a resource of the server, if the filters let it in. */
  readonly read: (uri: string, signal: AbortSignal) => Promise<OtherOutcome>;
  readonly send: (message: Fields) => void;
}

export class AppBridge {
  private readonly ending = new AbortController();
  private inFlight = 0;
  private hasBegun = false;

  constructor(private readonly deps: AppBridgeDeps) {}

  /** Takes any message of the app. Never throws. */
  receive(message: unknown): void {
    if (this.ending.signal.aborted || !isObject(message)) return;
    const { id, method, params } = message;
    if (typeof method !== 'string') return;
    const given = asFields(params);
    if (typeof id !== 'string' && typeof id !== 'number') return this.notified(method);
    if (this.inFlight >= mostRequests)
      return this.refuse(id, errorCodes.server, 'Too many requests are in flight.');
    this.inFlight += 1;
    void this.answer(id, method, given).finally(() => (this.inFlight -= 1));
  }

  themeChanged(): void {
    if (this.hasBegun)
      this.send({
        method: 'ui/notifications/host-context-changed',
        params: { theme: this.deps.theme() },
      });
  }

  dispose(): void {
    this.ending.abort();
  }

  private notified(method: string): void {
    if (method !== 'ui/notifications/initialized' || this.hasBegun) return;
    this.hasBegun = true;
    const { arguments: given, result } = this.deps;
    this.send({ method: 'ui/notifications/tool-input', params: { arguments: given } });
    this.send({ method: 'ui/notifications/tool-result', params: result });
  }

  private async answer(id: string | number, method: string, params: Fields): Promise<void> {
    try {
      const outcome = await this.outcomeOf(method, params);
      if (outcome.kind === 'result') this.send({ id, result: outcome.result });
      else if (outcome.kind === 'error') this.refuse(id, outcome.code, outcome.message);
      else this.refuse(id, errorCodes.server, 'The call was cancelled.');
    } catch (error) {
      this.refuse(id, errorCodes.internal, messageOf(error));
    }
  }

  private outcomeOf(method: string, params: Fields): Promise<Answer> | Answer {
    const { signal } = this.ending;
    const { name, arguments: given, uri } = params;
    const result = method === 'ui/initialize' ? this.initialized() : answers.get(method);
    if (result) return { kind: 'result', result };
    if (method === 'tools/call') {
      if (typeof name !== 'string') return invalid('`name` must be a string.');
      return this.deps.call(name, asFields(given), signal);
    }
    if (method === 'resources/read')
      return typeof uri === 'string'
        ? this.deps.read(uri, signal)
        : invalid('`uri` must be a string.');
    return {
      kind: 'error',
      code: errorCodes.methodNotFound,
      message: `Method not found: ${method}`,
    };
  }

  private initialized(): Fields {
    const { productVersion, tool, theme } = this.deps;
    return {
      protocolVersion: version,
      hostInfo: { name: 'MCP Toolsets', version: productVersion },
      hostCapabilities: { serverTools: {}, serverResources: {} },
      hostContext: {
        theme: theme(),
        displayMode: 'inline',
        availableDisplayModes: ['inline'],
        platform: 'desktop',
        toolInfo: { tool },
      },
    };
  }

  private refuse(id: string | number, code: number, message: string): void {
    this.send({ id, error: { code, message } });
  }

  private send(message: Fields): void {
    if (!this.ending.signal.aborted) this.deps.send({ jsonrpc: '2.0', ...message });
  }
}

const answers = new Map<string, Fields>([
  ['ping', {}],
  ['ui/request-display-mode', { mode: 'inline' }],
  ...['ui/open-link', 'ui/message', 'ui/download-file'].map(
    (method) => [method, { isError: true }] as const,
  ),
]);

type Answer = { readonly kind: 'result'; readonly result: Fields } | ToolOutcome | OtherOutcome;

function invalid(message: string): Answer {
  return {
    kind: 'error',
    code: errorCodes.invalidParams,
    message,
  };
}
