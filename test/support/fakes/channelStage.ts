/** A channel of Streamable HTTP to a fake server, with records of its events. */
import { LoopShare } from '../../../src/core/base/turns.js';
import assert from 'node:assert/strict';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { StreamableChannel } from '../../../src/core/connections/http/streamable.js';
import { FakeClock } from './fakeClock.js';
import { answered, status, type FakeEndpoint, type Sent } from './fakeEndpoint.js';

const initializeResult = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'x', version: '1' },
};

export class ChannelStage {
  readonly clock = new FakeClock();
  readonly delivered: JSONRPCMessage[] = [];
  readonly died: string[] = [];
  renewed = 0;
  /** The number of deliveries before the death of the channel. */
  deliveredBefore: number | undefined;
  private opened: StreamableChannel | undefined;

  get channel(): StreamableChannel {
    assert(this.opened, 'no channel is open');
    return this.opened;
  }

  /** Opens the channel to a server with sessions. */
  async open(server: FakeEndpoint): Promise<void> {
    const { clock, delivered, died } = this;
    const channel = new StreamableChannel({
      endpoint: server.endpoint,
      clock,
      share: new LoopShare(clock),
      log: { write: () => {} },
      timeoutMs: 30_000,
      deliver: (message) => void delivered.push(message),
      die: (cause) => {
        this.deliveredBefore ??= delivered.length;
        died.push(cause);
      },
      onRenewed: () => (this.renewed += 1),
    });
    this.opened = channel;
    const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize', params: {} } as const;
    assert.equal(await channel.answerTo(0, initialize), undefined);
    await this.flowUntil(channel.send({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    delivered.length = 0;
  }

  async flowUntil(done: Promise<unknown>): Promise<void> {
    let isDone = false;
    void done.finally(() => (isDone = true)).catch(() => undefined);
    while (!isDone) await this.clock.flow(10);
    await done;
  }

  async end(): Promise<void> {
    await this.opened?.close();
  }
}

/** Answers every message except calls. Each initialize gets a new session. */
export function basics(): (message: Sent) => ReturnType<typeof status> {
  let sessions = 0;
  return (message) => {
    if (message.method === 'initialize') {
      return answered(message, initializeResult, { 'mcp-session-id': `s${++sessions}` });
    }
    return message.id === undefined ? status(202) : answered(message, {});
  };
}
