/** Rule X3: answers of servers to `initialize`, and their earlier messages. */
import { LoopShare } from '../../../../src/core/base/turns.js';
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { openConnection, type Opening } from '../../../../src/core/connections/eras/opening.js';
import { TransportFailure } from '../../../../src/core/failures/transportFailure.js';
import type { ServerTransport } from '../../../../src/core/peer/peer.js';
import { FakeClock } from '../../../support/fakes/fakeClock.js';

const right = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'n', version: '1' },
};
const tool = { name: 'a', inputSchema: { type: 'object' } };

interface OverOpening {
  readonly signal: AbortSignal;
  readonly initialized: () => Promise<void>;
  readonly listed: object;
}

/**
 * Opens a connection to a server that sends `said` at `initialize`. The server ends without an
 * answer in `said`.
 */
function open(
  ...said: readonly object[]
): Promise<{ opening: Opening; lines: string[]; sent: JSONRPCMessage[] }> {
  return openTo(said, (transport) => transport.onclose?.());
}

async function openTo(
  said: readonly object[],
  unanswered: (transport: ServerTransport) => void,
  clock = new FakeClock(),
  over: Partial<OverOpening> = {},
): Promise<{ opening: Opening; lines: string[]; sent: JSONRPCMessage[] }> {
  const sent: JSONRPCMessage[] = [];
  const lines: string[] = [];
  const transport: ServerTransport = {
    causeOfEnd: 'It ended.',
    start: () => Promise.resolve(),
    close: () => Promise.resolve(transport.onclose?.()),
    send: (message) => {
      sent.push(message);
      const { id, method } = message as { id?: number; method?: string };
      const say = (answer: object): void =>
        transport.onmessage?.({ jsonrpc: '2.0', ...answer } as JSONRPCMessage);
      queueMicrotask(() => {
        if (method === 'tools/list')
          return say({ id, ...(over.listed ?? { result: { tools: [tool] } }) });
        if (method === 'prompts/list') return say({ id, result: { prompts: [{ name: 'p' }] } });
        if (method === 'server/discover')
          return say({ id, error: { code: -32601, message: 'Method not found' } });
        if (method !== 'initialize') return;
        for (const each of said) say(each);
        if (!said.some((each) => 'id' in each && Number(each.id) === id)) unanswered(transport);
      });
      return method === 'notifications/initialized' && over.initialized
        ? over.initialized()
        : Promise.resolve();
    },
  };
  const opening = await openConnection({
    transport,
    era: { expected: 'legacy', onSeen: () => {} },
    self: { version: '1', capabilities: {} },
    clock,
    share: new LoopShare(clock),
    log: { write: (_, message) => lines.push(message) },
    trace: () => false,
    limit: { timeoutMs: 1000, signal: over.signal ?? new AbortController().signal },
  });
  return { opening, lines, sent };
}

const opened = async (
  ...said: readonly object[]
): Promise<Extract<Opening, { kind: 'opened' }>> => {
  const { opening } = await open(...said);
  assert.equal(opening.kind, 'opened');
  return opening as Extract<Opening, { kind: 'opened' }>;
};

describe('opening a connection', () => {
  it('an open connection has left no listener at the signal of its start, which may live longer', async () => {
    const { signal } = new AbortController();
    const { opening } = await openTo([{ id: 0, result: right }], () => {}, new FakeClock(), {
      signal,
    });
    assert.equal(opening.kind, 'opened');
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });

  for (const [what, over] of Object.entries({
    'instructions that are null': { instructions: null },
    'a title that is null': { serverInfo: { name: 'n', version: '1', title: null } },
    'icons that are null': { serverInfo: { name: 'n', version: '1', icons: null } },
    'a capability that is null': { capabilities: { tools: {}, prompts: null, logging: null } },
    'a capability that is true': { capabilities: { tools: true, completions: true } },
    'a capability with a null in it': { capabilities: { tools: { listChanged: null } } },
    'an odd experiment': { capabilities: { tools: {}, experimental: { x: true } } },
  })) {
    it(`opening takes an answer with ${what}`, async () => {
      const { listing, connection } = await opened({ id: 0, result: { ...right, ...over } });
      assert.deepEqual(listing.tools, [tool]);
      assert.deepEqual(connection.serverInfo, right.serverInfo);
    });
  }

  it('opening takes an answer with its id as a text', async () => {
    assert.deepEqual((await opened({ id: '0', result: right })).listing.tools, [tool]);
  });

  it('opening takes the answer after messages without a request', async () => {
    const unreadable = { error: { code: -32700, message: 'Parse error' } };
    for (const stray of [unreadable, { id: 7, ...unreadable }, { id: 7, result: { a: 1 } }]) {
      assert.deepEqual((await opened(stray, { id: 0, result: right })).listing.tools, [tool]);
    }
  });

  it('opening reports a refusal, even without an id if no answer follows', async () => {
    const error = { code: -32600, message: 'No.' };
    const refused = { kind: 'refused', ...error };
    assert.deepEqual((await open({ id: 0, error })).opening, refused);
    assert.deepEqual((await open({ error })).opening, refused);
    assert.deepEqual((await open({ id: 7, error })).opening, {
      kind: 'transport',
      failure: undefined,
    });
  });

  it('opening takes an error without an id as the answer to initialize, even of a server that lives on', async () => {
    const error = { code: -32603, message: 'Boom' };
    const clock = new FakeClock();
    const opening = openTo([{ error }], () => {}, clock);
    await clock.flow(10_000);
    assert.deepEqual((await opening).opening, { kind: 'refused', ...error });
    assert.equal(clock.pending, 0);
  });

  const refusal = new TransportFailure({
    kind: 'status',
    status: 401,
    body: '',
    contentType: '',
    url: 'http://a',
  });

  it('opening names notifications/initialized if that is refused, or never taken', async () => {
    const openWith = (over: Partial<OverOpening>) =>
      openTo([{ id: 0, result: right }], () => {}, new FakeClock(), over);
    const { opening } = await openWith({ initialized: () => Promise.reject(refusal) });
    assert.deepEqual(opening, {
      kind: 'transport',
      failure: refusal,
      to: 'notifications/initialized',
    });
    const limit = new AbortController();
    const hanging = (): Promise<void> => {
      queueMicrotask(() => limit.abort());
      return new Promise(() => {});
    };
    const stopped = await openWith({ signal: limit.signal, initialized: hanging });
    assert.deepEqual(stopped.opening, { kind: 'stopped', during: 'initialized' });
  });

  it('opening keeps the reason why a refused list got no answer, and the prompts beside it (X3b)', async () => {
    const listed = { error: { code: -32000, message: 'HTTP 401', data: refusal } };
    const openWith = (capabilities: object) =>
      openTo([{ id: 0, result: { ...right, capabilities } }], () => {}, new FakeClock(), {
        listed,
      });
    const failed = { kind: 'transport', failure: refusal, to: 'tools/list' };
    assert.deepEqual((await openWith({ tools: {} })).opening, failed);
    const { opening } = await openWith({ tools: {}, prompts: {} });
    assert.equal(opening.kind, 'opened');
    assert.deepEqual(opening.kind === 'opened' && opening.toolsFailure, failed);
  });

  it('opening reports the fault of an answer', async () => {
    const { opening } = await open({ id: 0, result: { ...right, serverInfo: null } });
    assert.deepEqual(opening, { kind: 'wrongAnswer', detail: 'has no serverInfo' });
  });

  it('opening logs early messages at once, and keeps none (S2)', async () => {
    const texts = Array.from({ length: 500 }, (_, index) => `early ${index}`);
    const notes = texts.map((data) => ({
      method: 'notifications/message',
      params: { level: 'info', data },
    }));
    const { lines } = await open(...notes, { id: 0, result: right });
    assert.deepEqual(
      lines.filter((line) => line.includes('early')),
      texts,
    );
    const { opening } = await open(...notes, { error: { code: 1, message: 'No.' } });
    assert.deepEqual(opening, { kind: 'refused', code: 1, message: 'No.' });
  });

  it('opening answers pings, and refuses every other request of the server', async () => {
    const { sent } = await open(
      { id: 'a', method: 'ping' },
      { id: 'b', method: 'roots/list' },
      { id: 0, result: right },
    );
    assert.deepEqual(
      sent.filter((message) => !('method' in message)),
      [
        { jsonrpc: '2.0', id: 'a', result: {} },
        { jsonrpc: '2.0', id: 'b', error: { code: -32601, message: 'Method not found' } },
      ],
    );
  });
});
