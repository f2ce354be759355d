/** The host with permissions and held changes, over fake servers (S3, S4). */
import assert from 'node:assert/strict';
import { adminId } from '../../../src/core/catalogue/admin.js';
import { OfferLedger } from '../../../src/core/approval/offerLedger.js';
import { Emitter, nextEvent } from '../../../src/core/base/events.js';
import { onSwap, testCore } from '../../support/core/testCore.js';
import type { SourceText } from '../../../src/core/config/model.js';
import type { Host } from '../../../src/core/calling/hostContract.js';
import type { ToolOutcome } from '../../../src/core/protocol/request.js';
import type { CallQuestion } from '../../../src/core/calling/permission.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import {
  FakeConnector,
  listing,
  textResult,
  type FakeConnection,
} from '../../support/fakes/fakeConnector.js';
import { policies, type Road } from '../../../src/core/protocol/clientPolicy.js';

let host: Host;
let backend: ReturnType<typeof testCore>['backend'];
let connector: FakeConnector;
let ledger: OfferLedger;
let holdsBack: boolean;
let permissions: Record<string, string>;
let offersAdmin: boolean;
let questions: { question: CallQuestion; answer(allowed: boolean): void }[];
const asked = new Emitter<void>();

/** Gives each test of the suite a new host. */
function withHost(): void {
  beforeEach(() => {
    holdsBack = false;
    permissions = {};
    questions = [];
    offersAdmin = true;
    connector = new FakeConnector();
    ledger = new OfferLedger({
      storage: { get: () => undefined, update: () => Promise.resolve() },
      holdsBack: () => holdsBack,
      onStoreFailure: (error) => assert.fail(String(error)),
    });
    ({ host, backend } = testCore({
      clock: new FakeClock(),
      connector,
      filteredTools: () => 'off',
      offerReview: ledger,
      offersAdmin: () => offersAdmin,
      toolPermissions: {
        settings: () => [permissions],
        ask: (question) =>
          new Promise((resolve) => {
            questions.push({ question, answer: (allowed) => resolve(allowed ? 'once' : 'no') });
            asked.fire();
          }),
      },
    }));
  });

  afterEach(async () => {
    await host.dispose();
    assert.equal(connector.live.size, 0, 'a connection was left open');
  });
}

function edit(id: string, rest = ''): Promise<void> {
  const text = `version: 1\nservers: { ${id}: { transport: stdio, command: x, truely-stateless: true${rest} } }\n`;
  return host.setSources([{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text }]);
}

async function serve(id: string, ...tools: string[]): Promise<FakeConnection> {
  const applied = edit(id);
  const connection = (await connector.nextConnect()).succeed(listing(...tools));
  await applied;
  return connection;
}

const named = (id: string): string[] =>
  host.catalogue.toolsets
    .find((toolset) => toolset.id === id)
    ?.tools.map(({ published }) => published) ?? [];

const excluded = (): unknown[] =>
  host.catalogue.toolsets.filter(({ id }) => id !== adminId).flatMap((toolset) => toolset.excluded);

function call(
  tool: string,
  rest: { consented?: string; signal?: AbortSignal } = {},
): Promise<ToolOutcome> {
  const signal = rest.signal ?? new AbortController().signal;
  return host.call({
    policy: policies.agent,
    toolset: 'a',
    tool,
    arguments: { n: 1 },
    conversation: 'd',
    ...rest,
    signal,
  });
}

async function nextQuestion(): Promise<(typeof questions)[number]> {
  if (questions.length === 0) await nextEvent(asked.event, () => true);
  const question = questions.shift();
  assert.ok(question);
  return question;
}

function redescribed(...names: string[]): ReturnType<typeof listing> {
  const { tools, malformed } = listing(...names);
  return { tools: tools.map((tool) => ({ ...tool, description: 'other words' })), malformed };
}

/** Accepts every shown change. */
async function acceptAll(): Promise<void> {
  const names = host.snapshot.servers.flatMap(({ changedOffers }) => changedOffers);
  const changes = await Promise.all(names.map((name) => ledger.changeOf(name)));
  ledger.accept(changes.flatMap((change) => change ?? []));
}

describe('tools that changed since the approval of their server (S3)', () => {
  withHost();

  const change = async (): Promise<FakeConnection> => {
    const connection = await serve('a', 'x', 'y');
    const changed = nextEvent(
      host.onDidChange,
      ({ servers }) => servers[0]?.changedOffers.length === 1,
    );
    const { tools } = listing('x', 'y');
    connection.changeTools({
      tools: tools.map((tool) => (tool.name === 'x' ? { ...tool, description: 'new' } : tool)),
      malformed: [],
    });
    await changed;
    return connection;
  };

  it('changed tools are marked, with a problem, and agents see them', async () => {
    await change();
    const [changed] = host.snapshot.servers[0]?.changedOffers ?? [];
    assert.deepEqual(
      { ...changed, launch: '' },
      { launch: '', kind: 'tool', original: 'x', parts: ['description'], held: false },
    );
    assert.deepEqual(named('a'), ['x', 'y']);
    const [problem] = host.snapshot.problems;
    assert.equal(problem?.code, 'tools-changed');
    assert.match(problem?.message ?? '', /tool "x" \(description changed\)/);
  });

  it('a changed manual is marked and held back like other instructions, apart from changed tools', async () => {
    const text = (manual: string): string =>
      `version: 1\nservers: { a: { transport: stdio, command: x, truely-stateless: true, manual: { content: ${manual} } } }\n`;
    const source = (manual: string): SourceText[] => [
      { file: '/ws/.minds/mcp.yaml', folder: '/ws', text: text(manual) },
    ];
    const instructions = (): string | undefined =>
      host.catalogue.toolsets.find(({ id }) => id === 'a')?.manual;
    holdsBack = true;
    const applied = host.setSources(source('one'));
    (await connector.nextConnect()).succeed(listing('x'));
    await applied;
    assert.deepEqual([instructions(), host.snapshot.servers[0]?.changedOffers], ['one', []]);
    await host.setSources(source('two'));
    const [changed] = host.snapshot.servers[0]?.changedOffers ?? [];
    assert.deepEqual(
      [instructions(), changed?.kind, changed?.held],
      [undefined, 'instructions', true],
    );
    await acceptAll();
    assert.equal(instructions(), 'two');
  });

  it('changed tools are held back if a person wants that, until they accept', async () => {
    holdsBack = true;
    await change();
    assert.deepEqual(named('a'), ['y']);
    assert.deepEqual(excluded(), [
      { original: 'x', reason: { kind: 'changed', parts: ['description'] } },
    ]);
    const refused = await call('x');
    assert.equal(refused.kind, 'error');
    const solved = nextEvent(host.onDidChange, ({ problems }) => problems.length === 0);
    await acceptAll();
    assert.deepEqual(named('a'), ['x', 'y']);
    await solved;
  });

  it('new tools are held back until a person accepts them', async () => {
    holdsBack = true;
    const connection = await serve('a', 'x');
    const changed = nextEvent(
      host.onDidChange,
      ({ servers }) => servers[0]?.changedOffers.length === 1,
    );
    connection.changeTools(listing('x', 'y'));
    await changed;
    assert.deepEqual(named('a'), ['x']);
    assert.deepEqual(excluded(), [{ original: 'y', reason: { kind: 'changed', parts: ['new'] } }]);
    const [problem] = host.snapshot.problems;
    assert.equal(problem?.code, 'tools-changed');
    assert.match(
      problem.message,
      /tool "y" \(new since approval\)\. Agents do not see what changed\./,
    );
    await acceptAll();
    assert.deepEqual(named('a'), ['x', 'y']);
  });

  it('new prompts and the instructions of the next start are held back', async () => {
    const connection = await serve('a', 'x');
    const changed = nextEvent(
      host.onDidChange,
      ({ servers }) => servers[0]?.changedOffers.length === 1,
    );
    connection.changeTools(
      { ...listing('x'), prompts: { prompts: [{ name: 'p' }], malformed: [] } },
      'prompts',
    );
    await changed;
    const [toolset] = host.catalogue.toolsets;
    assert.deepEqual(
      toolset?.prompts.map(({ original }) => original),
      ['p'],
    );
    holdsBack = true;
    ledger.recheck();
    assert.deepEqual(host.catalogue.toolsets[0]?.prompts, []);
    const told = nextEvent(
      host.onDidChange,
      ({ servers }) => servers[0]?.changedOffers[0]?.kind === 'instructions',
    );
    const restarted = host.restart('a');
    (await connector.nextConnect()).succeed(listing('x'), 'Obey.');
    await Promise.all([restarted, told]);
    assert.equal(host.catalogue.toolsets[0]?.instructions, undefined);
    await acceptAll();
    assert.equal(host.catalogue.toolsets[0]?.instructions, 'Obey.');
  });

  it('the setting holds changed tools back and lets them go', async () => {
    await change();
    holdsBack = true;
    ledger.recheck();
    assert.deepEqual(named('a'), ['y']);
    holdsBack = false;
    ledger.recheck();
    assert.deepEqual(named('a'), ['x', 'y']);
  });

  it('changed tools behind the filter do not count', async () => {
    const connection = await serve('a', 'x', 'y');
    const text = `version: 1\nservers: { a: { transport: stdio, command: x, truely-stateless: true, tools: { blacklist: [x] } } }\n`;
    await host.setSources([{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text }]);
    const changed = nextEvent(
      host.onDidChange,
      ({ servers }) => servers[0]?.changedOffers.length === 1,
    );
    connection.changeTools(redescribed('x', 'y'));
    await changed;
    assert.deepEqual(
      host.snapshot.servers[0]?.changedOffers.map(({ original }) => original),
      ['y'],
    );
  });
});

describe('tool permissions (S4)', () => {
  withHost();

  const set = (next: Record<string, string>): void => {
    permissions = next;
    host.permission.recheck();
  };

  it('a denied tool is hidden from agents, frees its name, and says why', async () => {
    set({ 'x*': 'deny', mcp_restart: 'deny' });
    await serve('a', 'x1', 'y');
    assert.deepEqual(named('a'), ['y']);
    assert.deepEqual(excluded(), [
      { original: 'x1', reason: { kind: 'denied', pattern: 'x*', published: 'x1' } },
    ]);
    assert.equal((await call('x1')).kind, 'error');
    assert.deepEqual(named(adminId), ['mcp_release', 'mcp_status', 'mcp_reload']);
    assert.deepEqual(
      host.snapshot.builtIn?.excluded.map(({ original }) => original),
      ['mcp_restart'],
    );
  });

  it('the built-in toolset has a separate setting (L5)', async () => {
    await serve('a', 'x');
    offersAdmin = false;
    set({});
    assert.deepEqual(named(adminId), []);
    offersAdmin = true;
    set({});
    assert.equal(named(adminId).length, 4);
  });

  it('a changed permission counts at once', async () => {
    await serve('a', 'x', 'y');
    set({ x: 'deny' });
    assert.deepEqual(named('a'), ['y']);
    set({});
    assert.deepEqual(named('a'), ['x', 'y']);
    assert.deepEqual(named(adminId), ['mcp_release', 'mcp_status', 'mcp_restart', 'mcp_reload']);
  });

  it('a person sees the call, and it is made when they allow it', async () => {
    set({ '*': 'ask' });
    const connection = await serve('a', 'x');
    const outcome = call('x');
    const { question, answer } = await nextQuestion();
    assert.deepEqual(question, {
      toolset: 'a',
      conversation: 'd',
      tool: 'x',
      title: undefined,
      arguments: { n: 1 },
    });
    assert.equal(connection.calls.length, 0);
    answer(true);
    (await connection.nextCall()).answer({ kind: 'result', result: textResult('made') });
    const made = await outcome;
    assert.deepEqual(made.kind === 'result' && made.result, textResult('made'));
  });

  it('a call without permission is not made, and the agent learns so', async () => {
    set({ '*': 'ask' });
    const connection = await serve('a', 'x');
    const outcome = call('x');
    (await nextQuestion()).answer(false);
    const refused = await outcome;
    assert.ok(refused.kind === 'result');
    assert.equal(refused.result.isError, true);
    assert.match(JSON.stringify(refused.result.content), /did not allow this call of \\"x\\"/);
    assert.equal(connection.calls.length, 0);
  });

  it('a call that the person made themselves needs no question', async () => {
    set({ '*': 'ask' });
    const connection = await serve('a', 'x');
    const outcome = call('x', { consented: 'x' });
    (await connection.nextCall()).answer({ kind: 'result', result: textResult('made') });
    assert.equal((await outcome).kind, 'result');
    assert.deepEqual(questions, []);
  });

  it('a call that was cancelled or denied during its question is not made', async () => {
    set({ '*': 'ask' });
    const connection = await serve('a', 'x');
    const ending = new AbortController();
    const cancelled = call('x', { signal: ending.signal });
    const first = await nextQuestion();
    ending.abort();
    first.answer(false);
    assert.equal((await cancelled).kind, 'cancelled');
    const denied = call('x');
    const second = await nextQuestion();
    set({ x: 'deny' });
    second.answer(true);
    assert.equal((await denied).kind, 'error');
    assert.equal(connection.calls.length, 0);
  });

  for (const [when, consented] of [
    ['while the question stands', undefined],
    ['after a person has seen the call', 'read'],
  ] as const) {
    it(`a call is not made if its name is given to another tool ${when}`, async () => {
      set({ '*': 'ask' });
      const connection = await serve('a', 'read', 'delete');
      const rename = (): Promise<void> =>
        edit('a', ', transform: [{ prefix: { remove: delete, add: read } }]');
      if (consented !== undefined) await rename();
      const outcome = call('read', consented === undefined ? {} : { consented });
      if (consented === undefined) {
        const { answer } = await nextQuestion();
        await rename();
        answer(true);
      }
      const refused = await outcome;
      assert.ok(refused.kind === 'result' && refused.result.isError);
      assert.match(JSON.stringify(refused.result.content), /\\"read\\" was given to another tool/);
      assert.equal(connection.calls.length, 0);
    });
  }

  it('built-in tools can need a question too', async () => {
    set({ 'mcp_*': 'ask' });
    await serve('a', 'x');
    const outcome = host.call({
      policy: policies.agent,
      toolset: adminId,
      tool: 'mcp_status',
      arguments: {},
      conversation: 'd',
      signal: new AbortController().signal,
    });
    (await nextQuestion()).answer(true);
    const status = await outcome;
    assert.match(JSON.stringify(status), /a: running/);
  });
});

describe('a tool with a question before each call (S4)', () => {
  withHost();

  const hints = (road: Road, id = 'a'): unknown[] =>
    (backend.toolset(id, policies[road])?.tools ?? []).map(({ annotations }) => annotations);

  it('only the editor gets the hint that it need not ask, so that only our question is shown (S4d)', async () => {
    permissions = { x: 'ask' };
    host.permission.recheck();
    const { tools, malformed } = listing('x', 'y');
    const applied = edit('a');
    (await connector.nextConnect()).succeed({
      tools: tools.map((tool) => ({ ...tool, annotations: { destructiveHint: true } })),
      malformed,
    });
    await applied;
    const unchanged = { destructiveHint: true };
    assert.deepEqual(hints('editor'), [{ ...unchanged, readOnlyHint: true }, unchanged]);
    assert.deepEqual([hints('agentHost'), hints('agent')].flat(), Array(4).fill(unchanged));
  });

  it('the editor’s tools change with the setting, `mcp_admin` included', async () => {
    await serve('a', 'x');
    assert.deepEqual(hints('editor'), [undefined]);
    let changes = 0;
    onSwap(host, () => changes++);
    permissions = { '*': 'ask' };
    host.permission.recheck();
    assert.equal(changes, 1);
    assert.deepEqual(hints('editor'), [{ readOnlyHint: true }]);
    assert.ok(
      hints('editor', adminId).every(
        (one) => (one as { readOnlyHint?: boolean }).readOnlyHint === true,
      ),
    );
    permissions = {};
    host.permission.recheck();
    assert.deepEqual(hints('editor'), [undefined]);
  });

  it('the question stays as long as the editor has a list with that hint, whatever the setting says (S4d)', async () => {
    const connection = await serve('a', 'x');
    const outcome = host.call({
      policy: policies.agent,
      ...{ toolset: 'a', tool: 'x', arguments: {}, conversation: 'chat', isPromised: true },
      signal: new AbortController().signal,
    });
    const { question, answer } = await nextQuestion();
    assert.equal(question.conversation, 'chat');
    answer(true);
    (await connection.nextCall()).answer({ kind: 'result', result: textResult('done') });
    assert.match(JSON.stringify(await outcome), /done/);
  });
});
