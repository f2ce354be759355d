/**
 * Names and URIs of several servers, whose baselines decide before the order of the file (N5b, N5c,
 * S3), over fake servers.
 */
import assert from 'node:assert/strict';
import { OfferLedger } from '../../../src/core/approval/offerLedger.js';
import { byKey, reviewedIn } from '../../../src/core/reconcile/offers.js';
import { nextEvent } from '../../../src/core/base/events.js';
import type { ToolListing } from '../../../src/core/connections/connection.js';
import { everyToolset } from '../../../src/core/gateway/routes.js';
import type { Core } from '../../../src/core/assembly/assemble.js';
import { holderOfTool } from '../../../src/core/catalogue/servedToolsets.js';
import { explain } from '../../../src/core/catalogue/explain.js';
import type { Fields } from '../../../src/core/protocol/client.js';
import type { ToolsetRequest } from '../../../src/core/protocol/request.js';
import type { StatusSnapshot } from '../../../src/core/reconcile/status.js';
import { MemoryStorage } from '../../support/core/memoryStorage.js';
import { testCore } from '../../support/core/testCore.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import {
  failure,
  FakeConnector,
  listing,
  type FakeConnection,
} from '../../support/fakes/fakeConnector.js';
import { file } from './stage.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

interface Offers {
  readonly tools?: readonly string[];
  /** Tools with an app at this address. */
  readonly apps?: Readonly<Record<string, string>>;
  readonly appTools?: readonly string[];
  readonly prompts?: readonly string[];
  readonly resources?: readonly string[];
  readonly templates?: readonly string[];
}

function offering({
  tools = [],
  apps = {},
  appTools = [],
  prompts = [],
  resources = [],
  templates = [],
}: Offers): ToolListing {
  const withUi = (name: string, ui: Fields): ToolListing['tools'][number] => ({
    name,
    inputSchema: { type: 'object' },
    _meta: { ui },
  });
  const ofApps = Object.entries(apps).map(([name, resourceUri]) => withUi(name, { resourceUri }));
  return {
    tools: [
      ...listing(...tools).tools,
      ...ofApps,
      ...appTools.map((name) => withUi(name, { visibility: ['app'] })),
    ],
    malformed: [],
    prompts: { prompts: prompts.map((name) => ({ name })), malformed: [] },
    resources: {
      resources: resources.map((uri) => ({ uri, name: uri })),
      templates: templates.map((uriTemplate) => ({ uriTemplate, name: uriTemplate })),
      malformed: [],
    },
  };
}

const stateless = 'truely-stateless: true';
const two = file({ a: `command: a, ${stateless}`, b: `command: b, ${stateless}` });

describe('names and URIs in baselines (N5b, N5c, S3)', () => {
  let core: Core;
  let connector: FakeConnector;
  let ledger: OfferLedger;
  let storage: MemoryStorage;
  let holdsBack: boolean;
  const connections = new Map<string, FakeConnection>();

  beforeEach(() => {
    storage = new MemoryStorage();
    holdsBack = false;
    open();
  });

  afterEach(close);

  function open(): void {
    connector = new FakeConnector();
    connections.clear();
    const onStoreFailure = (error: unknown): void => assert.fail(String(error));
    ledger = new OfferLedger({ storage, holdsBack: () => holdsBack, onStoreFailure });
    core = testCore({
      clock: new FakeClock(),
      connector,
      offerReview: ledger,
      filteredTools: () => 'off',
    });
  }

  async function close(): Promise<void> {
    await core.host.dispose();
    await ledger.stored();
  }

  const edit = (text: string): Promise<void> =>
    core.host.setSources([{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text }]);

  /** A server without offers does not start. */
  async function serve(
    offers: Readonly<Record<string, Offers | 'fails'>>,
    text = two,
  ): Promise<void> {
    const edited = edit(text);
    for (let left = Object.keys(offers).length; left > 0; left -= 1) {
      const pending = await connector.nextConnect();
      const { launch } = pending.request;
      const id = launch.transport === 'stdio' ? launch.command : '';
      const own = offers[id];
      if (own === undefined || own === 'fails') {
        pending.fail(failure);
        continue;
      }
      const connection = pending.succeed(offering(own));
      connection.capabilities = { tools: {}, prompts: {}, resources: {}, completions: {} };
      connection.respond = () => ({
        kind: 'result',
        result: { contents: [], messages: [{ by: id }] },
      });
      connections.set(id, connection);
    }
    await edited;
  }

  const until = async (accept: (snapshot: StatusSnapshot) => boolean): Promise<unknown> =>
    accept(core.host.snapshot) || nextEvent(core.host.onDidChange, accept);

  /** Lists other offers, and resolves when they are published. */
  async function change(
    id: string,
    offers: Offers,
    kinds: readonly ('tools' | 'prompts' | 'resources')[],
  ): Promise<void> {
    const next = offering(offers);
    const connection = connections.get(id);
    const isNoted = (snapshot: StatusSnapshot): boolean =>
      snapshot.servers.some((one) => one.id === id && one.changedOffers.length > 0);
    const noted = nextEvent(core.host.onDidChange, isNoted);
    for (const kind of kinds) connection?.changeTools(next, kind);
    await noted;
  }

  const named = (id: string): string[] =>
    core.host.catalogue.toolsets
      .find((one) => one.id === id)
      ?.tools.map(({ published }) => published) ?? [];

  const all = () => core.backend.toolset(everyToolset, policies.agent);

  /** The servers that were asked, in order. */
  async function askedFor(
    method: string,
    params: Fields,
    more: Partial<ToolsetRequest> = {},
  ): Promise<string> {
    for (const connection of connections.values()) connection.requests.length = 0;
    const { signal } = new AbortController();
    await core.backend.request({
      toolset: everyToolset,
      method,
      params,
      conversation: 'c',
      signal,
      ...more,
    });
    return [...connections].flatMap(([id, { requests }]) => requests.map(() => id)).join();
  }

  const read = (uri: string): Promise<string> => askedFor('resources/read', { uri });

  async function acceptAll(): Promise<void> {
    const changed = core.host.snapshot.servers.flatMap(({ changedOffers }) => changedOffers);
    const changes = await Promise.all(changed.map((one) => ledger.changeOf(one)));
    ledger.accept(changes.flatMap((one) => one ?? []));
  }

  const taken = (): string[] =>
    core.host.snapshot.problems.flatMap(({ code, server, message }) =>
      code === 'name-taken' ? [`${server}: ${message}`] : [],
    );

  it('a new tool of the first server does not take a name from a later one, and says why', async () => {
    await serve({ a: { tools: ['own'] }, b: { tools: ['x'] } });
    await change('a', { tools: ['own', 'x'] }, ['tools']);
    assert.deepEqual([named('a'), named('b')], [['own'], ['x']]);
    assert.equal(taken().length, 1);
    assert.match(
      taken()[0] ?? '',
      /^a: "a" does not publish the tool "x", because it is new since you let it start, and "b" had a tool of that name at its approval\.$/,
    );
    const { tools } = explain('x', core.host.snapshot, []);
    const why = tools.find(({ server }) => server === 'a')?.roads[0];
    assert.ok(why && !why.offered);
    assert.equal(why.why, 'new since approval, and “x” is in the baseline of b');
  });

  it('a server that lists nothing at first has its baseline later, and takes no name or URI from others, also in the next window (N5d)', async () => {
    holdsBack = true;
    const b = { tools: ['x'], prompts: ['p'], resources: ['note://1'] };
    await serve({ a: {}, b });
    const late = { tools: ['x', 'y'], prompts: ['p'], resources: ['note://1'] };
    const listed = nextEvent(core.host.onDidChange, () => named('a').length > 0);
    for (const kind of ['tools', 'prompts', 'resources'] as const)
      connections.get('a')?.changeTools(offering(late), kind);
    await listed;
    await until(({ servers }) => servers[0]?.resources.resources.length === 1);
    const isRight = async (): Promise<void> => {
      const changed = core.host.snapshot.servers.flatMap((one) => one.changedOffers);
      assert.deepEqual([named('a'), named('b'), changed], [['y'], ['x'], []]);
      assert.equal(await read('note://1'), 'b');
      assert.equal(await askedFor('prompts/get', { name: 'p' }), 'b');
    };
    await isRight();
    await close();
    open();
    await serve({ a: late, b });
    await isRight();
  });

  it('an accepted tool is in the baseline, so the order of the file decides again (S3a)', async () => {
    await serve({ a: { tools: ['own'] }, b: { tools: ['x'] } });
    await change('a', { tools: ['x'] }, ['tools']);
    await acceptAll();
    assert.deepEqual([named('a'), named('b')], [['x'], []]);
    assert.match(
      taken()[0] ?? '',
      /^b: .* because "a", which comes first, has a tool of that name\.$/,
    );
  });

  it('a server whose first list has a name keeps it from a later server that listed first', async () => {
    await serve({ a: { tools: ['x'] }, b: { tools: ['x'] } });
    assert.deepEqual([named('a'), named('b')], [['x'], []]);
  });

  it('the order of the file decides between two baselines, also while the first server is down', async () => {
    await serve({ a: { tools: ['x'] }, b: { tools: ['x', 'y'] } });
    await close();
    open();
    await serve({ a: 'fails', b: { tools: ['x', 'y'] } });
    assert.deepEqual(named('b'), ['y']);
    await edit(
      file({ a: `command: a, ${stateless}, enabled: false`, b: `command: b, ${stateless}` }),
    );
    assert.deepEqual(named('b'), ['x', 'y'], 'a server that is switched off has no names');
  });

  it('a new tool takes no name from a server that is down, in later windows too', async () => {
    await serve({ a: { tools: ['own'] }, b: { tools: ['x'] } });
    await close();
    open();
    await serve({ a: { tools: ['own', 'x'] }, b: 'fails' });
    assert.deepEqual([named('a'), named('b')], [['own'], []]);
  });

  it('an edit of the file moves names', async () => {
    const prefixed = file({
      a: `command: a, ${stateless}`,
      b: `command: b, ${stateless}, transform: [{ prefix: b_ }]`,
    });
    await serve({ a: { tools: ['own'] }, b: { tools: ['x'] } }, prefixed);
    await change('a', { tools: ['own', 'x', 'b_x'] }, ['tools']);
    assert.deepEqual(
      [named('a'), named('b')],
      [['own', 'x'], ['b_x']],
      'nobody has the name without the prefix',
    );
    await edit(two);
    assert.deepEqual([named('a'), named('b')], [['own', 'b_x'], ['x']]);
    await edit(
      file({
        a: `command: a, ${stateless}`,
        b: `command: b, ${stateless}, tools: { blacklist: [x] }`,
      }),
    );
    assert.deepEqual(named('a'), ['own', 'x', 'b_x'], 'a blacklist gives a name away');
  });

  it('tools that are listed first for clients with other capabilities are not firm in the baseline (G3g)', async () => {
    await serve({ a: { tools: ['own'] }, b: { tools: ['x'] } });
    const launch = core.host.launchOf('a');
    assert.ok(launch);
    const declared = '{"sampling":{}}';
    const { createHash } = await import('node:crypto');
    const fingerprint = createHash('sha256')
      .update(`${launch.fingerprint} ${declared}`)
      .digest('hex');
    ledger.note({ ...launch, fingerprint, declared }, [byKey(reviewedIn(listing('x')))], String);
    await change('a', { tools: ['own', 'x'] }, ['tools']);
    assert.deepEqual([named('a'), named('b')], [['own'], ['x']]);
  });

  it('a new name in agent-host sessions takes none from a tool in a baseline (G3i)', async () => {
    const text = file({ a: `command: a, ${stateless}`, 'a-b': `command: b, ${stateless}` });
    await serve({ a: { tools: ['own'] }, b: { tools: ['x'] } }, text);
    await change('a', { tools: ['own', 'b-x'] }, ['tools']);
    const toolsets = core.host.catalogue.toolsets;
    const lost = toolsets.flatMap(({ tools }) =>
      tools.filter((one) => one.noAgentHostName).map(({ published }) => published),
    );
    assert.deepEqual(lost, ['b-x']);
  });

  it('a new prompt takes no name at the endpoint of all toolsets', async () => {
    await serve({ a: { prompts: ['own'] }, b: { prompts: ['p'] } });
    await change('a', { prompts: ['own', 'p'] }, ['prompts']);
    assert.deepEqual(
      all()?.prompts.map(({ name }) => name),
      ['own', 'p'],
    );
    assert.equal(await askedFor('prompts/get', { name: 'p' }), 'b');
    assert.equal(
      await askedFor('completion/complete', {
        ref: { type: 'ref/prompt', name: 'p' },
        argument: {},
      }),
      'b',
    );
    const [problem] = core.host.snapshot.problems.filter(({ code }) => code === 'entry-left-out');
    assert.equal(problem?.server, 'a');
    await acceptAll();
    assert.equal(await askedFor('prompts/get', { name: 'p' }), 'a');
  });

  for (const [how, before, after] of [
    ['resource', { resources: ['note://own'] }, { resources: ['note://own', 'note://1'] }],
    ['template', {}, { templates: ['note://{x}'] }],
    ['template for everything', {}, { templates: ['{+x}'] }],
    ['app', {}, { apps: { show: 'note://1' } }],
  ] as const) {
    it(`a new ${how} takes no URI from a resource in a baseline, also when that is listed no more`, async () => {
      await serve({ a: { tools: ['own'], ...before }, b: { resources: ['note://1', 'note://2'] } });
      await change('a', after, ['tools', 'resources']);
      assert.equal(await read('note://1'), 'b');
      assert.deepEqual(all()?.resources.filter(({ uri }) => uri === 'note://1').length, 1);
      connections.get('b')?.changeTools(offering({ resources: ['note://2'] }), 'resources');
      await until(
        ({ servers }) => servers.find(({ id }) => id === 'b')?.resources.resources.length === 1,
      );
      assert.equal(await read('note://1'), 'b');
      assert.ok(!all()?.resources.some(({ uri }) => uri === 'note://1'));
      await core.host.stop('b');
      assert.equal(await read('note://1'), '', 'nobody answers for a server that is down');
    });
  }

  it('a new resource or template takes no URI from a template in a baseline, and completions go to its server', async () => {
    await serve({ a: { tools: ['own'] }, b: { templates: ['note://{x}/raw'] } });
    await change(
      'a',
      { resources: ['note://1/raw', 'note://1'], templates: ['note://{y}/raw', '{+z}'] },
      ['resources'],
    );
    assert.equal(await read('note://1/raw'), 'b');
    assert.equal(await read('note://2/raw'), 'b');
    assert.equal(await read('note://1'), 'a');
    assert.equal(await read('other://1'), 'a');
    assert.deepEqual(
      all()?.resources.map(({ uri }) => uri),
      ['note://1'],
    );
    const ref = { type: 'ref/resource', uri: 'note://{x}/raw' };
    assert.equal(await askedFor('completion/complete', { ref, argument: {} }), 'b');
  });

  it('the page of an app belongs to the server that had it at its approval, also if it lists no resources (G8)', async () => {
    await serve({ a: { tools: ['own'] }, b: { apps: { chart: 'ui://b/chart' } } });
    await change('a', { resources: ['ui://b/chart'], apps: { other: 'ui://b/chart' } }, [
      'tools',
      'resources',
    ]);
    assert.equal(await read('ui://b/chart'), 'b');
  });

  it('a new tool takes no name by which apps of another server call (G8a)', async () => {
    const prefixed = file({
      a: `command: a, ${stateless}`,
      b: `command: b, ${stateless}, transform: [{ prefix: b_ }]`,
    });
    await serve(
      { a: { tools: ['own'] }, b: { apps: { chart: 'ui://b/chart' }, appTools: ['refresh'] } },
      prefixed,
    );
    const forApps = (): string[] => all()?.appTools?.map(({ name }) => name) ?? [];
    assert.deepEqual(forApps(), ['refresh', 'chart']);
    await change(
      'a',
      { tools: ['own', 'chart'], apps: { show: 'ui://a' }, appTools: ['refresh'] },
      ['tools'],
    );
    assert.deepEqual(forApps(), ['refresh', 'chart']);
    assert.deepEqual(named('a'), ['own', 'show']);
    assert.equal(holderOfTool(core.host.catalogue, 'refresh')?.id, 'b');
  });

  it('a link in a result takes no URI from another server, and leads to its own server otherwise (G3e)', async () => {
    await serve({ a: {}, b: { resources: ['note://1'] } });
    const ofLink = { toolset: 'a', isOfLink: true } as const;
    assert.equal(await askedFor('resources/read', { uri: 'note://1' }, ofLink), 'b');
    assert.equal(await askedFor('resources/read', { uri: 'made://1' }, ofLink), 'a');
  });

  it('without baselines of resources, as an earlier version stored them, the next list is the baseline (S3)', async () => {
    const b = { tools: ['own'] };
    await serve({ a: { tools: ['x'], resources: ['note://1'] }, b });
    await close();
    const [key, stored] = ['mcpToolsets.tools', storage.get('mcpToolsets.tools') as Fields[]];
    await storage.update(
      key,
      stored.map(({ resources: _, ...rest }) => rest),
    );
    open();
    await serve({ a: { tools: ['x', 'y'], resources: ['note://1', 'note://2'] }, b });
    const changed = (): string[] =>
      core.host.snapshot.servers.flatMap((one) =>
        one.changedOffers.map(({ original }) => original),
      );
    assert.deepEqual(changed(), ['y']);
    await change('b', { ...b, resources: ['note://2'] }, ['resources']);
    assert.equal(await read('note://2'), 'a');
    await change('a', { tools: ['x'], resources: ['note://1', 'note://3'] }, ['resources']);
    assert.deepEqual(changed(), ['y', 'note://3', 'note://2']);
  });

  describe('held back', () => {
    beforeEach(() => (holdsBack = true));

    const own = (uri: string, method = 'resources/read'): Promise<string> =>
      askedFor(
        method,
        method === 'completion/complete'
          ? { ref: { type: 'ref/resource', uri }, argument: {} }
          : { uri },
        {
          toolset: 'a',
        },
      );

    it('new and changed resources and templates are in no list, and nobody can read them (S3c)', async () => {
      await serve({ a: { resources: ['note://1'], templates: ['made://{x}'] }, b: {} });
      await change(
        'a',
        { resources: ['note://1', 'note://2', 'made://3'], templates: ['made://{x}', 'new://{x}'] },
        ['resources'],
      );
      const toolset = core.backend.toolset('a', policies.agent);
      assert.deepEqual(
        toolset?.resources.map(({ uri }) => uri),
        ['note://1'],
      );
      assert.deepEqual(
        toolset?.templates.map(({ uriTemplate }) => uriTemplate),
        ['made://{x}'],
      );
      for (const uri of ['note://2', 'made://3', 'new://1', 'new://{x}']) {
        assert.equal(await own(uri), '', uri);
        assert.equal(await own(uri, 'resources/subscribe'), '', uri);
        assert.notEqual(await read(uri), 'a', uri);
      }
      assert.equal(await own('new://{x}', 'completion/complete'), '');
      assert.equal(await own('note://1'), 'a');
      assert.equal(await own('made://4'), 'a');
      await acceptAll();
      assert.equal(await own('note://2'), 'a');
      assert.equal(await own('new://1'), 'a');
    });

    it('a second entry with one URI is left out, so that it cannot pass with the review of the first', async () => {
      const twice = offering({ resources: ['note://1', 'note://1'] });
      await serve({ a: { resources: ['note://1'] }, b: {} });
      connections.get('a')?.changeTools(twice, 'resources');
      await until(({ problems }) =>
        problems.some(({ message }) => message.includes('is listed twice')),
      );
      assert.equal(core.backend.toolset('a', policies.agent)?.resources.length, 1);
    });

    it('of a list that is too long to review, agents see the first 2,000 entries, and a problem says so (S3c)', async () => {
      const resources = Array.from({ length: 2_003 }, (_, index) => `note://${index}`);
      await serve({ a: { resources }, b: {} });
      assert.equal(core.backend.toolset('a', policies.agent)?.resources.length, 2_000);
      assert.equal(await own('note://2001'), '');
      assert.equal(await own('note://1999'), 'a');
      assert.match(
        core.host.snapshot.problems.map(({ message }) => message).join(),
        /lists more than 2000 resources/,
      );
    });
  });
});
