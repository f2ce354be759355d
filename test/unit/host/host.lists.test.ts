/** Changed lists of servers, for all and for one conversation, and lists with errors (R6, G3g). */
import assert from 'node:assert/strict';
import type { ToolListing } from '../../../src/core/connections/connection.js';
import type { OfferedTool } from '../../../src/core/tools/catalogue.js';
import { nextEvent } from '../../../src/core/base/events.js';
import { listing, type FakeConnection } from '../../support/fakes/fakeConnector.js';
import { answer, file, hostStage } from './stage.js';
import { fakeClient } from '../../support/fakes/fakeClient.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

describe('changed tools (R6)', () => {
  const stage = hostStage();

  it('changed tools go through the same filter and naming', async () => {
    const warm = await stage.serve(
      'a',
      'command: a, tools: { blacklist: [no] }, transform: [{ prefix: p_ }]',
      'x',
    );
    warm.changeTools(listing('x', 'no', 'y'));
    await stage.until(() => stage.published().length === 2);
    assert.deepEqual(stage.published(), ['a/p_x', 'a/p_y']);
  });

  it('the order of the first list stays, in every start and every instance, and a new tool has the place of its list (N6)', async () => {
    const of = (name: string, ...keys: string[]): OfferedTool => ({
      name,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(keys.map((key) => [key, {}])),
        required: keys,
      },
    });
    const list = (...tools: OfferedTool[]): ToolListing => ({ tools, malformed: [] });
    const bytes = (): string =>
      JSON.stringify(stage.host.catalogue.toolsets[0]?.tools.map(({ tool }) => tool));
    const shuffled = list(of('read', 'tail', 'head'), of('write', 'content', 'path'));
    const edited = stage.edit(file({ a: 'command: a' }));
    const warm = (await stage.connector.nextConnect()).succeed(
      list(of('write', 'path', 'content'), of('read', 'head', 'tail')),
    );
    await edited;
    const before = bytes();
    let published = 0;
    stage.host.onDidPublish(() => (published += 1));
    warm.changeTools(shuffled);
    warm.changeTools(shuffled);
    await stage.until(() => warm.lists > 0);
    const restarted = stage.host.restart('a');
    (await stage.connector.nextConnect()).succeed(shuffled);
    await restarted;
    void stage.call('a', 'read', 'd1');
    void stage.call('a', 'read', 'd2');
    (await stage.connector.nextConnect()).succeed(shuffled);
    await stage.until(() => stage.server('a').instances.length === 2);
    assert.deepEqual([bytes(), published], [before, 0]);
    const started = stage.edit(file({ a: 'command: other' }));
    const other = (await stage.connector.nextConnect()).succeed(shuffled);
    await started;
    assert.equal(bytes(), before, 'another launch with the same tools');
    other.changeTools(list(of('read', 'tail', 'head'), of('new'), of('write', 'content', 'path')));
    await stage.until(() => stage.published().length === 3);
    assert.equal(bytes(), `${before.slice(0, -1)},${JSON.stringify(of('new'))}]`);
  });

  it('a server that lists no tools at first and reports no change is asked again after 2, 10 and 60 s (R6)', async () => {
    const warm = await stage.serve('a', 'command: a');
    const asked: number[] = [];
    for (let seconds = 1; seconds <= 120; seconds++) {
      await stage.clock.flow(1000);
      if (warm.lists > asked.length) asked.push(seconds);
    }
    assert.deepEqual(asked, [2, 10, 60]);
    assert.ok(stage.codes().includes('list-empty'), stage.codes().join());
  });

  it('a server that lists its tools later is not asked again after that, and one with tools never', async () => {
    const warm = await stage.serve('a', 'command: a');
    warm.offers = listing('x');
    await stage.clock.flow(3000);
    assert.deepEqual([stage.published(), warm.lists], [['a/x'], 1]);
    await stage.clock.flow(120_000);
    assert.equal(warm.lists, 1);
    assert.ok(!stage.codes().includes('list-empty'), stage.codes().join());
    const other = await stage.serve('b', 'command: b', 'y');
    await stage.clock.flow(120_000);
    assert.equal(other.lists, 0);
  });

  it('a part of a changed list does not replace the whole one, and the reason is a problem (R6)', async () => {
    const warm = await stage.serve('a', 'command: a', 'x', 'y');
    warm.changeTools({ ...listing('x'), incomplete: 'The list has no end.' });
    await stage.until(() => stage.codes().includes('refresh-failed'));
    assert.deepEqual(stage.published(), ['a/x', 'a/y']);
  });

  it('several notifications at once cause one listing, and those during a listing one more', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    for (let i = 0; i < 100; i++) warm.changeTools(listing('x', `y${i}`));
    await stage.until(() => stage.published().includes('a/y99'));
    assert.ok(warm.lists <= 2, `${warm.lists} lists`);
  });

  it('a failed listing keeps the old tools, with a problem until one succeeds', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    warm.changeTools(new Error('broken'));
    await stage.until(({ problems }) => problems.length === 1);
    assert.deepEqual(stage.codes(), ['refresh-failed']);
    assert.deepEqual(stage.published(), ['a/x']);
    warm.changeTools(listing('z'));
    await stage.until(({ problems }) => problems.length === 0);
    assert.deepEqual(stage.published(), ['a/z']);
  });
});

describe('toolsets whose lists may have changed (R6, G3g)', () => {
  const stage = hostStage();

  it('are only the toolset of the server that lists other tools', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const announced: (readonly string[])[] = [];
    stage.host.onDidPublish((ids) => announced.push(ids));
    warm.changeTools(listing('x', 'y'));
    await stage.until(() => stage.published().length === 2);
    assert.deepEqual(announced, [['a']]);
  });

  it('are all toolsets if the instance of a conversation lists other tools, because they share names', async () => {
    const connection = await stage.serve('a', 'command: a', 'x');
    const client = fakeClient({ conversation: 'd1', listedFor: 'd1' });
    const { signal } = new AbortController();
    const called = stage.host.call({
      policy: policies.agent,
      toolset: 'a',
      tool: 'x',
      arguments: {},
      conversation: 'd1',
      client,
      signal,
    });
    await answer(connection, '1');
    await called;
    const changed = nextEvent(stage.host.onDidPublish, () => true);
    connection.changeTools(listing('x', 'y'));
    assert.deepEqual(await changed, ['a', 'mcp_admin']);
    const changedBack = nextEvent(stage.host.onDidPublish, () => true);
    await stage.host.release('a', 'd1');
    assert.deepEqual(await changedBack, ['a', 'mcp_admin']);
  });
});

describe('an own list of one conversation with an error (G3g)', () => {
  const stage = hostStage();

  const use = async (connection: FakeConnection): Promise<void> => {
    const client = fakeClient({ conversation: 'd1', listedFor: 'd1' });
    const { signal } = new AbortController();
    const called = stage.host.call({
      policy: policies.agent,
      toolset: 'a',
      tool: 'x',
      arguments: {},
      conversation: 'd1',
      client,
      signal,
    });
    await answer(connection, '1');
    await called;
  };
  /** Makes the instance the lease of the conversation, with its own list. */
  const lease = async (rest: string): Promise<FakeConnection> => {
    const connection = await stage.serve('a', rest, 'x');
    await use(connection);
    return connection;
  };
  const offered = (): string[] | undefined =>
    stage.host.catalogueFor('d1').toolsets[0]?.tools.map(({ published }) => published);
  const refused = [
    ['could not be had', 'command: a', new Error('busy')],
    [
      'gives two tools one name',
      "command: a, transform: [{ prefix: { remove: p_, add: '' } }]",
      listing('x', 'p_x'),
    ],
  ] as const;

  for (const [why, rest, list] of refused) {
    it(`an own list is a problem until it lists again, if it ${why}`, async () => {
      const connection = await lease(rest);
      connection.changeTools(list);
      await stage.until(({ problems }) => problems.length === 1);
      assert.deepEqual(stage.codes(), ['refresh-failed']);
      connection.changeTools(listing('x', 'y'));
      await stage.until(({ problems }) => problems.length === 0);
      assert.deepEqual(offered(), ['x', 'y']);
    });

    it(`an own list is a problem until its instance is released, if it ${why}`, async () => {
      const connection = await lease(rest);
      connection.changeTools(list);
      await stage.until(({ problems }) => problems.length === 1);
      await stage.host.release('a', 'd1');
      await stage.until(({ problems }) => problems.length === 0);
    });
  }

  it('an own list is a problem until an edit makes its names right', async () => {
    const connection = await lease("command: a, transform: [{ prefix: { remove: p_, add: '' } }]");
    connection.changeTools(listing('x', 'p_x'));
    await stage.until(({ problems }) => problems.length === 1);
    await stage.edit(file({ a: 'command: a' }));
    await stage.until(({ problems }) => problems.length === 0);
    assert.deepEqual(offered(), ['x', 'p_x']);
  });

  it('the problem of an own list ends before the problem of the common list', async () => {
    const connection = await stage.serve('a', 'command: a', 'x');
    connection.changeTools(new Error('busy'));
    await stage.until(({ problems }) => problems.length === 1);
    await use(connection);
    await stage.host.release('a', 'd1');
    await stage.until(() => stage.server('a').state.kind === 'idle');
    assert.deepEqual(stage.codes(), ['refresh-failed']);
    const called = stage.call('a', 'x', 'd2');
    await answer((await stage.connector.nextConnect()).succeed(listing('x', 'y')), '2');
    await called;
    await stage.until(({ problems }) => problems.length === 0);
  });
});
