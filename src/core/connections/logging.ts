import type { Clock } from '../base/clock.js';
import { BoundedMap } from '../base/boundedMap.js';
import type { Log, LogLevel } from '../base/log.js';
import { TokenBucket } from '../base/tokenBucket.js';
import type { PeerTrace } from '../peer/peer.js';
import { inBrief, shortened } from '../protocol/inBrief.js';
import { isLogLevel, logLevelRank } from '../protocol/versions.js';
import type { Fields } from '../protocol/client.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';

const burst = 500;
const perSecond = 50;

/** A log safe from floods (S2). Lines at level trace were requested, so they pass. */
export function boundedLog(target: Log, clock: Clock): Log {
  const lines = new TokenBucket(clock, burst, perSecond);
  let leftOut = 0;
  return {
    write: (level, message) => {
      if (level === 'trace') return target.write(level, message);
      if (lines.tryTake()) return target.write(level, message);
      leftOut++;
      if (leftOut > 1) return;
      clock.after(1_000, () => {
        target.write('warn', `${leftOut} more lines within a second were left out.`);
        leftOut = 0;
      });
    },
  };
}

const loggedDataLength = 4000;

export function logMessage(log: Log, { level, logger, data }: Fields): void {
  const from = typeof logger === 'string' ? `[${logger}] ` : '';
  const shown =
    typeof data === 'string' ? shortened(data, loggedDataLength) : inBrief(data, loggedDataLength);
  const ours = isLogLevel(level) ? (logLevels[logLevelRank(level)] ?? 'error') : 'info';
  log.write(ours, `${shortened(from, 200)}${data === undefined ? '' : shown}`);
}

/** By the rank of the server's level; higher ones are errors. */
const logLevels: readonly LogLevel[] = ['debug', 'info', 'info', 'warn'];

const bodyLimit = 4000;
/** A server chooses the methods and ids of its requests, of any length. */
const methodLimit = 100;
const idLimit = 60;
const mostOpen = 1000;

/** Writes JSON-RPC while it is enabled (E4): `→ tools/call #3 {…}`, `← tools/call #3 12 ms {…}`. */
export function trafficTrace(log: Log, clock: Clock, isEnabled: () => boolean): PeerTrace {
  const open = new BoundedMap<string, { readonly method: string; readonly since: number }>(
    mostOpen,
  );
  const write = (arrow: string, back: string, message: JSONRPCMessage): void => {
    if (!isEnabled()) return;
    const given = (message as { id?: RequestId }).id;
    const id = given === undefined ? undefined : shortened(String(given), idLimit);
    if ('method' in message) {
      const method = shortened(message.method, methodLimit);
      if (id !== undefined) open.set(`${arrow}${id}`, { method, since: clock.now() });
      const number = id === undefined ? '' : ` #${id}`;
      return log.write(
        'trace',
        `${arrow} ${method}${number} ${inBrief(message.params ?? {}, bodyLimit)}`,
      );
    }
    const key = `${back}${id}`;
    const asked = open.get(key);
    open.delete(key);
    const took = asked ? ` ${clock.now() - asked.since} ms` : '';
    const [what, value] = 'result' in message ? ['', message.result] : ['error ', message.error];
    log.write(
      'trace',
      `${arrow} ${asked?.method ?? 'answer'} #${id}${took} ${what}${inBrief(value, bodyLimit)}`,
    );
  };
  return {
    sent: (message) => write('→', '←', message),
    received: (message) => write('←', '→', message),
  };
}
