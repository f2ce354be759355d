/** Overrides of tools on their way through the host (O1). */
import assert from 'node:assert/strict';
import type { Host } from '../../../src/core/calling/hostContract.js';
import type { CallAnswer, CallQuestion } from '../../../src/core/calling/permission.js';
import { testCore } from '../../support/core/testCore.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import {
  FakeConnector,
  textResult,
  type FakeConnection,
} from '../../support/fakes/fakeConnector.js';
import { file } from './stage.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

const schema = {
  type: 'object' as const,
  properties: { title: { type: 'string' }, repo: { type: 'string' }, label: { type: 'string' } },
  required: ['repo'],
};
const tools = [{ name: 'create', description: 'Long.', inputSchema: schema }];

describe('overrides in the host (O1)', () => {
  const connector = new FakeConnector();
  let questions: {
    readonly question: CallQuestion;
    readonly answer: (answer: CallAnswer) => void;
  }[];
  let permissions: Record<string, string>;
  let host: Host;
  let connection: FakeConnection;

  beforeEach(async () => {
    questions = [];
    permissions = {};
    ({ host } = testCore({
      clock: new FakeClock(),
      connector,
      toolPermissions: {
        settings: () => [permissions],
        ask: (question) => new Promise((answer) => questions.push({ question, answer })),
      },
    }));
    const edited = edit('acme/app');
    connection = (await connector.nextConnect()).succeed({ tools, malformed: [] });
    await edited;
  });

  afterEach(() => host.dispose());

  const edit = (repo: string, tool = 'create'): Promise<void> => {
    const given = `arguments: { repo: { fixed: ${repo} }, label: { allow: ['bug', 'area-*'] } }`;
    const text = file({
      a: `command: a, tools: { override: { ${tool}: { description: Short., ${given} } } }`,
    });
    return host.setSources([{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text }]);
  };

  const call = (args: Record<string, unknown>, more: object = {}) =>
    host.call({
      policy: policies.agent,
      toolset: 'a',
      tool: 'create',
      arguments: args,
      conversation: 'd',
      signal: new AbortController().signal,
      ...more,
    });

  const told = async (outcome: ReturnType<typeof call>): Promise<string> =>
    JSON.stringify(await outcome);

  it('agents see the override, and the server gets the completed call', async () => {
    const [tool] = host.snapshot.servers[0]?.tools ?? [];
    assert.equal(tool?.tool.description, 'Short.');
    assert.deepEqual(Object.keys(tool.tool.inputSchema.properties ?? {}), ['title', 'label']);
    assert.ok(tool.tool.inputSchema.required?.includes('label'));
    assert.equal(tool.override?.offered.description, 'Long.');
    const called = call({ title: 'x', repo: 'other/app', label: 'bug' });
    const received = await connection.nextCall();
    assert.deepEqual(received.request.arguments, { title: 'x', repo: 'acme/app', label: 'bug' });
    received.answer({ kind: 'result', result: textResult('') });
    await called;
  });

  it('a call with a value that is not allowed never leaves, and nobody is asked about it', async () => {
    permissions = { '*': 'ask' };
    host.permission.recheck();
    const refused = await told(call({ label: 'x' }));
    assert.match(
      refused,
      /\\"create\\" was not called\. The argument \\"label\\" may not be \\"x\\"\. Allowed: /,
    );
    assert.match(
      await told(call({ title: 'x' })),
      /The argument \\"label\\" may not be left out\. Allowed: /,
    );
    assert.deepEqual([questions.length, connection.calls.length], [0, 0]);
  });

  it('a person who is asked sees what will be sent, and nothing else is sent after an edit', async () => {
    permissions = { '*': 'ask' };
    host.permission.recheck();
    const called = call({ title: 'x', label: 'bug' });
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(questions[0]?.question.arguments, {
      title: 'x',
      label: 'bug',
      repo: 'acme/app',
    });
    await edit('acme/other');
    questions[0].answer('once');
    assert.match(await told(called), /have changed since the person saw this call/);
    assert.match(
      await told(
        call({ label: 'bug' }, { consented: 'create', seen: { label: 'bug', repo: 'acme/app' } }),
      ),
      /have changed since/,
    );
    assert.equal(connection.calls.length, 0);
  });

  it('a permission judges the arguments of a call as they are sent, whoever consented (S4e)', async () => {
    permissions = { 'create(repo: acme/*)': 'deny', 'create(repo: other/*)': 'allow' };
    host.permission.recheck();
    const [tool] = host.catalogue.toolsets[0]?.tools ?? [];
    assert.deepEqual(
      [tool?.published, tool?.isAsked, tool?.otherwise],
      ['create', undefined, 'allow'],
    );
    for (const more of [{}, { consented: 'create' }])
      assert.match(
        await told(call({ repo: 'other/app', label: 'bug' }, more)),
        /The permission \\"create\(repo: acme\/\*\)\\" denies this call/,
      );
    assert.deepEqual([questions.length, connection.calls.length], [0, 0]);
  });

  it('each road judges the arguments of a call, also after a consent (S4e)', async () => {
    permissions = { 'create(label: bug)': 'deny' };
    host.permission.recheck();
    const roads = [
      ...Object.values(policies).map((policy) => ({ policy })),
      { policy: policies.agent, consented: 'create' },
    ];
    for (const road of roads)
      assert.match(
        await told(call({ label: 'bug' }, road)),
        /The permission \\"create\(label: bug\)\\" denies this call/,
        JSON.stringify(road),
      );
    assert.equal(connection.calls.length, 0);
  });

  it('the refusal by a rule with arguments names a value that takes too long to judge (S4e)', async () => {
    permissions = { 'create(title: *ab*c*)': 'deny' };
    host.permission.recheck();
    const answer = await told(call({ title: 'ab'.repeat(500_000), label: 'bug' }));
    assert.match(answer, /denies this call\. A value of the call takes too long to judge/);
  });

  it('a rule that denies the arguments of a call counts from the moment of the edit, also during a question (S4e)', async () => {
    permissions = { create: 'ask' };
    host.permission.recheck();
    assert.equal(host.catalogue.toolsets[0]?.tools[0]?.isAsked, true);
    const called = call({ label: 'bug' });
    await new Promise((resolve) => setImmediate(resolve));
    permissions = { create: 'ask', 'create(label: bug)': 'deny' };
    host.permission.recheck();
    questions[0]?.answer('once');
    assert.match(await told(called), /create\(label: bug\)/);
    assert.equal(connection.calls.length, 0);
    assert.equal(
      host.catalogue.toolsets[0]?.tools[0]?.isAsked,
      true,
      'each call is asked or denied',
    );
  });

  it('a tool that the server does not have is a problem, which goes when the server lists it', async () => {
    await edit('acme/app', 'make');
    const found = (): string[] =>
      host.snapshot.problems.map(({ code, message }) => `${code} ${message}`);
    await new Promise((resolve) => setImmediate(resolve));
    assert.match(found().join(), /override-unknown `override` names the tool "make"/);
    connection.changeTools({
      tools: [...tools, { name: 'make', inputSchema: schema }],
      malformed: [],
    });
    while (found().length > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  it('a server that shuffles its tools and their keys changes no byte of the list (N6)', async () => {
    let published = 0;
    host.onDidPublish(() => (published += 1));
    const reversed = Object.fromEntries(Object.entries(schema).reverse());
    const shuffled = {
      inputSchema: { ...reversed, type: 'object' as const },
      name: 'create',
      description: 'Long.',
    };
    const other = { name: 'another', inputSchema: schema };
    const bytes = (): string =>
      JSON.stringify(host.catalogue.toolsets[0]?.tools.map(({ tool }) => tool));
    connection.changeTools({ tools: [...tools, other], malformed: [] });
    while (published === 0) await new Promise((resolve) => setImmediate(resolve));
    const before = bytes();
    connection.changeTools({ tools: [other, shuffled], malformed: [] });
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual([bytes(), published], [before, 1]);
  });
});
