/**
 * Rule S2b: messages that are too deep to write, or too large for memory. The trace logs every
 * message.
 */
import assert from 'node:assert/strict';
import { callTool, fixture, Rig } from './rig.js';

describe('messages that are too deep or too large (S2b)', function () {
  this.timeout(60_000);
  let rig: Rig;

  beforeEach(() => {
    rig = new Rig();
    rig.traces = true;
  });
  afterEach(() => rig.end());

  it('a message of 20,000 levels fails only its call', async () => {
    const { connection } = await rig.start(fixture('hostile', 'deep-on-call', '--size', '20000'));
    assert.deepEqual(await callTool(connection, 'echo', { text: 'result' }), {
      kind: 'error',
      code: -32603,
      message: 'The server answered with a result that is nested more than 256 levels deep.',
    });
    const failed = await callTool(connection, 'echo', { text: 'error' });
    assert.ok(failed.kind === 'error' && failed.message === 'It is deep.');
    assert.doesNotThrow(() => JSON.stringify(failed));
    assert.ok(rig.lines.some(({ text }) => /^← tools\/call #\d+ /.test(text)));
  });

  it('a message with too many lists for memory is not read, and costs its call', async () => {
    const { connection } = await rig.start(
      fixture('hostile', 'lists-on-call', '--size', '2000001'),
    );
    const outcome = await callTool(connection, 'echo');
    assert.match(await rig.logged('[stdout] not JSON-RPC: '), /"result":\{"content":\[\]/);
    assert.match(outcome.kind === 'error' ? outcome.message : '', /cannot be read as JSON-RPC: /);
    assert.equal(connection.isOver, false);
  });
});
