/**
 * Offers toolsets to the agent of Cursor, which takes MCP servers over an API of its own (G1). Does not import `vscode`.
 *
 * Invariants: Cursor is told of a server only when something about it has changed. Nothing throws: a server that Cursor does
 * not take keeps no other away, and is offered again with the next change.
 */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../core/base/isObject.js';
import { toDisposable, type Disposable } from '../../core/base/disposables.js';
import type { Log } from '../../core/base/log.js';
import { asText } from '../../core/base/text.js';
import type { GatewayEndpoint } from '../../core/gateway/http/gateway.js';

/** The part of `vscode.cursor.mcp` that is used here. */
export interface CursorMcp {
  registerServer(config: { readonly name: string; readonly server: GatewayEndpoint }): unknown;
  unregisterServer(name: string): unknown;
}

/** Returns undefined in every editor but Cursor. @param cursor What the editor has as `vscode.cursor`. */
export function cursorMcpOf(cursor: unknown): CursorMcp | undefined {
  const mcp = isObject(cursor) ? cursor['mcp'] : undefined;
  return isCursorMcp(mcp) ? mcp : undefined;
}

function isCursorMcp(value: unknown): value is CursorMcp {
  return (
    isObject(value) && typeof value['registerServer'] === 'function' && typeof value['unregisterServer'] === 'function'
  );
}

export class CursorServers implements Disposable {
  private readonly offered = new Map<string, GatewayEndpoint>();
  private readonly end = toDisposable(() => this.offer(new Map()));

  constructor(
    private readonly mcp: CursorMcp,
    private readonly log: Log,
  ) {}

  /** Takes note that exactly these toolsets are served, each at its address. */
  offer(wanted: ReadonlyMap<string, GatewayEndpoint>): void {
    for (const [name, server] of [...this.offered]) {
      if (isDeepStrictEqual(wanted.get(name), server)) continue;
      this.offered.delete(name);
      this.tell(name, () => this.mcp.unregisterServer(name));
    }
    for (const [name, server] of wanted) {
      if (this.offered.has(name)) continue;
      if (this.tell(name, () => this.mcp.registerServer({ name, server }))) this.offered.set(name, server);
    }
  }

  dispose(): void {
    this.end.dispose();
  }

  /** Returns whether Cursor took it, as far as it says so at once. */
  private tell(name: string, call: () => unknown): boolean {
    const failed = (error: unknown): void =>
      this.log.write('warn', `${name}: Cursor did not take what it was told: ${asText(error)}`);
    try {
      // Its types promise nothing, and its implementation may promise all the same.
      void Promise.resolve(call()).catch(failed);
      return true;
    } catch (error) {
      failed(error);
      return false;
    }
  }
}
