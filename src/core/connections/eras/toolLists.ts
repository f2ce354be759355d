/**
 * Lists the tools of a modern server for what they want mirrored in headers, when it has refused those of a call. It is
 * asked once for all calls that wait for it.
 */
import type { JSONRPCMessage, JSONRPCResponse, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/disposables.js';
import { isObject } from '../../base/isObject.js';
import type { Fields } from '../../protocol/client.js';
import type { RequestHeaders } from './requestHeaders.js';

interface ToolListsDeps {
  readonly clock: Clock;
  readonly send: (message: JSONRPCMessage) => Promise<void>;
  readonly headers: RequestHeaders;
  /** What requests say of their client. */
  readonly meta: Fields;
}

const mostPages = 1_000;
/** Calls wait for it. */
const pageLimitMs = 10_000;
let nextId = 1;

export class ToolLists implements Disposable {
  private readonly asked = new Map<RequestId, (result: unknown) => void>();
  private learning: Promise<void> | undefined;

  constructor(private readonly deps: ToolListsDeps) {}

  /** Resolves when what the tools want is known as far as the server says it. */
  learn(): Promise<void> {
    this.learning ??= this.learnAll().finally(() => (this.learning = undefined));
    return this.learning;
  }

  /** Whether the answer is to a question of this. */
  hearsAnswer(answer: JSONRPCResponse): boolean {
    const take = answer.id === undefined ? undefined : this.asked.get(answer.id);
    take?.('result' in answer ? answer.result : undefined);
    return take !== undefined;
  }

  /** Nothing is waited for any more. */
  dispose(): void {
    for (const take of this.asked.values()) take(undefined);
  }

  private async learnAll(): Promise<void> {
    let cursor: unknown;
    for (let pages = 0; pages < mostPages; pages++) {
      const result = await this.page(cursor);
      if (!isObject(result)) return;
      this.deps.headers.learn(result);
      cursor = result['nextCursor'];
      if (typeof cursor !== 'string' || cursor === '') return;
    }
  }

  private async page(cursor: unknown): Promise<unknown> {
    const id = `tools-${nextId++}`;
    const params = { ...(cursor !== undefined && { cursor }), _meta: this.deps.meta };
    const { clock, send } = this.deps;
    const answer = new Promise((resolve) => this.asked.set(id, resolve));
    const limit = clock.after(pageLimitMs, () => {
      this.asked.get(id)?.(undefined);
      send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }).catch(() => undefined);
    });
    try {
      await send({ jsonrpc: '2.0', id, method: 'tools/list', params });
      return await answer;
    } catch {
      return undefined;
    } finally {
      limit.dispose();
      this.asked.delete(id);
    }
  }
}
