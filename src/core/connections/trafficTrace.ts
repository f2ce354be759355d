/** JSON-RPC as lines of a server's log, on demand (spec E4): `→ tools/call #3 {…}`, `← tools/call #3 12 ms {…}`. */
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../base/clock.js';
import type { Log } from '../base/log.js';
import { shortened } from './jsonRpc.js';

const bodyLimit = 4000;
const mostOpen = 1000;

export interface TrafficTraceOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Asked for each message; nothing is computed while it says no. */
  readonly enabled: () => boolean;
}

export class TrafficTrace {
  private readonly open = new Map<string, { readonly method: string; readonly since: number }>();

  constructor(private readonly options: TrafficTraceOptions) {}

  sent(message: JSONRPCMessage): void {
    if (this.options.enabled()) this.write('→', '←', message);
  }

  received(message: JSONRPCMessage): void {
    if (this.options.enabled()) this.write('←', '→', message);
  }

  private write(arrow: string, back: string, message: JSONRPCMessage): void {
    const { log, clock } = this.options;
    const id = (message as { id?: RequestId }).id;
    if ('method' in message) {
      if (id !== undefined) {
        if (this.open.size >= mostOpen) this.open.clear();
        this.open.set(`${arrow}${id}`, { method: message.method, since: clock.now() });
      }
      const number = id === undefined ? '' : ` #${id}`;
      log.write('trace', `${arrow} ${message.method}${number} ${body(message.params ?? {})}`);
      return;
    }
    const key = `${back}${id}`;
    const asked = this.open.get(key);
    this.open.delete(key);
    const took = asked ? ` ${clock.now() - asked.since} ms` : '';
    const content = 'result' in message ? body(message.result) : `error ${body(message.error)}`;
    log.write('trace', `${arrow} ${asked?.method ?? 'answer'} #${id}${took} ${content}`);
  }
}

function body(value: unknown): string {
  return shortened(JSON.stringify(value), bodyLimit);
}
