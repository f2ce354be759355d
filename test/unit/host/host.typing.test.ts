/** A half-typed launch waits, and everything else of its text counts at once (R1a). */
import assert from 'node:assert/strict';
import { listing } from '../../support/fakes/fakeConnector.js';
import { file, hostStage } from './stage.js';

describe('a launch that is typed (R1a)', () => {
  const stage = hostStage();
  const type = (text: string, typed?: string): Promise<void> =>
    stage.host.setSources([{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text, typed }]);
  const both = (a: string, b = 'command: b'): string => file({ a, b });

  it('only the typed launch waits, and the rest of the text counts', async () => {
    await stage.serve('a', 'command: a', 'x');
    const edited = type(both('command: a2'), 'a');
    const other = await stage.connector.nextConnect();
    assert.equal(other.request.server, 'b');
    other.succeed(listing('y'));
    await edited;
    assert.deepEqual(stage.published(), ['a/x', 'b/y']);
    const { state, waits } = stage.server('a');
    assert.deepEqual([state.kind, waits], ['running', true]);
    assert.equal(stage.connector.connects, 2);
  });

  it('a launch that no longer waits starts once', async () => {
    await stage.serve('a', 'command: a', 'x');
    await type(file({ a: 'command: a2' }), 'a');
    const edited = type(file({ a: 'command: a2' }));
    (await stage.connector.nextConnect()).succeed(listing('z'));
    await edited;
    assert.deepEqual(stage.published(), ['a/z']);
    assert.equal(stage.server('a').waits, false);
  });

  it('a launch that is typed back to the serving one does not wait', async () => {
    await stage.serve('a', 'command: a', 'x', 'y');
    await type(file({ a: 'command: a2' }), 'a');
    await type(file({ a: 'command: a, tools: { whitelist: [y] }' }), 'a');
    assert.equal(stage.server('a').waits, false);
    assert.deepEqual(stage.published(), ['a/y']);
    assert.equal(stage.connector.connects, 1);
  });

  it('a mistake is a problem at once, and gone at once while the repaired launch waits', async () => {
    await stage.serve('a', 'command: a', 'x');
    await type(file({ a: 'command: 3' }), 'a');
    assert.deepEqual(stage.codes(), ['wrong-type']);
    await type(file({ a: 'command: a2' }), 'a');
    assert.deepEqual(stage.codes(), []);
  });

  it('a failed start is no problem while its launch is typed anew', async () => {
    const edited = stage.edit(file({ a: 'command: nope' }));
    (await stage.connector.nextConnect()).fail({
      code: 'command-not-found',
      message: 'is not there',
      fix: 'install it',
      path: ['command'],
    });
    await edited;
    assert.deepEqual(stage.codes(), ['command-not-found']);
    await type(file({ a: 'command: node' }), 'a');
    assert.deepEqual(stage.codes(), []);
    assert.equal(stage.server('a').state.kind, 'waiting');
  });

  it('a person can start a server with a typed launch', async () => {
    await type(file({ a: 'command: a' }), 'a');
    const started = stage.host.start('a');
    (await stage.connector.nextConnect()).succeed(listing('x'));
    await started;
    assert.deepEqual(stage.published(), ['a/x']);
    assert.equal(stage.server('a').waits, false);
  });
});

describe('a start under way', () => {
  const stage = hostStage();

  it('a failure of an earlier start is no problem during the next one (E1)', async () => {
    const failure = { code: 'server-exited', message: 'ended', fix: 'look', path: [] } as const;
    const edited = stage.edit(file({ a: 'command: a' }));
    (await stage.connector.nextConnect()).fail(failure);
    await edited;
    assert.deepEqual(stage.codes(), ['server-exited']);
    const repaired = stage.edit(file({ a: 'command: b' }));
    const next = await stage.connector.nextConnect();
    await stage.until(({ servers }) => servers[0]?.state.kind === 'starting');
    assert.deepEqual(stage.codes(), []);
    next.fail(failure);
    await repaired;
    assert.deepEqual(stage.codes(), ['server-exited']);
  });
});
