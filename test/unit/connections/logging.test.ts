import assert from 'node:assert/strict';
import type { Log } from '../../../src/core/base/log.js';
import { logMessage, trafficTrace } from '../../../src/core/connections/logging.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

describe('the trace of messages', () => {
  it('the trace pairs answers with requests in both directions, and writes nothing while it is off', () => {
    const clock = new FakeClock();
    const lines: string[] = [];
    let on = false;
    const log: Log = { write: (level, text) => lines.push(`${level} ${text}`) };
    const trace = trafficTrace(log, clock, () => on);
    trace.sent({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    on = true;
    trace.received({ jsonrpc: '2.0', id: 1, result: { tools: [] } });
    trace.sent({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'x' } });
    trace.received({ jsonrpc: '2.0', id: 2, method: 'ping' });
    clock.advance(12);
    trace.sent({ jsonrpc: '2.0', id: 2, result: {} });
    trace.received({ jsonrpc: '2.0', id: 2, error: { code: -1, message: 'no' } });
    trace.received({
      jsonrpc: '2.0',
      method: 'notifications/x',
      params: { text: 'y'.repeat(9000) },
    });
    const last = lines.pop() ?? '';
    assert(last.length < 4100 && last.endsWith('…'));
    assert.deepEqual(lines, [
      'trace ← answer #1 {"tools":[]}',
      'trace → tools/call #2 {"name":"x"}',
      'trace ← ping #2 {}',
      'trace → ping #2 12 ms {}',
      'trace ← tools/call #2 12 ms error {"code":-1,"message":"no"}',
    ]);
  });

  it('the trace cuts long methods and ids, because a server chooses them', () => {
    const lines: string[] = [];
    const log = { write: (_: string, text: string): number => lines.push(text) };
    const trace = trafficTrace(log, new FakeClock(), () => true);
    const long = 'm'.repeat(1_000_000);
    trace.received({ jsonrpc: '2.0', id: long, method: long });
    trace.sent({ jsonrpc: '2.0', id: long, result: {} });
    trace.received({ jsonrpc: '2.0', method: long });
    assert.equal(lines.length, 3);
    for (const line of lines) assert.ok(line.length < 300, String(line.length));
    assert.match(
      lines[1] ?? '',
      /^→ m+… #m+… 0 ms \{\}$/,
      'the answer is known to be that of the question',
    );
  });
});

describe('log messages of servers', () => {
  it('log messages with an invalid level count as information', () => {
    const lines: string[] = [];
    const log = { write: (level: string, text: string): number => lines.push(`${level} ${text}`) };
    for (const level of [
      'warning',
      'loud',
      'constructor',
      '__proto__',
      undefined,
      5,
      {},
      { toString: 1 },
      [{ toString: 1 }],
    ])
      logMessage(log, { level, data: 'x' });
    assert.deepEqual(lines, ['warn x', ...Array.from({ length: 8 }, () => 'info x')]);
  });
});
