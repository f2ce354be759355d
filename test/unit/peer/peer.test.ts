import assert from 'node:assert/strict';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { Peer, type PeerListener, type ServerTransport } from '../../../src/core/peer/peer.js';
import { FakeClock, rest } from '../../support/fakes/fakeClock.js';

describe('a JSON-RPC peer', () => {
  let sent: JSONRPCMessage[];
  let fail: Error | undefined;
  let lines: string[];
  let heard: string[];
  let clock: FakeClock;
  let transport: ServerTransport;
  let answer: PeerListener['answer'];
  let peer: Peer;

  beforeEach(() => {
    [sent, lines, heard] = [[], [], []];
    fail = undefined;
    answer = () => Promise.resolve({});
    clock = new FakeClock();
    transport = {
      causeOfEnd: '',
      start: () => Promise.resolve(),
      close: () => Promise.resolve(),
      send: (message) => {
        sent.push(message);
        return fail ? Promise.reject(fail) : Promise.resolve();
      },
    };
    peer = new Peer(
      { transport, clock, log: { write: (_, message) => lines.push(message) } },
      {
        answer: (request, signal) => answer(request, signal),
        hear: ({ method }) => heard.push(method),
        failed: ({ message }) => heard.push(message),
        ended: () => heard.push('ended'),
      },
    );
  });

  const says = (message: object): void =>
    transport.onmessage?.({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  const limits = { timeouts: { call: 100, callMax: 250 }, signal: new AbortController().signal };

  it('gives each request its own answer, in whichever order they come, as the very object', async () => {
    const one = peer.request('tools/call', { name: 'a' });
    const two = peer.request('tools/list');
    assert.deepEqual(sent, [
      { jsonrpc: '2.0', id: 0, method: 'tools/call', params: { name: 'a' } },
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    ]);
    const [first, second] = [{ first: true }, { second: true }];
    says({ id: 1, result: second });
    // A server may answer with the number as a text.
    says({ id: '0', result: first });
    assert.equal(await one, first);
    assert.equal(await two, second);
  });

  it('rejects with the error of the server, word for word', async () => {
    const data = { why: 'so' };
    const message = 'MCP error -32042: Sign in.';
    const request = peer.request('tools/call', {});
    says({ id: 0, error: { code: -32042, message, data } });
    await assert.rejects(request, { name: 'RpcFailure', code: -32042, message, data });
  });

  it('logs an answer to nothing and a second answer, and reports an error that names no request', async () => {
    const request = peer.request('tools/call', {});
    for (const message of [
      { id: 7, result: {} },
      { id: 'x', result: {} },
      { error: { code: 1, message: 'unreadable' } },
    ]) {
      says(message);
    }
    says({ id: 0, result: { first: true } });
    says({ id: 0, result: { late: true } });
    assert.deepEqual(await request, { first: true });
    assert.deepEqual(heard, ['unreadable']);
    assert.deepEqual(
      lines.map((line) => line.slice(-2)),
      [' 7', ' x'],
    );
  });

  it('cancels a request once, and not after its answer', async () => {
    const [stop, late] = [new AbortController(), new AbortController()];
    const request = peer.request('tools/call', {}, stop.signal);
    const answered = peer.request('tools/call', {}, late.signal);
    says({ id: 1, result: {} });
    await answered;
    late.abort('too late');
    stop.abort('nobody waits');
    await assert.rejects(request, { message: 'nobody waits' });
    assert.deepEqual(sent.slice(2), [
      {
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: 0, reason: 'nobody waits' },
      },
    ]);
    says({ id: 0, result: {} });
    await assert.rejects(peer.request('x', {}, stop.signal), (reason) => reason === 'nobody waits');
  });

  it('rejects a request that cannot be sent, and logs a notification that cannot', async () => {
    fail = new Error('The server takes no more input');
    await assert.rejects(peer.request('tools/call', {}), fail);
    await peer.notify('notifications/initialized');
    assert.match(lines.join(), /notifications\/initialized was not sent: .*takes no more input/);
  });

  it('rejects open and later requests after the end, without sending them', async () => {
    const request = peer.request('tools/call', {});
    transport.onclose?.();
    await assert.rejects(request, { name: 'RpcFailure', message: 'The connection has ended.' });
    await assert.rejects(peer.request('tools/list'), { message: 'The connection has ended.' });
    assert.deepEqual([sent.length, heard], [1, ['ended']]);
  });

  it('keeps an exchange under one progress token while it sends several messages, until it is disposed', async () => {
    const progress: unknown[] = [];
    const exchange = peer.begin({
      ...limits,
      onProgress: ({ progress: done }) => progress.push(done),
    });
    const first = exchange.send('tools/call', {});
    says({ method: 'notifications/progress', params: { progressToken: 0, progress: 1 } });
    says({ id: 0, result: { resultType: 'input_required' } });
    await first;
    const second = exchange.send('tools/call', { inputResponses: {} });
    says({ id: 0, result: { late: true } });
    says({ method: 'notifications/progress', params: { progressToken: '0', progress: 2 } });
    says({ id: 1, result: { content: [] } });
    assert.deepEqual(await second, { content: [] });
    assert.deepEqual(progress, [1, 2]);
    assert.equal(peer.exchangeOf(1), exchange);
    exchange.dispose();
    assert.deepEqual([peer.open.values().length, clock.pending], [0, 0]);
  });

  it('ends an exchange at its limit, and cancels only the message that has no answer', async () => {
    const exchange = peer.begin(limits);
    const first = exchange.send('tools/call', {});
    says({ id: 0, result: {} });
    await first;
    const second = exchange.send('tools/call', {});
    clock.advance(100);
    await assert.rejects(second, { message: 'no sign of life within 0.1 s' });
    assert.deepEqual(exchange.end, { kind: 'timedOut', limit: 'call', ms: 100 });
    const cancelled = sent.flatMap((message) =>
      'method' in message && !('id' in message) ? [message.params] : [],
    );
    assert.deepEqual(cancelled, [{ requestId: 1, reason: 'no sign of life within 0.1 s' }]);
    await assert.rejects(exchange.send('tools/call', {}), {
      message: 'no sign of life within 0.1 s',
    });
  });

  it('stops the limit for silence while the server asks something, and ends the question with the exchange', async () => {
    const exchange = peer.begin(limits);
    const call = exchange.send('tools/call', {});
    const question = new Promise<void>((resolve) => exchange.question(resolve));
    clock.advance(200);
    assert.equal(exchange.end, undefined);
    clock.advance(50);
    await assert.rejects(call);
    await question;
    assert.equal(clock.pending, 0);
  });

  it('answers a request with the result or the error, and with nothing once it is cancelled', async () => {
    answer = ({ method }) =>
      method === 'ping'
        ? Promise.resolve({})
        : Promise.reject(Object.assign(new Error('no'), { code: -1, data: [1] }));
    says({ id: 'a', method: 'ping' });
    says({ id: 7, method: 'x' });
    await rest();
    assert.deepEqual(sent.splice(0), [
      { jsonrpc: '2.0', id: 'a', result: {} },
      { jsonrpc: '2.0', id: 7, error: { code: -1, message: 'no', data: [1] } },
    ]);
    const reasons: unknown[] = [];
    answer = (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ told: reasons.push(signal.reason) }));
      });
    says({ id: 8, method: 'x' });
    says({ id: 9, method: 'x' });
    says({ method: 'notifications/cancelled', params: { requestId: 8 } });
    says({ method: 'notifications/cancelled', params: { requestId: 9, reason: 'enough' } });
    await rest();
    assert.deepEqual(sent, []);
    assert.deepEqual(
      reasons.map((reason) => typeof reason),
      ['object', 'string'],
    );
  });

  it('survives a listener that throws', () => {
    peer.listener = { ...peer.listener, hear: () => assert.fail('broken') };
    says({ method: 'notifications/x' });
    assert.match(lines.join(), /notifications\/x could not be handled/);
  });
});
