/** Many conversations over several leased servers, with real processes, at the limit (L2b). */
import assert from 'node:assert/strict';
import { everyToolset } from '../../../src/core/gateway/routes.js';
import { configText, rawWith, type Servers } from '../../support/core/configText.js';
import { LeapingClock } from '../../support/core/leapingClock.js';
import { SessionClient } from '../../support/core/sessionClient.js';
import { endStages, startStage, textOf, type Stage } from '../../support/core/stage.js';

/** As in the report of 20 conversations with 5 servers each, scaled by `MCP_TOOLSETS_CROWD`. */
const [conversations, toolsets] = (process.env['MCP_TOOLSETS_CROWD'] ?? '4x3')
  .split('x')
  .map(Number) as [number, number];
const all = conversations * toolsets;
const minute = 60_000;

describe('many conversations at the limit of instances (L2b)', function () {
  this.timeout(5 * minute);
  let stage: Stage;
  let clock: LeapingClock;
  let sessions: SessionClient[];
  const ids = Array.from({ length: toolsets }, (_, index) => `s${index}`);
  const servers: Servers = Object.fromEntries(
    ids.map((id) => [id, rawWith(['count'], { transform: [{ prefix: `${id}_` }] })]),
  );
  const withLimit = (most: number): string => `maxInstances: ${most}\n${configText(servers)}`;

  beforeEach(async () => {
    clock = new LeapingClock();
    stage = await startStage({ clock });
  });

  afterEach(endStages);

  async function open(most: number): Promise<void> {
    await stage.edit(withLimit(most));
    sessions = [];
    for (let made = 0; made < conversations; made++)
      sessions.push(await SessionClient.open(stage, everyToolset));
  }

  /** Every conversation calls every server at once. Returns the texts by conversation. */
  const round = (): Promise<string[][]> =>
    Promise.all(
      sessions.map((session) =>
        Promise.all(ids.map(async (id) => textOf(await session.call(`${id}_count`)))),
      ),
    );
  const counts = (texts: readonly string[]): string[] =>
    texts.map((text) => /^\d+/.exec(text)?.[0] ?? 'none');
  const leases = (): number =>
    ids.flatMap((id) => stage.instances(id)).filter(({ use }) => use.kind === 'leased').length;

  it('With room for all, every conversation keeps the state of all its servers', async () => {
    await open(all);
    for (const expected of ['1', '2', '3'])
      assert.deepEqual(
        counts((await round()).flat()),
        Array.from({ length: all }, () => expected),
      );
    assert.equal(leases(), all);
  });

  it('Without room, calls fail with the next step, and no conversation loses its state', async () => {
    const most = all - toolsets;
    await open(most);
    const first = (await round()).flat();
    const refused = first.filter((text) => !/^\d/.test(text));
    assert.equal(refused.length, all - most);
    for (const text of refused)
      assert.match(text, new RegExp(`the limit of ${most} instances.*raise the limit`, 's'));
    const second = (await round()).flat();
    assert.deepEqual(
      counts(second),
      first.map((text) => (/^\d/.test(text) ? '2' : 'none')),
    );
    await stage.edit(withLimit(all));
    const third = counts((await round()).flat());
    assert.deepEqual(
      third,
      first.map((text) => (/^\d/.test(text) ? '3' : '1')),
    );
    assert.deepEqual(stage.problems(), []);
  });

  it('After five idle minutes an instance makes room, and its return is a problem at the head of the file (L2c)', async () => {
    await open(toolsets);
    const [early, late] = sessions as [SessionClient, SessionClient];
    const call = async (session: SessionClient): Promise<string[]> =>
      Promise.all(ids.map(async (id) => textOf(await session.call(`${id}_count`))));
    assert.deepEqual(
      counts(await call(early)),
      ids.map(() => '1'),
    );
    assert.ok((await call(late)).every((text) => /too-many|limit of/.test(text)));
    clock.leap(5 * minute + 1);
    assert.deepEqual(
      counts(await call(late)),
      ids.map(() => '1'),
    );
    assert.deepEqual(stage.problems(), [], 'nobody has come back');
    clock.leap(5 * minute + 1);
    const back = await call(early);
    assert.deepEqual(
      counts(back),
      ids.map(() => '1'),
    );
    assert.ok(back.every((text) => /is gone/.test(text)));
    const [problem] = stage.host.snapshot.problems;
    assert.equal(problem?.code, 'instances-evicted');
    assert.equal(problem.place.range.start.line, 0);
    assert.match(problem.message, new RegExp(`limit of ${toolsets} instances cost ${toolsets} `));
    assert.match(problem.fix, new RegExp(`maxInstances: ${2 * toolsets}`));
    await stage.edit(withLimit(2 * toolsets));
    assert.deepEqual(stage.problems(), [], 'the limit is another');
  });
});
