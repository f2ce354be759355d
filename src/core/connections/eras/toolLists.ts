/**
 * Lists the tools of a modern server for what they want mirrored in headers, when it has refused those of a call. It is
 * asked once for all calls that wait for it.
 */
import type { JSONRPCMessage, JSONRPCResponse, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { isObject } from '../../base/isObject.js';
import type { Fields } from '../../protocol/client.js';
import type { RequestHeaders } from './requestHeaders.js';

interface ToolListsDeps {
  readonly send: (message: JSONRPCMessage) => Promise<void>;
  readonly headers: RequestHeaders;
  /** What requests say of their client. */
  readonly meta: Fields;
}

const mostPages = 1_000;
let nextId = 1;

export class ToolLists {
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
    const answer = new Promise((resolve) => this.asked.set(id, resolve));
    try {
      await this.deps.send({ jsonrpc: '2.0', id, method: 'tools/list', params });
      return await answer;
    } catch {
      return undefined;
    } finally {
      this.asked.delete(id);
    }
  }
}
