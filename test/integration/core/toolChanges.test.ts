/** Lists that are long, paged, wrong or changing (R6, X3). */
import assert from 'node:assert/strict';
import path from 'node:path';
import { Agent } from '../../support/core/agent.js';
import { fixture, rawWith, type Entry } from '../../support/core/configText.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

describe('core: lists of tools', () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await startStage();
  });

  afterEach(endStages);

  const changing = (rest: Entry = {}): Entry => fixture('changes-tools', [], rest);
  const extras = (): string[] => stage.publishedBy('a').filter((name) => name.includes('extra_'));

  it('A changed list passes the same filter and naming', async () => {
    await stage.edit({
      a: changing({ tools: { blacklist: ['extra_2'] }, transform: [{ prefix: 'n_' }] }),
    });
    for (let n = 1; n <= 3; n++) await stage.text('a', 'n_grow');
    await stage.until(() => extras().join() === 'n_extra_1,n_extra_3', 'the third extra tool');
    assert.match(stage.problem('filtered-tools').message, /extra_2/);
    assert.deepEqual(JSON.parse(await stage.text('a', 'n_extra_3', { text: 'hi' })), {
      text: 'hi',
    });
    for (let n = 1; n <= 3; n++) await stage.text('a', 'n_shrink');
    await stage.until(() => extras().length === 0, 'no extra tools');
  });

  it('Hundreds of notifications end in the right catalogue with few listings', async () => {
    await stage.edit({ a: changing() });
    const version = stage.host.catalogue.version;
    await Promise.all(Array.from({ length: 5 }, () => stage.text('a', 'storm', { times: 200 })));
    await stage.until(() => extras().length === 5, 'all extra tools');
    const lists = Number(await stage.text('a', 'storm', { times: 0 }));
    assert.ok(lists <= 25, `${lists} listings for 1,000 notifications`);
    assert.ok(stage.host.catalogue.version - version <= 5, 'only what changes is a new version');
    await stage.until(() => stage.server('a').state.kind === 'running');
    assert.deepEqual(stage.problems(), []);
  });

  it('A change during the first list is not missed', async () => {
    await stage.edit({ a: fixture('changes-tools', ['--while-listing']) });
    await stage.until(() => stage.publishedBy('a').includes('late'), 'the late tool');
  });

  it('A server whose tools change with every list is followed to the last change', async () => {
    const script = path.join(__dirname, 'servers/restless.mjs');
    await stage.edit({
      a: { transport: 'stdio', command: process.execPath, args: [script, '--times', '10'] },
    });
    await stage.until(() => stage.publishedBy('a').includes('tool_10'), 'the last tool');
  });

  it('A change announced by another conversation’s instance counts too', async () => {
    await stage.edit({ a: changing() });
    await stage.text('a', 'echo', {}, { conversation: 'holds the warm one' });
    await stage.text('a', 'grow', {}, { conversation: 'another' });
    await stage.until(() => extras().length === 1, 'the extra tool');
  });

  it('A failed list keeps the old one, is reported, and is forgotten with the next list', async () => {
    await stage.edit({ a: changing() });
    await stage.text('a', 'grow');
    await stage.until(() => extras().length === 1, 'the extra tool');
    await stage.text('a', 'break');
    await stage.until(({ problems }) => problems.length > 0, 'the problem');
    assert.deepEqual(stage.problems(), ['refresh-failed "a"']);
    assert.match(stage.problem('refresh-failed').message, /the catalogue is being rebuilt/);
    assert.equal(extras().length, 1);
    assert.equal(stage.server('a').state.kind, 'running');
    await stage.text('a', 'grow');
    await stage.until(({ problems }) => problems.length === 0, 'no problem');
    assert.equal(extras().length, 2);
  });

  it('An edit of the filter applies to the newest list', async () => {
    await stage.edit({ a: changing() });
    await stage.text('a', 'become', { names: ['one', 'two'] });
    await stage.until(() => stage.publishedBy('a').includes('two'), 'the new tools');
    await stage.edit({ a: changing({ tools: { whitelist: ['one', 'two'] } }) });
    assert.deepEqual(stage.publishedBy('a'), ['one', 'two']);
  });

  it('Every page of a list is read', async () => {
    await stage.edit({ a: fixture('pages', ['--pages', '40', '--tools-per-page', '5']) });
    assert.deepEqual(
      stage.publishedBy('a'),
      Array.from({ length: 200 }, (_, n) => `tool_${n}`),
    );
    assert.equal(await stage.text('a', 'tool_199'), 'tool_199');
  });

  for (const [name, args, reason] of [
    ['a cursor that repeats', ['--repeat'], /repeats the cursor/],
    ['a list without an end', ['--endless', '--tools-per-page', '1'], /more than 1000 pages/],
    ['an error on a later page', ['--error-on-page', '2'], /page 2 is not available/],
    [
      'more than 10,000 tools',
      ['--pages', '10', '--tools-per-page', '1001'],
      /more than 10000 tools/,
    ],
  ] as const) {
    it(`${name} costs the rest of the list only, with a problem (X3)`, async () => {
      await stage.edit({ a: fixture('pages', args), b: rawWith(['echo']) });
      assert.ok(stage.problems().includes('list-incomplete "a"'), stage.problems().join());
      assert.match(stage.problem('list-incomplete').message, reason);
      assert.equal(stage.server('a').state.kind, 'running');
      assert.ok(stage.publishedBy('a').includes('tool_0'));
      assert.deepEqual(stage.publishedBy('b'), ['echo']);
    });
  }

  it('10,000 tools are published, filtered, listed by an agent and called', async () => {
    const entry = (rest: Entry = {}): Entry =>
      fixture('pages', ['--pages', '10', '--tools-per-page', '1000'], rest);
    await stage.edit({ a: entry() });
    assert.equal(stage.publishedBy('a').length, 10_000);
    const agent = await Agent.connect(stage, 'a');
    const names = await agent.toolNames();
    assert.equal(names.length, 10_000);
    assert.equal(names.at(-1), 'tool_9999');
    assert.equal(await agent.text('tool_9999'), 'tool_9999');
    const pid = stage.pid('a');
    await stage.edit({
      a: entry({ tools: { whitelist: ['*99'] }, transform: [{ prefix: 'n_' }] }),
    });
    assert.equal(stage.publishedBy('a').length, 100);
    assert.equal(stage.pid('a'), pid);
    await agent.untilTools(
      (listed) => listed.length === 100 && listed.includes('n_tool_99'),
      'the filtered list',
    );
  });
});
