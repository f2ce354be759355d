/**
 * Lists of an earlier window are published at once, and never taken for the present ones (P8).
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ApprovalLedger } from '../../../src/core/approval/ledger.js';
import { OfferLedger } from '../../../src/core/approval/offerLedger.js';
import { nextEvent } from '../../../src/core/base/events.js';
import { fixturePath } from '../../support/core/bundles.js';
import {
  fixture,
  http,
  officialServer,
  rawWith,
  type Entry,
} from '../../support/core/configText.js';
import { within } from '../../support/core/within.js';
import { MemoryApprovals } from '../../support/core/memoryApprovals.js';
import { MemoryStorage } from '../../support/core/memoryStorage.js';
import { endStages, startStage, type Stage, type StageOptions } from '../../support/core/stage.js';

interface Told {
  readonly tools?: readonly string[];
  readonly description?: string;
  readonly instructions?: string;
  readonly hold?: boolean;
  readonly exit?: number;
}

describe('core: remembered lists of an earlier window', () => {
  let stage: Stage;
  const open = async (options: StageOptions = {}): Promise<void> => {
    stage = await startStage({ remembers: true, ...options });
  };
  afterEach(endStages);

  const inFolder = (name: string): string => path.join(stage.folder, name);
  const tell = (told: Told, who = ''): void =>
    writeFileSync(inFolder(`told${who}.json`), JSON.stringify(told));
  /** @param who distinguishes the servers */
  const told = (rest: Entry = {}, who = ''): Entry =>
    fixture(
      'as-told',
      ['--told', inFolder(`told${who}.json`), '--starts', inFolder(`starts${who}`)],
      rest,
    );
  const starts = (who = ''): number => {
    if (!existsSync(inFolder(`starts${who}`))) return 0;
    return readFileSync(inFolder(`starts${who}`), 'utf8')
      .trim()
      .split('\n').length;
  };

  /** Begins an edit and does not wait for its servers. */
  const begin = (servers: Record<string, Entry>): Promise<void> => {
    const applied = stage.edit(servers);
    applied.catch(() => undefined);
    return applied;
  };

  /** Ends a window with this list of `a`. In the next one, its server holds its answers back. */
  async function remembered(listed: Told, rest: Entry = {}): Promise<void> {
    tell(listed);
    await stage.edit({ a: told(rest) });
    await stage.nextWindow();
    tell({ hold: true });
  }

  it('a remembered list is published before the server has answered, and stays if the server agrees', async () => {
    await open();
    await remembered({ tools: ['one', 'two'], instructions: 'Read this.' });
    const applied = begin({ a: told() });
    assert.deepEqual(stage.published(), ['a/one', 'a/two'], 'in the same turn');
    const [toolset] = stage.toolsets();
    assert.match(toolset?.instructions ?? '', /^Read this\./);
    await stage.untilState('a', 'starting');
    assert.ok((stage.server('a').rememberedAt ?? 0) > 0);
    const { version } = stage.host.catalogue;
    tell({ tools: ['one', 'two'], instructions: 'Read this.' });
    await applied;
    assert.equal(stage.server('a').state.kind, 'running');
    assert.equal(stage.server('a').rememberedAt, undefined);
    assert.equal(stage.host.catalogue.version, version, 'nobody is told of a change that is none');
    assert.equal(await stage.text('a', 'two'), 'two');
    assert.equal(starts(), 2, 'the server that listed served the call');
  });

  it('a server that shuffles its tools and their keys changes no byte over windows, and comes in the order first seen (N6)', async () => {
    await open();
    const shuffling = fixture('raw', ['--shuffle', '--tools', 'slow,echo,add,count,pid,exit'], {
      'truely-stateless': true,
    });
    const bytes = (): string => JSON.stringify(stage.toolsets()[0]?.tools.map(({ tool }) => tool));
    await stage.edit({ a: shuffling });
    const before = bytes();
    for (let window = 0; window < 3; window++) {
      await stage.nextWindow();
      const applied = begin({ a: shuffling });
      assert.equal(bytes(), before, 'the stand-in');
      await applied;
      assert.equal(bytes(), before, 'the list of the server');
    }
  });

  it('the remembered list of a real server, prompts and resources included, equals its next list', async () => {
    await open();
    const servers = {
      everything: officialServer('everything'),
      features: fixture('features', [], { transform: [{ prefix: 'f_' }] }),
    };
    await stage.edit(servers);
    const before = JSON.stringify(stage.toolsets());
    await stage.nextWindow();
    const applied = begin(servers);
    assert.equal(JSON.stringify(stage.toolsets()), before);
    const { version } = stage.host.catalogue;
    await applied;
    assert.equal(stage.host.catalogue.version, version);
  });

  it('a wrong remembered list costs a changed list, and no call is lost or goes to another tool', async () => {
    await open();
    await remembered({ tools: ['kept', 'gone'] });
    const applied = begin({ a: told() });
    const calls = [stage.outcome('a', 'kept'), stage.outcome('a', 'gone')] as const;
    const aborting = new AbortController();
    const cancelled = stage.outcome('a', 'kept', {}, { signal: aborting.signal });
    aborting.abort();
    assert.equal((await cancelled).kind, 'cancelled', 'a call that waits can be cancelled');
    tell({ tools: ['kept', 'came'] });
    await applied;
    const [kept, gone] = await Promise.all(calls);
    assert.equal(
      kept.kind === 'result' && kept.result.isError !== true,
      true,
      JSON.stringify(kept),
    );
    assert.match(JSON.stringify(gone), /has no tool \\"gone\\"/);
    assert.deepEqual(stage.published(), ['a/kept', 'a/came']);
    await stage.nextWindow();
    tell({ hold: true });
    const again = begin({ a: told() });
    assert.deepEqual(
      stage.published(),
      ['a/kept', 'a/came'],
      'the newest list is what is remembered',
    );
    tell({ tools: [] });
    await again;
  });

  it('a remembered list goes when the server does not start, and the waiting calls say why', async () => {
    await open();
    await remembered({ tools: ['one'] });
    const applied = begin({ a: told() });
    const call = stage.failure('a', 'one');
    tell({ exit: 3 });
    assert.match(await call, /"one" was not called: the server .*exited with code 3/s);
    await applied;
    assert.deepEqual(stage.published(), []);
    assert.equal(stage.server('a').state.kind, 'failed');
    tell({ tools: ['one'] });
    await stage.host.start('a');
    assert.deepEqual(stage.published(), ['a/one']);
  });

  it('a remembered list is only for its launch: an edit of it, an error and a stop withdraw it, and a filter applies at once', async () => {
    await open();
    await remembered({ tools: ['one', 'two'] });
    void begin({ a: told() });
    const { file } = stage;
    const withFilter = begin({
      a: told({ tools: { blacklist: ['one'] }, transform: [{ prefix: 'x_' }] }),
    });
    assert.deepEqual(stage.published(), ['a/x_two']);
    const call = stage.outcome('a', 'x_two');
    void stage.edit({ a: { ...told(), env: { OTHER: 'value' } } }).catch(() => undefined);
    assert.deepEqual(stage.published(), [], 'another launch');
    void stage.edit(readFileSync(file, 'utf8').replace('transport: stdio', 'transport: 3'));
    assert.match(JSON.stringify(await call), /was stopped|has no tool/);
    await withFilter;
    void begin({ a: told() });
    assert.deepEqual(stage.published(), ['a/one', 'a/two']);
    await stage.host.stop('a');
    assert.deepEqual(stage.published(), []);
    tell({ tools: ['one'] });
    await stage.host.start('a');
    assert.deepEqual(stage.published(), ['a/one']);
  });

  it('a launch without approval has no remembered list, nor has one after its revocation (S1)', async () => {
    const approvals = new ApprovalLedger({ store: new MemoryApprovals(), asks: () => true });
    await open({ approvals });
    tell({ tools: ['one'] });
    await stage.edit({ a: told() });
    assert.deepEqual(stage.published(), []);
    const { approval } = stage.server('a');
    assert.ok(approval.kind === 'pending');
    await approvals.approve([approval.launch]);
    await stage.until(() => stage.published().length === 1, 'the tool');
    await stage.nextWindow();
    tell({ hold: true });
    const applied = begin({ a: told() });
    assert.deepEqual(stage.published(), ['a/one']);
    await approvals.revoke({ server: 'a', source: stage.file });
    assert.deepEqual(stage.published(), []);
    await applied;
    await stage.untilStored();
    assert.deepEqual(readdirSync(stage.listed).length, 0);
    await approvals.approve([approval.launch]);
    assert.deepEqual(stage.published(), [], 'what it lists now is what counts');
    tell({ tools: ['one'] });
    await stage.until(() => stage.published().length === 1, 'the tool');
  });

  it('a remembered list with a held change is not used, and is no baseline (S3, P8)', async () => {
    const review = new OfferLedger({
      storage: new MemoryStorage(),
      holdsBack: () => true,
      onStoreFailure: (error) => assert.fail(String(error)),
    });
    await open({ offerReview: review });
    tell({ tools: ['one'], description: 'Reads.' });
    await stage.edit({ a: told() });
    await stage.nextWindow();
    tell({ tools: ['one', 'two'], description: 'Reads.' });
    await stage.edit({ a: told() });
    assert.deepEqual(stage.published(), ['a/one']);
    await stage.nextWindow();
    tell({ hold: true });
    const applied = begin({ a: told() });
    assert.deepEqual(stage.published(), [], 'a tool of it is held');
    tell({ tools: ['one'], description: 'Sends everything away.' });
    await applied;
    assert.deepEqual(stage.published(), [], 'the baseline is what was listed first');
    review.dispose();
  });

  it('a list with a secret in it is not kept, and no file can damage a remembered list', async () => {
    await open();
    const env = { TOKEN: 'canary-in-a-list-5ca1ab1e' };
    tell({ tools: ['one'], description: `Uses ${env.TOKEN}.` });
    const servers = { a: told({ env }), b: rawWith(['echo']) };
    await stage.edit(servers);
    await stage.nextWindow();
    const files = readdirSync(stage.listed).map((name) => path.join(stage.listed, name));
    assert.equal(files.length, 1);
    const [file = ''] = files;
    assert.doesNotMatch(readFileSync(file, 'utf8'), /canary/);
    for (const content of [
      '',
      '{}',
      'null',
      '{"version":1}',
      readFileSync(file, 'utf8').replace('"name":"echo"', '"name":7'),
    ]) {
      await stage.nextWindow();
      writeFileSync(file, content);
      await stage.nextWindow();
      const applied = begin(servers);
      assert.deepEqual(stage.published(), []);
      await applied;
      assert.deepEqual(stage.published(), ['a/one', 'b/echo']);
    }
  });

  it('with `start: call` nothing runs until the first call, and the next call tries a failed start again (P8b)', async () => {
    await open();
    const entry = told({ start: 'call' });
    tell({ tools: ['one', 'two'] });
    await stage.edit({ a: entry });
    assert.equal(starts(), 1, 'it has to list once');
    await stage.nextWindow();
    await stage.edit({ a: entry });
    assert.deepEqual(stage.published(), ['a/one', 'a/two']);
    assert.equal(stage.server('a').state.kind, 'remembered');
    assert.deepEqual(stage.processes(), []);
    await stage.edit({ a: { ...entry, tools: { whitelist: ['two'] } } });
    assert.deepEqual(stage.published(), ['a/two']);
    assert.equal(starts(), 1);

    tell({ exit: 3 });
    assert.match(await stage.failure('a', 'two'), /"two" was not called: the server/);
    assert.equal(stage.server('a').state.kind, 'failed');
    assert.deepEqual(stage.problems(), ['server-exited "a"']);
    tell({ tools: ['two', 'three'] });
    const calls = await Promise.all([stage.text('a', 'two'), stage.text('a', 'two')]);
    assert.deepEqual(calls, ['two', 'two']);
    assert.equal(starts(), 3, 'two calls of a conversation share the start');
    assert.deepEqual(stage.problems(), []);
    assert.equal(stage.server('a').state.kind, 'running');
  });

  it('with `start: call` a person starts the server, and so does an edit to `window`', async () => {
    await open();
    tell({ tools: ['one'] });
    await stage.edit({ a: told({ start: 'call' }) });
    await stage.nextWindow();
    await stage.edit({ a: told({ start: 'call' }) });
    await stage.host.start('a');
    assert.equal(stage.server('a').state.kind, 'running');
    await stage.nextWindow();
    await stage.edit({ a: told({ start: 'call' }) });
    assert.equal(stage.server('a').state.kind, 'remembered');
    await stage.edit({ a: told({ start: 'window' }) });
    assert.equal(stage.server('a').state.kind, 'running');
    assert.equal(starts(), 3);
  });

  it('with `start: call` prompts and resources start the server too, and a cancelled call leaves its start to the next', async () => {
    await open();
    const rich = fixture('features', [], { start: 'call' });
    tell({ tools: ['one'] });
    await stage.edit({ rich, a: told({ start: 'call' }) });
    await stage.nextWindow();
    tell({ hold: true });
    await stage.edit({ rich, a: told({ start: 'call' }) });
    assert.deepEqual(stage.processes(), []);
    const got = await stage.host.request({
      ...{ toolset: 'rich', conversation: 'd', method: 'prompts/get', params: { name: 'plan' } },
      signal: new AbortController().signal,
    });
    assert.equal(got.kind, 'result', JSON.stringify(got));
    const aborting = new AbortController();
    const cancelled = stage.outcome('a', 'one', {}, { signal: aborting.signal });
    await stage.untilState('a', 'starting');
    aborting.abort();
    assert.equal((await cancelled).kind, 'cancelled');
    const called = stage.text('a', 'one');
    tell({ tools: ['one'] });
    assert.equal(await called, 'one');
    assert.equal(starts(), 2);
  });

  it('remembered servers start after the awaited ones, and no more at once than there are cores (P8b)', async () => {
    await open({ startsAtOnce: 1 });
    const all = ['-a', '-b', '-c', '-d'];
    for (const who of all) tell({ tools: [`of${who}`] }, who);
    const [a, b, c, d] = all.map((who) => told({}, who));
    assert.ok(a && b && c && d);
    await stage.edit({ a, b, c });
    await stage.nextWindow();
    tell({ hold: true }, '-a');
    tell({ hold: true }, '-d');
    const applied = begin({ a, b, c, d });
    assert.equal(await stage.text('c', 'of-c'), 'of-c', 'a call takes no turn');
    assert.deepEqual(
      [starts('-a'), starts('-b')],
      [1, 1],
      'what has no tools yet starts first, and these wait for it',
    );
    tell({ tools: ['of-d'] }, '-d');
    await stage.untilState('d', 'running');
    await stage.host.start('b');
    assert.deepEqual(
      stage.instances('b').map(({ use }) => use.kind),
      ['warm'],
      'nor does a person who starts it, and nothing starts twice',
    );
    assert.equal(stage.server('a').state.kind, 'starting');
    tell({ tools: ['of-a'] }, '-a');
    await applied;
    assert.deepEqual(all.map(starts), [2, 2, 2, 1]);
  });

  it('a remembered list has the era of its server, so that a modern server gets discovery first (X8a)', async () => {
    await open({ trace: true });
    const program = inFolder('server.mjs');
    const become = (name: string): void =>
      writeFileSync(
        program,
        `await import(${JSON.stringify(pathToFileURL(fixturePath(name)).href)});`,
      );
    const entry = { transport: 'stdio', command: process.execPath, args: [program] };
    const asked = async (): Promise<readonly string[]> => {
      const before = stage.logs.lines.length;
      await stage.edit({ a: entry });
      const said = stage.logs.lines.slice(before);
      return said.flatMap(
        ({ message }) => /→ (initialize|server\/discover)/.exec(message)?.[1] ?? [],
      );
    };
    become('modern');
    assert.deepEqual(await asked(), ['initialize', 'server/discover']);
    await stage.nextWindow();
    assert.deepEqual(await asked(), ['server/discover']);
    become('plain');
    await stage.nextWindow();
    assert.deepEqual(await asked(), ['server/discover', 'initialize']);
    await stage.nextWindow();
    assert.deepEqual(await asked(), ['initialize']);
  });

  it('the remembered list of an HTTP server goes with a failed attempt', async () => {
    await open();
    const server = await stage.http('http');
    await stage.edit({ far: http(server.url) });
    assert.ok(stage.published().length > 0);
    await stage.nextWindow();
    await server.stop();
    const { host } = stage;
    const gone = nextEvent(host.onDidPublish, () =>
      host.catalogue.toolsets.every(({ id }) => id !== 'far'),
    );
    const applied = begin({ far: http(server.url) });
    assert.ok(stage.published().length > 0);
    await within(gone, 'its end');
    await applied;
  });
});
