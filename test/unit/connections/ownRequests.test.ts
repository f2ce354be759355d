import assert from 'node:assert/strict';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { OwnRequests } from '../../../src/core/connections/ownRequests.js';

describe('the requests to a server', () => {
  let sent: JSONRPCMessage[];
  let fail: Error | undefined;
  let failures: unknown[];
  let requests: OwnRequests;

  beforeEach(() => {
    sent = [];
    failures = [];
    fail = undefined;
    requests = new OwnRequests({
      transport: {
        send: (message) => {
          sent.push(message);
          return fail ? Promise.reject(fail) : Promise.resolve();
        },
      },
      onFailure: (error) => failures.push(error),
    });
  });

  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const result = (id: string | number, value: object): JSONRPCMessage =>
    ({ jsonrpc: '2.0', id, result: value }) as JSONRPCMessage;

  it('get their own answers, in whichever order they come, as the very objects', async () => {
    const one = requests.send('tools/call', { name: 'a' });
    const two = requests.send('tools/list', undefined);
    assert.deepEqual(sent, [
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a' } },
      { jsonrpc: '2.0', id: 2, method: 'tools/list' },
    ]);
    const [first, second] = [{ first: true }, { second: true }];
    assert.ok(requests.take(result(2, second)));
    assert.ok(requests.take(result('1', first)), 'a server may answer with the number as a text');
    assert.equal(await one.answer, first);
    assert.equal(await two.answer, second);
  });

  it('reject with what the server says, word for word', async () => {
    const { answer } = requests.send('tools/call', {});
    const data = { why: 'so' };
    const error = { code: -32042, message: 'MCP error -32042: Sign in.', data };
    requests.take({ jsonrpc: '2.0', id: 1, error });
    await assert.rejects(answer, { name: 'RpcFailure', code: -32042, message: 'MCP error -32042: Sign in.', data });
  });

  it('leave to others what is no answer to one of them, and a second answer', async () => {
    const { answer } = requests.send('tools/call', {});
    for (const message of [
      { jsonrpc: '2.0', id: 1, method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/message', params: {} },
      result(0, {}),
      result('x', {}),
      { jsonrpc: '2.0', error: { code: 1, message: '' } },
    ]) {
      assert.equal(requests.take(message as JSONRPCMessage), false);
    }
    requests.take(result(1, {}));
    assert.equal(requests.take(result(1, { late: true })), false);
    assert.deepEqual(await answer, {});
  });

  it('are cancelled once, and not after their answer', async () => {
    const { answer, cancel } = requests.send('tools/call', {});
    const answered = requests.send('tools/call', {});
    requests.take(result(2, {}));
    await answered.answer;
    answered.cancel('too late');
    cancel('nobody waits');
    cancel('again');
    await assert.rejects(answer, { message: 'nobody waits' });
    assert.deepEqual(sent.slice(2), [
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, reason: 'nobody waits' } },
    ]);
    assert.equal(requests.take(result(1, {})), false);
  });

  it('reject where they cannot be sent, and a cancellation that cannot is told of', async () => {
    fail = new Error('The server takes no more input');
    await assert.rejects(requests.send('tools/call', {}).answer, fail);
    fail = undefined;
    const { answer, cancel } = requests.send('tools/call', {});
    fail = new Error('gone');
    cancel('why');
    await assert.rejects(answer);
    await settle();
    assert.deepEqual(failures, [fail]);
  });

  it('reject at the end of the connection and after it, without being sent', async () => {
    const { answer } = requests.send('tools/call', {});
    requests.end();
    await assert.rejects(answer, { message: 'The connection has ended.' });
    await assert.rejects(requests.send('tools/list', undefined).answer, { message: 'The connection has ended.' });
    assert.equal(sent.length, 1);
  });
});
