/**
 * The effects of an edit of the file: toolsets come, go and change while calls are in flight (R2,
 * R4).
 */
import assert from 'node:assert/strict';
import { failure, listing, textResult } from '../../support/fakes/fakeConnector.js';
import { answer, answered, file, hostStage } from './stage.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

describe('reload (R2)', () => {
  const stage = hostStage();

  it('each toolset is published when its server has listed, in file order', async () => {
    const edited = stage.edit(file({ a: 'command: a', b: 'command: b' }));
    const a = await stage.connector.nextConnect();
    const b = await stage.connector.nextConnect();
    b.succeed(listing('y'));
    await stage.until(() => stage.published().length === 1);
    assert.deepEqual(stage.published(), ['b/y']);
    a.succeed(listing('x'));
    await edited;
    assert.deepEqual(stage.published(), ['a/x', 'b/y']);
  });

  it('the first server in the file has a contested name, whoever lists first, and gives it back', async () => {
    const edited = stage.edit(file({ a: 'command: a', b: 'command: b' }));
    const a = await stage.connector.nextConnect();
    (await stage.connector.nextConnect()).succeed(listing('same', 'own'));
    a.succeed(listing('same'));
    await edited;
    assert.deepEqual(stage.published(), ['a/same', 'b/own']);
    assert.deepEqual(stage.codes(), ['name-taken']);
    await stage.edit(file({ b: 'command: b' }));
    assert.deepEqual(stage.published(), ['b/same', 'b/own']);
    await stage.until(({ problems }) => problems.length === 0);
  });

  it('a changed filter and transform apply without a restart', async () => {
    const connection = await stage.serve('a', 'command: a', 'x', 'y');
    await stage.edit(
      file({ a: 'command: a, tools: { whitelist: [x] }, transform: [{ suffix: _v2 }]' }),
    );
    assert.deepEqual(stage.published(), ['a/x_v2']);
    assert.equal(stage.connector.connects, 1);
    assert.equal(connection.closed, false);
  });

  it('the old instance serves until the new one has listed', async () => {
    const old = await stage.serve('a', 'command: a', 'x');
    const edited = stage.edit(file({ a: 'command: a2' }));
    const starting = await stage.connector.nextConnect();
    assert.deepEqual(stage.published(), ['a/x']);
    await stage.until(() => stage.server('a').state.kind === 'starting');
    assert.equal(stage.server('a').previous?.reason, 'Its new definition is starting.');
    starting.succeed(listing('z'));
    await edited;
    assert.deepEqual(stage.published(), ['a/z']);
    assert.equal(old.closed, true);
    await stage.until(() => stage.server('a').previous === undefined);
  });

  it('the last-known-good definition stays when the new one fails, and goes when the new one works', async () => {
    const old = await stage.serve('a', 'command: a', 'x');
    const edited = stage.edit(file({ a: 'command: broken' }));
    (await stage.connector.nextConnect()).fail(failure);
    await edited;
    await stage.until(({ problems }) => problems.length > 0);
    assert.deepEqual(stage.published(), ['a/x']);
    assert.equal(old.closed, false);
    assert.deepEqual(stage.codes(), ['server-exited']);
    const status = stage.server('a');
    assert.equal(status.state.kind, 'running');
    assert.deepEqual(status.previous, {
      since: stage.clock.now(),
      reason: 'Its new definition exited.',
    });

    await stage.edit(file({ a: 'command: a' }));
    await stage.until(({ problems }) => problems.length === 0);
    assert.equal(stage.connector.connects, 2, 'back to what serves: nothing to start');
    assert.equal(stage.server('a').previous, undefined);
  });

  it('the last-known-good definition stays when the entry becomes wrong', async () => {
    await stage.serve('a', 'command: a', 'x');
    await stage.edit(file({ a: "command: ''" }));
    await stage.until(({ problems }) => problems.length > 0);
    assert.deepEqual(stage.published(), ['a/x']);
    assert.equal(stage.server('a').previous?.reason, 'Its new definition has an error.');
  });

  it('everything stays when the whole file is refused, with the time', async () => {
    await stage.serve('a', 'command: a', 'x');
    await stage.edit('version: 1\nservers: [');
    await stage.until(({ refused }) => refused.length === 1);
    assert.deepEqual(stage.published(), ['a/x']);
    assert.ok(stage.codes().includes('yaml-syntax'));
    await stage.edit(file({ a: 'command: a' }));
    await stage.until(({ refused, problems }) => refused.length === 0 && problems.length === 0);
    assert.equal(stage.connector.connects, 1);
  });

  it('the errors of a refused file’s earlier text go to its beginning, and other problems are left out (C4)', async () => {
    const edited = stage.edit(
      `\n\n${file({ a: 'command: a', b: 'command: b, tools: { blacklist: [y] }' })}`,
    );
    (await stage.connector.nextConnect()).fail(failure);
    (await stage.connector.nextConnect()).succeed(listing('x', 'y'));
    await edited;
    const places = (): string[] =>
      stage.host.snapshot.problems.map(({ code, place }) => `${code} ${place.range.start.line}`);
    await stage.until(() => places().length === 2);
    assert.deepEqual(places(), ['server-exited 4', 'filtered-tools 5']);
    const refusing = stage.edit('version: 1\nservers: [');
    (await stage.connector.nextConnect()).fail(failure);
    await refusing;
    await stage.until(({ refused, problems }) => refused.length === 1 && problems.length > 1);
    assert.deepEqual(
      places().filter((place) => !place.startsWith('yaml-syntax')),
      ['server-exited 0'],
    );
  });

  for (const entry of [
    '5',
    '{ transport: stdio, command: node }',
    '{ transport: stdio, command: node, enabled: false }',
  ]) {
    it(`an entry with the id of the built-in toolset costs only itself (C4, L5): ${entry}`, async () => {
      const edited = stage.edit(`${file({ a: 'command: a' })}  mcp_admin: ${entry}\n`);
      (await stage.connector.nextConnect()).succeed(listing('x'));
      await edited;
      const status = JSON.stringify(await stage.call('mcp_admin', 'mcp_status'));
      assert.match(status, /a: running/);
      assert.doesNotMatch(status, /mcp_admin: /);
      if (!entry.includes('enabled'))
        assert.match(status, /error in .*mcp_admin.* Rename the server/);
      assert.ok(stage.codes().includes('server-id-invalid'));
      assert.deepEqual(stage.published(), ['a/x']);
      assert.equal(stage.connector.connects, 1);
    });
  }

  it('an update with two tools of one name is refused, and the earlier names stay', async () => {
    await stage.serve('a', 'command: a', 'p_x', 'x');
    await stage.edit(file({ a: "command: a, transform: [{ prefix: { remove: p_, add: '' } }]" }));
    await stage.until(({ problems }) => problems.length > 0);
    assert.deepEqual(stage.codes(), ['name-twice-in-server']);
    assert.deepEqual(stage.published(), ['a/p_x', 'a/x']);
    await stage.edit(file({ a: 'command: a' }));
    await stage.until(({ problems }) => problems.length === 0);
  });

  it('a later edit overtakes a start, and the last edit counts', async () => {
    const first = stage.edit(file({ a: 'command: one' }));
    const one = await stage.connector.nextConnect();
    const second = stage.edit(file({ a: 'command: two' }));
    assert.equal(one.request.signal.aborted, true);
    (await stage.connector.nextConnect()).succeed(listing('two'));
    await Promise.all([first, second]);
    assert.deepEqual(stage.published(), ['a/two']);
    assert.equal(stage.connector.live.size, 1);
  });

  it('the connection of an overtaken start is closed', async () => {
    void stage.edit(file({ a: 'command: one' }));
    const one = await stage.connector.nextConnect();
    const late = one.succeed(listing('one'));
    await stage.edit(undefined);
    await stage.host.dispose();
    assert.equal(late.closed, true);
    assert.deepEqual(stage.published(), []);
  });

  it('a start goes on when only the filter of its definition changes', async () => {
    const first = stage.edit(file({ a: 'command: a' }));
    const starting = await stage.connector.nextConnect();
    const second = stage.edit(file({ a: 'command: a, tools: { blacklist: [y] }' }));
    starting.succeed(listing('x', 'y'));
    await Promise.all([first, second]);
    assert.deepEqual(stage.published(), ['a/x']);
    assert.equal(stage.connector.connects, 1);
  });

  it('a disabled server does not start, and a disabled or removed one is withdrawn', async () => {
    const connection = await stage.serve('a', 'command: a', 'x');
    await stage.edit(file({ a: 'command: a, enabled: false' }));
    assert.deepEqual(stage.published(), []);
    await stage.until(() => stage.server('a').state.kind === 'disabled');
    assert.equal(connection.closed, true);
    await stage.edit(undefined);
    await stage.until(({ servers }) => servers.length === 0);
  });

  it('a defect of the connector costs one start', async () => {
    stage.connector.automatic = ({ server }) => {
      if (server === 'a') throw new Error('not built yet');
      return listing('y');
    };
    await stage.edit(file({ a: 'command: a', b: 'command: b' }));
    await stage.until(({ problems }) => problems.length === 1);
    assert.deepEqual(stage.published(), ['b/y']);
    assert.equal(stage.server('a').state.kind, 'failed');
    assert.match(
      stage.host.snapshot.problems[0]?.message ?? '',
      /defect in MCP Toolsets: Error: not built yet/,
    );
    stage.connector.automatic = () => listing('x');
    await stage.host.restart('a');
    assert.deepEqual(stage.published(), ['a/x', 'b/y']);
  });

  it('the next edit starts a failed server again', async () => {
    const first = stage.edit(file({ a: 'command: a' }));
    (await stage.connector.nextConnect()).fail(failure);
    await first;
    await stage.until(() => stage.server('a').state.kind === 'failed');
    const second = stage.edit(`${file({ a: 'command: a' })}\n# edited`);
    (await stage.connector.nextConnect()).succeed(listing('x'));
    await second;
    await stage.until(({ problems }) => problems.length === 0);
    assert.deepEqual(stage.published(), ['a/x']);
  });

  it('the next edit starts again, and waits, if only the last start of the serving definition failed', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    warm.die('it crashed');
    const call = stage.call('a', 'x');
    (await stage.connector.nextConnect()).fail(failure);
    await call;
    let settled = false;
    const edited = stage
      .edit(`${file({ a: 'command: a' })}\n# edited`)
      .then(() => (settled = true));
    const starting = await stage.connector.nextConnect();
    assert.equal(settled, false);
    starting.succeed(listing('x', 'new'));
    await edited;
    assert.deepEqual(stage.published(), ['a/x', 'a/new']);
    await stage.until(({ problems }) => problems.length === 0);
  });

  it('the registry version grows only with changes that agents can see', async () => {
    await stage.serve('a', 'command: a', 'x');
    const { version } = stage.host.catalogue;
    await stage.edit(`# a comment\n${file({ a: 'command: a' })}`);
    assert.equal(stage.host.catalogue.version, version);
    await stage.edit(file({ a: 'command: a, transform: [{ prefix: p_ }]' }));
    assert.equal(stage.host.catalogue.version, version + 1);
  });
});

describe('calls in flight (R4)', () => {
  const stage = hostStage();

  it('calls finish on their instance, which ends with the last of them', async () => {
    const old = await stage.serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x');
    const call = await old.nextCall();
    await stage.edit(undefined);
    assert.equal(old.closed, false);
    assert.deepEqual(await stage.call('a', 'x'), {
      kind: 'error',
      code: -32602,
      message: 'The toolset "a" has no tool "x".',
    });
    call.answer({ kind: 'result', result: textResult('done') });
    assert.deepEqual(await running, answered('done', { kind: 'new' }));
    assert.equal(old.closed, true);
  });

  it('calls fail as result unknown at the drain limit', async () => {
    const old = await stage.serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x');
    await old.nextCall();
    await stage.edit(undefined);
    stage.clock.advance(29_999);
    assert.equal(old.closed, false);
    stage.clock.advance(1);
    const outcome = await running;
    assert.equal(outcome.kind, 'result');
    assert.match(JSON.stringify(outcome), /result unknown.*drain limit/);
    assert.equal(old.closed, true);
  });

  it('calls of a removed server do not hold up the end of the host', async () => {
    const old = await stage.serve('a', 'command: a', 'x');
    const running = stage.call('a', 'x');
    await old.nextCall();
    await stage.edit(undefined);
    await stage.host.dispose();
    assert.equal(old.closed, true);
    assert.match(JSON.stringify(await running), /result unknown.*MCP Toolsets was shut down/);
  });

  it('calls that wait for an instance get it, although an edit removed its definition', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const first = stage.call('a', 'x', 'd1');
    const firstCall = await warm.nextCall();
    const second = stage.call('a', 'x', 'd2');
    const starting = await stage.connector.nextConnect();
    await stage.edit(undefined);
    const late = starting.succeed(listing('x'));
    (await late.nextCall()).answer({ kind: 'result', result: textResult('late') });
    assert.deepEqual(await second, answered('late', { kind: 'new' }));
    firstCall.answer({ kind: 'result', result: textResult('first') });
    await first;
  });
});

describe('a start of a removed server', () => {
  const stage = hostStage();

  it('a start ends at once if no call waits for it', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    const first = stage.call('a', 'x', 'd1');
    (await warm.nextCall()).answer({ kind: 'result', result: textResult('first') });
    await first;
    const cancelled = new AbortController();
    const second = stage.call('a', 'x', 'd2', cancelled.signal);
    const starting = await stage.connector.nextConnect();
    cancelled.abort();
    assert.deepEqual(await second, { kind: 'cancelled' });
    assert.equal(
      starting.request.signal.aborted,
      false,
      'the next call of the conversation may want it',
    );
    await stage.edit(undefined);
    assert.equal(starting.request.signal.aborted, true);
  });

  it('a start goes on as long as one of its calls waits', async () => {
    const shared = await stage.serve('a', 'command: a, truely-stateless: true', 'x');
    shared.die('it crashed');
    const [gone, stays] = [new AbortController(), new AbortController()];
    const first = stage.call('a', 'x', 'd1', gone.signal);
    const second = stage.call('a', 'x', 'd2', stays.signal);
    const starting = await stage.connector.nextConnect();
    gone.abort();
    await first;
    await stage.edit(undefined);
    const late = starting.succeed(listing('x'));
    (await late.nextCall()).answer({ kind: 'result', result: textResult('late') });
    assert.equal((await second).kind, 'result');
  });
});

describe('the note of a lease (L3)', () => {
  const stage = hostStage();

  it('the note of a new lease names its folder, also after an edit during its start', async () => {
    const warm = await stage.serve('a', 'command: a', 'x');
    await Promise.all([stage.call('a', 'x', 'd1'), answer(warm, 'first')]);
    const { signal } = new AbortController();
    const outcome = stage.core.backend.callTool({
      policy: policies.agent,
      toolset: 'a',
      tool: 'x',
      arguments: {},
      conversation: 'd2',
      signal,
    });
    const starting = await stage.connector.nextConnect();
    await stage.serve('a', 'command: b', 'x');
    await answer(starting.succeed(listing('x')), 'late');
    assert.match(
      JSON.stringify(await outcome),
      /"late".*now has its own instance of .* and works in \/ws\./,
    );
  });
});

describe('the manual of a toolset (C1)', () => {
  const stage = hostStage();

  it('a toolset has its manual apart from the server’s instructions, and a change restarts nothing', async () => {
    await stage.serve('a', "command: a, manual: { content: 'For pages.' }", 'x');
    const told = (): string | undefined => stage.host.catalogue.toolsets[0]?.manual;
    assert.equal(told(), 'For pages.');
    await stage.edit(
      file({ a: "command: a, manual: { content: 'For all.', sections: { Never: 'Alone.' } }" }),
    );
    assert.equal(told(), 'For all.\n\n## Never\n\nAlone.');
    assert.equal(stage.connector.connects, 1);
  });
});

describe('data: URLs (V1)', () => {
  const stage = hostStage();

  it('data: URLs are repaired for every client', async () => {
    const connection = await stage.serve('a', 'command: a', 'x');
    const call = stage.call('a', 'x');
    const data = 'iVBORw0KGgo=';
    const url = `data:image/png;base64,${data}`;
    (await connection.nextCall()).answer({
      kind: 'result',
      result: { content: [{ type: 'image', data: url, mimeType: 'image/png' }] },
    });
    const outcome = await call;
    assert.deepEqual(outcome.kind === 'result' && outcome.result.content, [
      { type: 'image', data, mimeType: 'image/png' },
    ]);
  });
});
