/**
 * The endpoint of all toolsets (G2) also serves prompts, resources and the rest of one toolset
 * (G4).
 */
import assert from 'node:assert/strict';
import { everyToolset } from '../../../src/core/gateway/routes.js';
import { fixture } from '../../support/core/configText.js';
import { ModernClient } from '../../support/core/modernClient.js';
import { SessionClient } from '../../support/core/sessionClient.js';
import { endStages, startStage } from '../../support/core/stage.js';

describe('all toolsets at one endpoint (G2)', function () {
  this.timeout(60_000);
  afterEach(endStages);

  it('Prompts, resources, completions and subscriptions go to the right server in both eras', async () => {
    const stage = await startStage();
    await stage.edit({
      tools: fixture('raw'),
      all: fixture('features', [], { 'truely-stateless': true }),
    });
    const session = await SessionClient.open(stage, everyToolset);
    const { client } = session;
    const { messages } = await client.getPrompt({ name: 'greet', arguments: { name: 'you' } });
    assert.match(JSON.stringify(messages), /greet/);
    const { contents } = await client.readResource({ uri: 'note://one' });
    assert.match(JSON.stringify(contents), /note:\/\/one of \d/);
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'name', value: 'a' },
    });
    assert.equal(completion.values.length, 1);
    await client.subscribeResource({ uri: 'note://one' });
    await session.call('touch', { uri: 'note://one' });
    assert.deepEqual(await session.next('notifications/resources/updated'), { uri: 'note://one' });

    const modern = await ModernClient.open(stage, everyToolset, { address: 'a'.repeat(22) });
    const got = await modern.request('prompts/get', { name: 'greet', arguments: { name: 'you' } });
    assert.match(JSON.stringify(got.result?.['messages']), /greet/);
    const read = await modern.request('resources/read', { uri: 'note://two' });
    assert.match(JSON.stringify(read.result?.['contents']), /note:\/\/two of \d/);
  });

  it('Output schemas and parts of results that the SDK cannot read cost only themselves (N7c, X3c)', async () => {
    const stage = await startStage();
    await stage.edit({
      odd: fixture('odd-tools', ['--kind', 'output'], { 'truely-stateless': true }),
      good: fixture('raw', ['--tools', 'echo']),
    });
    const { client } = await SessionClient.open(stage, everyToolset);
    const { tools } = await client.listTools();
    const odd = ['pattern', 'reference', 'list', 'one', 'two'];
    for (const name of [...odd, 'echo'])
      assert.ok(
        tools.some((tool) => tool.name === name),
        name,
      );
    for (const name of odd) {
      const { content, structuredContent } = await client.callTool({ name });
      const [part, line] = content as { type: string; text: string }[];
      assert.deepEqual(part, { type: 'text', text: name });
      assert.match(line?.text ?? '', /^\[A part of the result is left out, .* So are 2 more\.\]$/);
      assert.deepEqual(structuredContent, { [name]: 1 });
    }
    const problems = stage.problems().filter((code) => code.startsWith('output-schema-left-out'));
    assert.equal(problems.length, 3);
  });

  it('A URI in no list goes to each server with resources until one has it, and the last error names them', async () => {
    const stage = await startStage();
    const stateless = { 'truely-stateless': true };
    await stage.edit({
      apps: fixture('apps', [], stateless),
      notes: fixture('features', [], stateless),
    });
    const modern = await ModernClient.open(stage, everyToolset, { address: 'a'.repeat(22) });
    const read = await modern.request('resources/read', { uri: 'note://unlisted' });
    assert.match(JSON.stringify(read.result?.['contents']), /note:\/\/unlisted of \d/);
    await stage.edit({
      apps: fixture('apps', [], stateless),
      more: fixture('apps', [], stateless),
    });
    const none = await modern.request('resources/read', { uri: 'nothing://here' });
    assert.match(
      none.error?.message ?? '',
      /^No server has the resource "nothing:\/\/here"\. Asked: "apps", "more"\.$/,
    );
  });

  it('A call of a tool whose server is still starting waits for it, because the client may know the tool from before a restart', async () => {
    const stage = await startStage();
    void stage.edit({
      quick: fixture('raw', ['--tools', 'add']),
      slow: fixture('slow-start', ['--delay', '9500', '--tools', 'echo']),
    });
    const { client } = await SessionClient.open(stage, everyToolset);
    const { tools } = await client.listTools();
    assert.ok(!tools.some(({ name }) => name === 'echo'), 'the server took too little time');
    const { content } = await client.callTool({ name: 'echo', arguments: { text: 'here' } });
    assert.match(JSON.stringify(content), /here/);
    await assert.rejects(client.callTool({ name: 'no-such-tool' }), /No toolset has a tool/);
  });

  it('A client that lists once gets the tools of servers that were starting, in both eras', async () => {
    const stage = await startStage();
    void stage.edit({
      quick: fixture('raw', ['--tools', 'echo']),
      slow: fixture('slow-start', ['--tools', 'add']),
    });
    const gateway = await stage.gateway();
    assert.ok(gateway);
    const [session, modern] = await Promise.all([
      SessionClient.open(stage, everyToolset),
      ModernClient.open(stage, everyToolset, { address: 'b'.repeat(22) }),
    ]);
    const { tools } = await session.client.listTools();
    const listed = await modern.request('tools/list');
    for (const all of [tools, listed.result?.['tools'] as { name: string }[]]) {
      assert.deepEqual(
        all.map(({ name }) => name).filter((name) => !name.startsWith('mcp_')),
        ['echo', 'add'],
      );
    }
  });

  it('Each result of 2026-07-28 names the same server', async () => {
    const stage = await startStage();
    await stage.edit({ all: fixture('features', [], { 'truely-stateless': true }) });
    const modern = await ModernClient.open(stage, 'all');
    const named = async (
      method: string,
      params: Record<string, unknown> = {},
    ): Promise<unknown> => {
      const { result } = await modern.request(method, params);
      return (result?.['_meta'] as Record<string, { name?: string }> | undefined)?.[
        'io.modelcontextprotocol/serverInfo'
      ];
    };
    const first = await named('server/discover');
    assert.equal((first as { name: string }).name, 'all');
    for (const [method, params] of [
      ['tools/list'],
      ['prompts/list'],
      ['tools/call', { name: 'touch', arguments: { uri: 'note://one' } }],
      ['prompts/get', { name: 'greet', arguments: { name: 'you' } }],
      ['resources/read', { uri: 'note://one' }],
    ] as const) {
      assert.deepEqual(await named(method, params), first, method);
    }
  });
});
