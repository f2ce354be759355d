/**
 * Prompts, resources, completions and log messages from a real server through the gateway (G4).
 */
import assert from 'node:assert/strict';
import { fixture, officialServer } from '../../support/core/configText.js';
import { SessionClient } from '../../support/core/sessionClient.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

describe('what servers offer besides tools (G4)', () => {
  let stage: Stage;
  beforeEach(async () => (stage = await startStage()));
  afterEach(endStages);

  it("The gateway announces every capability that an edit can bring, and the server's instructions before ours", async () => {
    await stage.edit({ rich: fixture('features'), plain: fixture('raw') });
    const all = {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      completions: {},
      logging: {},
    };
    const { client } = await SessionClient.open(stage, 'rich');
    assert.deepEqual(client.getServerCapabilities(), all);
    assert.match(client.getInstructions() ?? '', /^Ask for a plan first\.\n\n.*mcp_release/s);
    const plain = await SessionClient.open(stage, 'plain');
    assert.deepEqual(plain.client.getServerCapabilities(), all);
    const admin = await SessionClient.open(stage, 'mcp_admin');
    assert.deepEqual(admin.client.getServerCapabilities(), { tools: { listChanged: true } });
    await assert.rejects(admin.client.listPrompts(), { code: -32601 });
  });

  it('A running session is notified when an edit adds or removes prompts and resources', async () => {
    await stage.edit({ s: fixture('raw') });
    const session = await SessionClient.open(stage, 's');
    const { client } = session;
    const uri = 'note://one';
    const greeting = {
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'name', value: 'Al' },
    } as const;
    const names = async (): Promise<string[]> =>
      (await client.listPrompts()).prompts.map(({ name }) => name);
    const hasNone = async (): Promise<void> => {
      assert.deepEqual(await names(), []);
      assert.deepEqual((await client.listResources()).resources, []);
      assert.deepEqual((await client.listResourceTemplates()).resourceTemplates, []);
      await assert.rejects(client.getPrompt({ name: 'greet' }), { code: -32602 });
      await assert.rejects(client.readResource({ uri }), { code: -32002 });
      await assert.rejects(client.subscribeResource({ uri }), { code: -32601 });
      assert.deepEqual((await client.complete(greeting)).completion.values, []);
      await client.setLoggingLevel('warning');
    };
    await hasNone();
    await stage.edit({ s: fixture('features') });
    await session.next('notifications/prompts/list_changed');
    await session.next('notifications/resources/list_changed');
    assert.deepEqual(await names(), ['greet', 'plan']);
    assert.equal((await client.listResources()).resources.length, 2);
    assert.equal((await client.getPrompt({ name: 'greet' })).messages.length, 1);
    assert.deepEqual((await client.complete(greeting)).completion.values, ['Alan', '(greet)']);
    await client.subscribeResource({ uri });
    await session.call('touch', { uri });
    assert.deepEqual(await session.next('notifications/resources/updated'), { uri });
    assert.equal(await session.text('level'), 'warning');
    await stage.edit({ s: fixture('raw') });
    await session.next('notifications/prompts/list_changed');
    await session.next('notifications/resources/list_changed');
    await hasNone();
  });

  it('Prompts have every field, and clients get them by their transformed names', async () => {
    await stage.edit({
      s: fixture('features', [], {
        prompts: { blacklist: ['plan'], transform: [{ prefix: 'my_' }] },
      }),
    });
    const { client } = await SessionClient.open(stage, 's');
    const { prompts } = await client.listPrompts();
    assert.deepEqual(prompts, [
      {
        name: 'my_greet',
        title: 'Greeting',
        description: 'Greets somebody',
        arguments: [{ name: 'name', required: true }],
        icons: [{ src: 'data:image/png;base64,AA==' }],
        _meta: { shade: 'green' },
      },
    ]);
    const got = await client.getPrompt({ name: 'my_greet', arguments: { name: 'Ada' } });
    assert.equal(
      got.messages[0]?.content.type === 'text' && got.messages[0].content.text,
      'greet {"name":"Ada"}',
    );
    assert.deepEqual(got._meta, { shade: 'green' });
    for (const name of ['greet', 'my_plan', 'plan'])
      await assert.rejects(client.getPrompt({ name }), { code: -32602 });
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'my_greet' },
      argument: { name: 'name', value: 'A' },
    });
    assert.deepEqual(completion.values, ['Ada', 'Alan', '(greet)']);
    assert.deepEqual(
      stage.server('s').prompts.map(({ original }) => original),
      ['greet'],
    );
  });

  it('A URI filter applies to resources and templates, also to a read of an unlisted resource', async () => {
    await stage.edit({
      out: fixture('features', [], { resources: { blacklist: ['note://two'] } }),
      only: fixture('features', [], {
        resources: { whitelist: ['note://one', 'note://{name}/raw'] },
      }),
    });
    const { client: out } = await SessionClient.open(stage, 'out');
    assert.deepEqual((await out.listResources()).resources, [
      { uri: 'note://one', name: 'One', mimeType: 'text/plain', annotations: { priority: 1 } },
    ]);
    assert.deepEqual((await out.listResourceTemplates()).resourceTemplates, [
      { uriTemplate: 'note://{name}/raw', name: 'raw' },
    ]);
    const { contents } = await out.readResource({ uri: 'note://one' });
    assert.match(JSON.stringify(contents), /shade.*note:\/\/one of \d+/);
    await assert.rejects(out.readResource({ uri: 'note://two' }), { code: -32002 });
    for (const spelling of [
      'note://%74wo',
      'NOTE://two',
      'note://%2574wo',
      'note:////two',
      'note://x/../two',
    ]) {
      await assert.rejects(out.readResource({ uri: spelling }), { code: -32002 });
      await assert.rejects(out.subscribeResource({ uri: spelling }), { code: -32002 });
    }
    await assert.rejects(out.subscribeResource({ uri: 'note://two' }), { code: -32002 });
    const { client: only } = await SessionClient.open(stage, 'only');
    await only.readResource({ uri: 'note://anything/raw' });
    await assert.rejects(only.readResource({ uri: 'note://two' }), { code: -32002 });
  });

  it('A pattern without a match, a duplicate name and a server without prompts or resources are separate problems', async () => {
    await stage.edit({
      s: fixture('features', ['--twice'], {
        prompts: { whitelist: ['gre*', 'nothing'] },
        resources: { blacklist: ['x*'] },
      }),
      tools: fixture('raw', [], { prompts: { whitelist: ['gre*'] } }),
    });
    const codes = stage.host.snapshot.problems.map(({ code, message }) => `${code} ${message}`);
    assert.ok(
      codes.some((text) =>
        /pattern-matches-nothing .*"nothing" matches none of the prompts of "s"/.test(text),
      ),
    );
    assert.ok(
      codes.some((text) =>
        /pattern-matches-nothing .*"x\*" matches none of the resources of "s"/.test(text),
      ),
    );
    assert.ok(codes.some((text) => /entry-left-out .*prompt "greet" twice/.test(text)));
    assert.ok(codes.some((text) => /filtered-tools .*keeps out 1 prompt of "s": plan/.test(text)));
  });

  it('A changed filter of prompts notifies clients and restarts nothing', async () => {
    await stage.edit({ s: fixture('features') });
    const session = await SessionClient.open(stage, 's');
    const pid = await session.text('pid');
    await stage.edit({ s: fixture('features', [], { prompts: { whitelist: ['plan'] } }) });
    await session.next('notifications/prompts/list_changed');
    assert.deepEqual(
      (await session.client.listPrompts()).prompts.map(({ name }) => name),
      ['plan'],
    );
    assert.equal(await session.text('pid'), pid);
  });

  it('A burst of changes ends in the right list', async () => {
    await stage.edit({ s: fixture('features') });
    const session = await SessionClient.open(stage, 's');
    await session.client.listPrompts();
    await session.client.listResources();
    for (const [kind, topic] of [
      ['prompts', 'notifications/prompts/list_changed'],
      ['resources', 'notifications/resources/list_changed'],
    ] as const) {
      await session.call('add', { kind, times: 30 });
      let count = 0;
      while (count < 32) {
        await session.next(topic);
        count =
          kind === 'prompts'
            ? (await session.client.listPrompts()).prompts.length
            : (await session.client.listResources()).resources.length;
      }
      assert.equal(count, 32);
    }
  });

  it('Large lists arrive in pages', async () => {
    await stage.edit({ s: fixture('features', ['--many', '2500']) });
    const { client } = await SessionClient.open(stage, 's');
    const names: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await client.listPrompts(cursor === undefined ? {} : { cursor });
      names.push(...page.prompts.map(({ name }) => name));
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== undefined);
    assert.deepEqual([names.length, new Set(names).size, pages], [2502, 2502, 3]);
  });

  it('A subscriber gets updates of a resource until it unsubscribes, from every instance in turn', async () => {
    await stage.edit({ s: fixture('features') });
    const one = await SessionClient.open(stage, 's');
    const two = await SessionClient.open(stage, 's');
    const uri = 'note://one';
    await one.client.subscribeResource({ uri });
    assert.equal(await one.text('subscribed'), '["note://one"]');
    assert.equal(await two.text('subscribed'), '[]', 'another lease');
    await one.call('touch', { uri });
    assert.deepEqual(await one.next('notifications/resources/updated'), { uri });
    await two.call('touch', { uri });
    await one.client.unsubscribeResource({ uri });
    assert.equal(await one.text('subscribed'), '[]');
    await one.client.subscribeResource({ uri });
    const conversation =
      stage.instances('s').map(({ use }) => (use.kind === 'leased' ? use.conversation : ''))[0] ??
      '';
    await stage.host.release('s', conversation);
    assert.equal(await one.text('subscribed'), '["note://one"]', 'at the next instance too');
    // It may have changed while nothing listened.
    assert.deepEqual(await one.next('notifications/resources/updated'), { uri });
    assert.deepEqual([one.told, two.told], [[], []], 'nobody else was told');
  });

  it('A resource of a shared instance stays subscribed while one session wants it', async () => {
    await stage.edit({ s: fixture('features', [], { 'truely-stateless': true }) });
    const one = await SessionClient.open(stage, 's');
    const two = await SessionClient.open(stage, 's');
    const three = await SessionClient.open(stage, 's');
    const uri = 'note://one';
    for (const { client } of [one, two]) await client.subscribeResource({ uri });
    await three.call('touch', { uri });
    for (const session of [one, two]) await session.next('notifications/resources/updated');
    await one.client.unsubscribeResource({ uri });
    assert.equal(await three.text('subscribed'), '["note://one"]');
    await three.call('touch', { uri });
    await two.next('notifications/resources/updated');
    await two.close();
    while ((await three.text('subscribed')) !== '[]') await new Promise(setImmediate);
    assert.deepEqual([one.told, three.told], [[], []]);
  });

  it('Subscriptions of a shared instance survive death, restart, reload and a more capable client', async () => {
    await stage.edit({ s: fixture('features', [], { 'truely-stateless': true }) });
    const one = await SessionClient.open(stage, 's');
    const two = await SessionClient.open(stage, 's');
    const [uri, other] = ['note://one', 'note://two'];
    await one.client.subscribeResource({ uri });
    await two.client.subscribeResource({ uri: other });
    const pids = new Set<string>();
    const holds = async (): Promise<void> => {
      pids.add(await one.text('pid'));
      // It may have changed while nothing listened, and it changes now.
      assert.deepEqual(await one.next('notifications/resources/updated'), { uri });
      await two.call('touch', { uri });
      assert.deepEqual(await one.next('notifications/resources/updated'), { uri });
    };
    pids.add(await one.text('pid'));
    process.kill(stage.pid('s'), 'SIGKILL');
    await stage.untilState('s', 'running');
    await holds();
    await stage.host.restart('s');
    await holds();
    await two.close();
    await stage.edit({ s: fixture('features', ['--rich'], { 'truely-stateless': true }) });
    pids.add(await one.text('pid'));
    assert.deepEqual(await one.next('notifications/resources/updated'), { uri });
    const able = await SessionClient.open(stage, 's', {
      capabilities: { elicitation: {} },
      elicit: () => ({ action: 'cancel' }),
    });
    pids.add(await able.text('pid'));
    assert.deepEqual(await one.next('notifications/resources/updated'), { uri });
    assert.equal(
      await able.text('subscribed'),
      '["note://one"]',
      'whose session ended is forgotten',
    );
    await one.client.unsubscribeResource({ uri });
    assert.equal(await able.text('subscribed'), '[]');
    assert.equal(pids.size, 5);
  });

  it('Log messages reach the session at its level only', async () => {
    await stage.edit({ s: fixture('features', [], { 'truely-stateless': true }) });
    const loud = await SessionClient.open(stage, 's');
    const calm = await SessionClient.open(stage, 's');
    await calm.client.setLoggingLevel('error');
    await loud.client.setLoggingLevel('debug');
    assert.equal(await calm.text('level'), 'error');
    assert.equal(await loud.text('level'), 'debug', 'of several the one that wants to hear most');
    assert.equal(await calm.text('level'), 'debug');
    await loud.call('log', { level: 'debug', text: 'for loud' });
    assert.deepEqual(await loud.next('notifications/message'), {
      level: 'debug',
      data: 'for loud',
    });
    await calm.call('log', { level: 'debug', text: 'too soft' });
    await calm.call('log', { level: 'critical', text: 'for calm' });
    assert.deepEqual(await calm.next('notifications/message'), {
      level: 'critical',
      data: 'for calm',
    });
    assert.deepEqual([loud.told, calm.told], [[], []]);
  });

  it('A link in a result is read from the instance that made it', async () => {
    await stage.edit({ s: fixture('features') });
    const session = await SessionClient.open(stage, 's', { kind: 'editor' });
    const links: string[] = [];
    for (const conversation of ['a', 'b']) {
      const { content } = await session.call('link', {}, { conversation });
      links.push(...content.flatMap((part) => (part.type === 'resource_link' ? [part.uri] : [])));
    }
    assert.equal(new Set(links).size, 2);
    for (const uri of links) {
      const { contents } = await session.client.readResource({ uri });
      assert.match(JSON.stringify(contents), new RegExp(`${uri} of `));
    }
  });

  it('Every kind of content of server-everything arrives, and so do its prompts and resources', async () => {
    await stage.edit({ s: officialServer('everything') });
    const { client } = await SessionClient.open(stage, 's');
    const { prompts } = await client.listPrompts();
    const { resourceTemplates } = await client.listResourceTemplates();
    assert.ok(prompts.length >= 3 && resourceTemplates.length >= 1);
    const { resources } = await client.listResources();
    const [first] = resources;
    assert.ok(first);
    assert.equal((await client.readResource({ uri: first.uri })).contents[0]?.uri, first.uri);
    const simple = prompts.find(({ arguments: needed }) => !needed?.length);
    assert.ok(simple);
    assert.ok((await client.getPrompt({ name: simple.name })).messages.length > 0);
  });
});
