/** The whole way of an agent: MCP client, gateway, engine, real server (G2). */
import assert from 'node:assert/strict';
import { Agent, isNote } from '../../support/core/agent.js';
import { fixture, officialServer, rawWith } from '../../support/core/configText.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

describe('core: an agent at the gateway', () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await startStage();
  });

  afterEach(endStages);

  it('An agent lists and calls tools under the names of its kind (G3a)', async () => {
    await stage.edit({
      everything: officialServer('everything', [], {
        tools: { whitelist: ['echo', 'get-sum'] },
        transform: [{ prefix: 'everything_' }],
      }),
      a_rather_long_Toolset: rawWith(['echo', 'add']),
    });
    const editor = await Agent.connect(stage, 'everything');
    assert.equal(editor.serverName, 'everything');
    assert.deepEqual(await editor.toolNames(), ['echo', 'get-sum']);
    assert.equal(await editor.text('echo', { message: 'hi' }), 'Echo: hi');
    const plain = await Agent.connect(stage, 'everything', 'agent');
    assert.equal(plain.serverName, 'everything');
    assert.deepEqual(await plain.toolNames(), [
      'everything_echo',
      'everything_get-sum',
      'mcp_release_everything',
    ]);
    assert.match(await plain.text('everything_get-sum', { a: 20, b: 22 }), /42/);
    await assert.rejects(plain.result('echo'), /no tool "echo"/);

    const other = await Agent.connect(stage, 'a_rather_long_Toolset');
    assert.match(other.serverName, /^[a-z0-9-]{1,13}$/);
    assert.deepEqual(await other.toolNames(), ['echo', 'add']);
    assert.equal(await other.text('add', { a: 1, b: 2 }), '3');
  });

  it('Descriptions, schemas, annotations, instructions and errors pass unchanged', async () => {
    await stage.edit({ a: fixture('plain', ['--instructions', 'Be brief.']) });
    const agent = await Agent.connect(stage, 'a');
    const structured = (await agent.tools()).find(({ name }) => name === 'structured');
    assert.equal(
      structured?.outputSchema,
      undefined,
      'the editor is promised nothing that it is sent as text',
    );
    assert.deepEqual(structured?.annotations, { readOnlyHint: true, title: 'Weather' });
    assert.match(agent.instructions ?? '', /Be brief\./);
    const plain = await Agent.connect(stage, 'a', 'agent');
    assert.deepEqual(
      (await plain.tools()).find(({ name }) => name === 'structured')?.outputSchema,
      {
        type: 'object',
        properties: { celsius: { type: 'number' }, place: { type: 'string' } },
        required: ['celsius', 'place'],
      },
    );
    const weather = { celsius: 21.5, place: 'Bremen' };
    assert.deepEqual((await plain.result('structured')).structuredContent, weather);
    assert.deepEqual(
      JSON.parse(await agent.text('structured')),
      weather,
      'the editor gets it as text (V1)',
    );
    const failed = await agent.result('fail', { text: 'The disk is full.' });
    assert.equal(failed.isError, true);
    assert.match(JSON.stringify(failed.content), /Error: The disk is full\./);
    await assert.rejects(agent.result('throw', { code: -32001, text: 'not now' }), /not now/);
  });

  it('Each conversation gets its own instance, and the first conversation gets the listed one', async () => {
    await stage.edit({ a: rawWith(['count', 'pid']) });
    const warm = stage.pid('a');
    const agent = await Agent.connect(stage, 'a');
    const count = (conversation: string): Promise<string> =>
      agent.text('count', {}, { conversation });
    assert.equal(await count('one'), '1');
    assert.equal(await count('one'), '2');
    assert.equal(await count('two'), '1');
    assert.equal(await count('one'), '3');
    assert.equal(await agent.text('pid', {}, { conversation: 'one' }), String(warm));
    assert.notEqual(await agent.text('pid', {}, { conversation: 'two' }), String(warm));
    assert.deepEqual(
      stage.instances('a').map(({ use }) => use.kind === 'leased' && use.conversation),
      ['one', 'two'],
    );
  });

  it('Without a conversation id, each MCP session is a conversation', async () => {
    await stage.edit({ a: rawWith(['count']) });
    const one = await Agent.connect(stage, 'a', 'agent');
    const two = await Agent.connect(stage, 'a', 'agent');
    assert.equal(await one.text('count'), '1');
    assert.equal(await one.text('count'), '2');
    assert.equal(await two.text('count'), '1');
  });

  it('All conversations share the instance of a truly stateless server', async () => {
    await stage.edit({ a: rawWith(['count'], { 'truely-stateless': true }) });
    const agent = await Agent.connect(stage, 'a');
    const counts = ['one', 'two', 'three'].map((conversation) =>
      agent.text('count', {}, { conversation }),
    );
    assert.deepEqual((await Promise.all(counts)).sort(), ['1', '2', '3']);
    assert.equal(stage.instances('a').length, 1);
  });

  it('A conversation is notified once of its instance and of a replacement, and can release it (L3, L5, X4)', async () => {
    await stage.edit({ a: fixture('crashes-on-call') });
    const agent = await Agent.connect(stage, 'a');
    const notes = async (tool: string): Promise<string[]> => {
      const { content } = await agent.result(tool, {}, { conversation: 'one' });
      return content.flatMap((part) =>
        part.type === 'text' && isNote(part.text) ? [part.text] : [],
      );
    };
    const [first, ...more] = await notes('pid');
    assert.match(first ?? '', /its own instance of "a".*mcp_admin_release\(\{"serverId":"a"\}\)/);
    assert.deepEqual([more, await notes('pid')], [[], []]);
    await notes('crash');
    assert.match((await notes('pid')).join(), /is gone \(.*exited with code 70.*\)/);
    assert.deepEqual(await notes('pid'), []);

    const admin = await Agent.connect(stage, 'mcp_admin');
    const names = await admin.toolNames();
    assert.deepEqual(names, ['release', 'status', 'restart', 'reload']);
    await admin.text('release', { serverId: 'a' }, { conversation: 'another' });
    assert.equal(stage.instances('a').length, 1);
    await admin.text('release', { serverId: 'a' }, { conversation: 'one' });
    assert.equal(stage.instances('a').length, 0);
    assert.match(await admin.text('status', {}, { conversation: 'one' }), /\ba\b/);
    assert.match((await notes('pid')).join(), /is gone \(this conversation ended it\)/);
  });

  it('Two concurrent first calls of a conversation start one instance', async () => {
    await stage.edit({ a: rawWith(['count', 'pid']) });
    const agent = await Agent.connect(stage, 'a');
    await agent.text('count', {}, { conversation: 'holds the warm one' });
    const pids = await Promise.all(
      [1, 2, 3].map(() => agent.text('pid', {}, { conversation: 'new' })),
    );
    assert.equal(new Set(pids).size, 1);
    assert.equal(stage.instances('a').length, 2);
  });

  it('Progress arrives in order, before the result', async () => {
    await stage.edit({ a: fixture('raw') });
    const agent = await Agent.connect(stage, 'a');
    const heard: unknown[] = [];
    const text = await agent.text(
      'slow',
      { ms: 20, steps: 4 },
      {
        onProgress: ({ progress, total, message }) => void heard.push([progress, total, message]),
      },
    );
    assert.match(text, /done/);
    assert.deepEqual(heard, [
      [1, 4, 'step 1'],
      [2, 4, 'step 2'],
      [3, 4, 'step 3'],
      [4, 4, 'step 4'],
    ]);
  });

  it('A cancellation reaches the server, and other calls go on', async () => {
    await stage.edit({ a: fixture('raw') });
    const agent = await Agent.connect(stage, 'a');
    const cancel = new AbortController();
    const long = { ms: 600_000, steps: 60_000 };
    const other = agent.text('slow', { ms: 300, steps: 3 });
    const cancelled = agent.result('slow', long, {
      signal: cancel.signal,
      onProgress: () => cancel.abort('enough'),
    });
    await assert.rejects(cancelled, /enough/);
    assert.equal(await other.then((text) => text.includes('done')), true);
    assert.match(await agent.text('cancelled'), /\["slow"\]/);
  });

  it('50 parallel calls on one instance each get their own answer', async () => {
    await stage.edit({ a: fixture('raw') });
    const agent = await Agent.connect(stage, 'a');
    const texts = Array.from({ length: 50 }, (_, n) => `call ${n}`);
    const answers = await Promise.all(texts.map((text) => agent.text('echo', { text })));
    assert.deepEqual(answers, texts);
    assert.equal(stage.instances('a').length, 1);
  });

  it('The agent is notified of every change of the file and of the server', async () => {
    await stage.edit({
      a: fixture('changes-tools', [], { tools: { whitelist: ['grow', 'echo', 'extra_*'] } }),
    });
    const agent = await Agent.connect(stage, 'a');
    assert.deepEqual(await agent.toolNames(), ['echo', 'grow']);
    await agent.text('grow');
    await agent.untilTools((names) => names.includes('extra_1'), 'the tool that the server added');
    await stage.edit({
      a: fixture('changes-tools', [], {
        transform: [{ prefix: 'n_' }],
        tools: { blacklist: ['*'], whitelist: ['echo'] },
      }),
    });
    assert.deepEqual(
      await agent.untilTools((names) => names[0] === 'n_echo', 'the names of the new file'),
      ['n_echo'],
    );
    await stage.edit({});
    assert.deepEqual(await agent.untilTools((names) => names.length === 0, 'an empty list'), []);
  });

  it('A call survives the removal of its server, and the next call finds no tool', async () => {
    await stage.edit({ a: rawWith(['slow']), b: rawWith(['echo']) });
    const agent = await Agent.connect(stage, 'a');
    let begun = (): void => {};
    const beginning = new Promise<void>((resolve) => (begun = resolve));
    const running = agent.text('slow', { ms: 600, steps: 6 }, { onProgress: () => begun() });
    await beginning;
    await stage.edit({ b: rawWith(['echo']) });
    await assert.rejects(agent.result('slow'), /There is no toolset "a"\./);
    assert.match(await running, /done/);
  });
});
