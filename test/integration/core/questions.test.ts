/**
 * A server's question goes to the conversation whose call caused it, within the declared
 * capabilities (G4).
 */
import assert from 'node:assert/strict';
import type { ClientCapabilities } from '@modelcontextprotocol/sdk/types.js';
import { fixture, http } from '../../support/core/configText.js';
import { SessionClient, type SessionOptions } from '../../support/core/sessionClient.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';
import { within } from '../../support/core/within.js';

const able: ClientCapabilities = {
  roots: { listChanged: true },
  sampling: {},
  elicitation: { form: {}, url: {} },
};
/** Answers with its name and the question. */
const answering = (name: string, more: Partial<SessionOptions> = {}): SessionOptions => ({
  capabilities: able,
  elicit: ({ message }) => ({ action: 'accept', content: { answer: `${name}: ${message}` } }),
  sample: (text) => ({ role: 'assistant', model: name, content: { type: 'text', text } }),
  roots: () => [`file:///${name}`],
  ...more,
});
const accepted = (answer: string): string =>
  JSON.stringify({ action: 'accept', content: { answer } });

describe('questions from servers to clients (G4)', () => {
  let stage: Stage;
  beforeEach(async () => (stage = await startStage()));
  afterEach(endStages);

  it('The calling session answers form, URL, sampling and roots', async () => {
    await stage.edit({ s: fixture('features') });
    const session = await SessionClient.open(stage, 's', answering('a'));
    assert.equal(await session.text('elicit', { message: 'Who?' }), accepted('a: Who?'));
    assert.match(await session.text('elicit_url', { id: 'e1' }), /"action":"accept"/);
    const sampled = JSON.parse(await session.text('sample', { prompt: 'Say hello' })) as {
      model: string;
    };
    assert.deepEqual([sampled.model, JSON.stringify(sampled).includes('Say hello')], ['a', true]);
    assert.equal(await session.text('roots'), '["file:///a"]');
  });

  it('Two conversations with concurrent questions each get their own', async () => {
    await stage.edit({ s: fixture('features') });
    let both: () => void = () => {};
    const asked = new Promise<void>((resolve) => (both = resolve));
    let count = 0;
    const together = (name: string): SessionOptions =>
      answering(name, {
        elicit: async ({ message }) => {
          if (++count === 4) both();
          await asked;
          return { action: 'accept', content: { answer: `${name}: ${message}` } };
        },
      });
    const one = await SessionClient.open(stage, 's', together('one'));
    const two = await SessionClient.open(stage, 's', together('two'));
    const answers = await Promise.all([
      one.text('elicit', { message: 'first' }),
      two.text('elicit', { message: 'second' }),
      one.text('elicit', { message: 'third' }, { conversation: 'c1' }),
      one.text('elicit', { message: 'fourth' }, { conversation: 'c2' }),
    ]);
    assert.deepEqual(answers, [
      accepted('one: first'),
      accepted('two: second'),
      accepted('one: third'),
      accepted('one: fourth'),
    ]);
  });

  it('A server receives exactly the capabilities that its client declared', async () => {
    await stage.edit({ s: fixture('features') });
    const nothing = await SessionClient.open(stage, 's');
    assert.equal(await nothing.text('capabilities'), '{}');
    assert.match(
      await nothing.text('elicit', { message: 'Who?' }),
      /does not support|has not declared/,
    );
    const form = await SessionClient.open(
      stage,
      's',
      answering('f', { capabilities: { elicitation: {} } }),
    );
    assert.deepEqual(JSON.parse(await form.text('capabilities')), { elicitation: { form: {} } });
    const all = await SessionClient.open(stage, 's', answering('a'));
    assert.deepEqual(JSON.parse(await all.text('capabilities')), able);
    assert.equal(stage.instances('s').length, 3);
  });

  it('The first conversation gets the warm instance if the expected client capabilities hold (L4)', async () => {
    await endStages();
    stage = await startStage({
      expectedClient: { capabilities: able, roots: () => [{ uri: 'file:///x', name: 'x' }] },
    });
    await stage.edit({ s: fixture('features') });
    const warm = stage.pid('s');
    const other = await SessionClient.open(stage, 's');
    assert.notEqual(await other.text('pid'), String(warm));
    const session = await SessionClient.open(stage, 's', answering('a'));
    assert.equal(await session.text('pid'), String(warm));
    assert.equal(await session.text('roots'), '["file:///a"]');
  });

  it("A shared instance receives the union of its sessions' capabilities, and a session without one gets no question", async () => {
    await stage.edit({ s: fixture('features', [], { 'truely-stateless': true }) });
    const nothing = await SessionClient.open(stage, 's');
    const before = await nothing.text('pid');
    const all = await SessionClient.open(stage, 's', answering('a'));
    assert.equal(await all.text('elicit', { message: 'Who?' }), accepted('a: Who?'));
    const after = await all.text('pid');
    assert.notEqual(after, before, 'a server hears once, at its start, what its clients can do');
    assert.equal(await nothing.text('pid'), after);
    assert.match(await nothing.text('elicit', { message: 'Who?' }), /-32601.*has not declared/);
  });

  it('A shared instance with two callers asks neither, because the target is unclear (G4d)', async () => {
    await stage.edit({ s: fixture('features', [], { 'truely-stateless': true }) });
    const one = await SessionClient.open(stage, 's', answering('one'));
    const two = await SessionClient.open(stage, 's', answering('two'));
    const stop = new AbortController();
    const held = one.text('hold', {}, { signal: stop.signal }).catch(() => 'stopped');
    await one.next('notifications/message');
    assert.match(await two.text('elicit', { message: 'Who?' }), /Several conversations/);
    stop.abort();
    assert.equal(await held, 'stopped');
    while ((await two.text('cancelled')) !== '1') await new Promise(setImmediate);
    assert.equal(await two.text('elicit', { message: 'Who?' }), accepted('two: Who?'));
  });

  it('A question of a shared HTTP server goes to the caller on the same stream (G4d)', async () => {
    await endStages();
    stage = await startStage({ expectedClient: { capabilities: able, roots: () => [] } });
    const { url } = await stage.everything('streamableHttp');
    await stage.edit({ s: http(url, { 'truely-stateless': true }) });
    const contents: Record<string, unknown> = { name: 'x', check: true, email: 'x@example.com' };
    const asked: string[] = [];
    const named = (name: string): SessionOptions =>
      answering(name, {
        elicit: () => {
          asked.push(name);
          return { action: 'accept', content: { ...contents, name } as Record<string, string> };
        },
      });
    const one = await SessionClient.open(stage, 's', named('one'));
    const two = await SessionClient.open(stage, 's', named('two'));
    const tools = (await one.client.listTools()).tools.map(({ name }) => name);
    const tool = tools.find((name) => /elicit/i.test(name) && !/async|url/i.test(name));
    assert.ok(tool, tools.join(' '));
    const slow = tools.find((name) => /long/i.test(name)) ?? '';
    const running = one.call(slow, { duration: 1, steps: 2 });
    const results = await Promise.all([one.call(tool), two.call(tool)]);
    assert.deepEqual([...asked].sort(), ['one', 'two']);
    for (const [index, name] of ['one', 'two'].entries())
      assert.match(JSON.stringify(results[index]), new RegExp(name));
    await running;
  });

  it('A question over HTTP+SSE goes to the only caller, because its messages name no request', async () => {
    await endStages();
    stage = await startStage({ expectedClient: { capabilities: able, roots: () => [] } });
    const { url } = await stage.everything('sse');
    await stage.edit({
      leased: http(url),
      shared: http(url, { 'truely-stateless': true, transform: [{ prefix: 'all_' }] }),
    });
    const contents = { check: true, email: 'x@example.com' };
    const named = (name: string): SessionOptions =>
      answering(name, { elicit: () => ({ action: 'accept', content: { ...contents, name } }) });
    const open = (toolset: string, name: string): Promise<SessionClient> =>
      SessionClient.open(stage, toolset, named(name));
    const [one, two] = [await open('leased', 'one'), await open('leased', 'two')];
    const tools = (await one.client.listTools()).tools.map(({ name }) => name);
    const asks = tools.find((name) => /elicit/i.test(name) && !/async|url/i.test(name)) ?? '';
    const slow = tools.find((name) => /long/i.test(name)) ?? '';
    // Each lease has a separate stream.
    for (const [index, result] of (await Promise.all([one.call(asks), two.call(asks)])).entries())
      assert.match(JSON.stringify(result), new RegExp(index === 0 ? 'one' : 'two'));
    const [three, four] = [await open('shared', 'three'), await open('shared', 'four')];
    for (const [session, name] of [
      [three, 'three'],
      [four, 'four'],
    ] as const)
      assert.match(JSON.stringify(await session.call(`all_${asks}`)), new RegExp(name));
    const stop = new AbortController();
    const begun = new Promise<void>((resolve) => {
      const progress = { onprogress: () => resolve(), signal: stop.signal };
      void three.client
        .callTool(
          { name: `all_${slow}`, arguments: { duration: 30, steps: 300 } },
          undefined,
          progress,
        )
        .catch(() => {});
    });
    await begun;
    await assert.rejects(
      four.call(`all_${asks}`).then((result) => Promise.reject(new Error(JSON.stringify(result)))),
      /Several conversations/,
    );
    stop.abort();
  });

  it('One session with two conversations gets no question for the wrong one', async () => {
    await stage.edit({ s: fixture('features', [], { 'truely-stateless': true }) });
    const session = await SessionClient.open(stage, 's', answering('one', { kind: 'editor' }));
    const stop = new AbortController();
    const held = session
      .text('hold', {}, { conversation: 'c1', signal: stop.signal })
      .catch(() => 'stopped');
    await session.next('notifications/message');
    const elicit = (): Promise<string> =>
      session.text('elicit', { message: 'Who?' }, { conversation: 'c2' });
    assert.match(await elicit(), /Several conversations/);
    stop.abort();
    assert.equal(await held, 'stopped');
    while ((await session.text('cancelled')) !== '1') await new Promise(setImmediate);
    assert.equal(await elicit(), accepted('one: Who?'));
  });

  it('A call that waits for a person is not silent (X6)', async () => {
    await stage.edit({ s: fixture('features', [], { timeouts: { call: 200 } }) });
    const other = await SessionClient.open(stage, 's');
    // The person answers after the same limit has ended a later call.
    const late = answering('late', {
      elicit: async ({ message }) => {
        assert.match(await other.text('hold'), /no sign of life for 0\.2 s/);
        return { action: 'accept', content: { answer: message } };
      },
    });
    const session = await SessionClient.open(stage, 's', late);
    assert.equal(await session.text('elicit', { message: 'Slowly' }), accepted('Slowly'));
  });

  it('Cancelling works in both directions', async () => {
    await stage.edit({ s: fixture('features') });
    let takenBack = 0;
    const session = await SessionClient.open(
      stage,
      's',
      answering('a', {
        elicit: (_, signal) =>
          new Promise((resolve) => {
            const gone = (): void => {
              takenBack += 1;
              resolve({ action: 'cancel' });
            };
            if (signal.aborted) gone();
            else signal.addEventListener('abort', gone);
          }),
      }),
    );
    // On a busy machine the server may withdraw a question before it is asked. Then no notification
    // follows.
    while (takenBack === 0)
      assert.match(await session.text('give_up', { message: 'Never mind' }), /code/);
    const stop = new AbortController();
    const held = session.text('hold', {}, { signal: stop.signal }).catch(() => 'stopped');
    await session.next('notifications/message');
    stop.abort();
    assert.equal(await held, 'stopped');
    while ((await session.text('cancelled')) !== '1') await new Promise(setImmediate);
  });

  it('A question is withdrawn when the client cancels its call (X6)', async () => {
    await stage.edit({ s: fixture('features') });
    let asked: (signal: AbortSignal) => void = () => {};
    const question = new Promise<AbortSignal>((resolve) => (asked = resolve));
    const elicit: SessionOptions['elicit'] = (_, signal) => {
      asked(signal);
      return new Promise(() => {});
    };
    const session = await SessionClient.open(stage, 's', answering('a', { elicit }));
    const stop = new AbortController();
    const call = session
      .text('elicit', { message: 'Who?' }, { signal: stop.signal })
      .catch(() => 'stopped');
    const signal = await question;
    const takenBack = new Promise<void>((resolve) =>
      signal.addEventListener('abort', () => resolve()),
    );
    stop.abort();
    assert.equal(await call, 'stopped');
    await within(takenBack, 'the end of the question');
  });

  it('An elicitation that a call requires is an error with data and is reported as complete later', async () => {
    await stage.edit({ s: fixture('features') });
    const session = await SessionClient.open(stage, 's', answering('a'));
    await assert.rejects(
      session.call('require_url', { id: 'e7' }),
      (error: { code: number; data: unknown }) => {
        assert.equal(error.code, -32042);
        assert.match(JSON.stringify(error.data), /"elicitationId":"e7"/);
        return true;
      },
    );
    assert.deepEqual(await session.next('notifications/elicitation/complete'), {
      elicitationId: 'e7',
    });
  });

  it('A server that asks for roots at its start gets those of the client for whom it starts, or of the expected one', async () => {
    await endStages();
    const expected = { capabilities: able, roots: () => [{ uri: 'file:///expected', name: 'x' }] };
    stage = await startStage({ expectedClient: expected });
    await stage.edit({ s: fixture('features', ['--asks-early']) });
    const first = await SessionClient.open(stage, 's', answering('first'));
    assert.equal(await first.text('early_roots'), '["file:///expected"]', 'the warm instance');
    assert.equal(
      await first.text('root_changes'),
      '1',
      'its roots are those of the conversation now',
    );
    assert.equal(await first.text('roots'), '["file:///first"]');
    const second = await SessionClient.open(stage, 's', answering('second'));
    assert.equal(await second.text('early_roots'), '["file:///second"]', 'an instance of its own');
    assert.equal(await second.text('root_changes'), '0');

    await stage.edit({ s: fixture('features', ['--asks-early'], { 'truely-stateless': true }) });
    assert.equal(await second.text('early_roots'), '["file:///expected"]', 'a shared instance');
  });

  it('A question of no call in particular goes on when another call of its conversation ends (X6)', async () => {
    await stage.edit({ s: fixture('features') });
    let asked: () => void = () => {};
    const question = new Promise<void>((resolve) => (asked = resolve));
    let answer: () => void = () => {};
    const answerable = new Promise<void>((resolve) => (answer = resolve));
    const session = await SessionClient.open(
      stage,
      's',
      answering('a', {
        elicit: async () => {
          asked();
          await answerable;
          return { action: 'accept', content: { answer: 'still here' } };
        },
      }),
    );
    const call = session.text('elicit_beside', { message: 'Who?' });
    const stop = new AbortController();
    const held = session.text('hold', {}, { signal: stop.signal }).catch(() => 'stopped');
    await question;
    stop.abort();
    assert.equal(await held, 'stopped');
    while ((await session.text('cancelled')) !== '1') await new Promise(setImmediate);
    answer();
    assert.equal(await call, accepted('still here'));
  });

  it('A change of roots reaches the server of the session', async () => {
    await stage.edit({ s: fixture('features') });
    let root = 'file:///before';
    const session = await SessionClient.open(stage, 's', answering('a', { roots: () => [root] }));
    assert.equal(await session.text('roots'), '["file:///before"]');
    root = 'file:///after';
    const changes = Number(await session.text('root_changes'));
    await session.client.sendRootsListChanged();
    while (Number(await session.text('root_changes')) !== changes + 1)
      await new Promise(setImmediate);
    assert.equal(await session.text('roots'), '["file:///after"]');
  });

  it('A session that ends leaves no question open', async () => {
    await stage.edit({ s: fixture('features') });
    let asked: () => void = () => {};
    const wasAsked = new Promise<void>((resolve) => (asked = resolve));
    const silent = answering('a', {
      elicit: () => {
        asked();
        return new Promise(() => {});
      },
    });
    const session = await SessionClient.open(stage, 's', silent);
    const call = session.text('elicit', { message: 'Who?' }).catch(() => 'gone');
    await wasAsked;
    await session.close();
    assert.equal(await call, 'gone');
    await stage.until(
      () => stage.instances('s').every(({ callsInFlight }) => callsInFlight === 0),
      'no call in flight',
    );
  });
});
