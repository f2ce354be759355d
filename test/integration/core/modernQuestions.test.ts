/**
 * Questions from servers of either era to clients of 2026-07-28 during a call (G4, X8). The call is
 * parked and goes on with the answers. It is never sent twice, and no answer reaches another call.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { fixture } from '../../support/core/configText.js';
import { ModernClient, textIn, type Message } from '../../support/core/modernClient.js';
import { LeapingClock } from '../../support/core/leapingClock.js';
import { within } from '../../support/core/within.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

const shared = { 'truely-stateless': true, transform: [{ prefix: 'shared_' }] };
const able = { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } };
const accepted = (answer: string): string =>
  JSON.stringify({ action: 'accept', content: { answer } });

interface Asked {
  readonly state: string;
  /** The keys and contents of the questions. */
  readonly questions: readonly (readonly [
    string,
    { readonly method: string; readonly params?: object },
  ])[];
}

function asked({ result }: Message): Asked {
  assert.equal(result?.['resultType'], 'input_required', JSON.stringify(result));
  const questions = Object.entries(
    result['inputRequests'] as Record<string, { method: string; params?: object }>,
  );
  return { state: String(result['requestState']), questions };
}

function answers(
  { state, questions }: Asked,
  answer: string,
): { more: Readonly<Record<string, unknown>> } {
  const response = { action: 'accept', content: { answer } };
  const inputResponses = Object.fromEntries(questions.map(([key]) => [key, response]));
  return { more: { requestState: state, inputResponses } };
}

describe('questions to clients of the modern era (G4)', function () {
  this.timeout(180_000);
  let stage: Stage;
  let client: ModernClient;
  const open = (name = 'modern'): Promise<ModernClient> =>
    ModernClient.open(stage, 's', {
      name,
      capabilities: able,
      address: randomBytes(16).toString('base64url'),
    });
  beforeEach(async () => {
    stage = await startStage();
    await stage.edit({ s: fixture('features') });
    client = await open();
  });
  afterEach(endStages);

  const everySdkClient = async (toolset: string): Promise<Client> => {
    const { url, headers } = (await stage.gateway()).endpoint(toolset, 'agent');
    const sdk = new Client(
      { name: 'sdk', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: able },
    );
    sdk.setRequestHandler('elicitation/create', ({ params }) => {
      const content =
        params.mode === 'url' ? {} : { content: { answer: `sdk: ${params.message}` } };
      return { action: 'accept', ...content };
    });
    sdk.setRequestHandler('sampling/createMessage', ({ params }) => {
      const content = { type: 'text' as const, text: JSON.stringify(params.messages) };
      return { role: 'assistant', model: 'sdk', content };
    });
    sdk.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///sdk' }] }));
    const own = new URL(`${url}/c/${randomBytes(16).toString('base64url')}`);
    await sdk.connect(
      new StreamableHTTPClientTransport(own, { requestInit: { headers: { ...headers } } }),
    );
    stage.onDispose(() => sdk.close());
    return sdk;
  };

  for (const [era, server] of [
    ['legacy', 'features'],
    ['modern', 'modern'],
  ] as const) {
    it(`The SDK’s client answers form, URL, sampling and roots of a server of the ${era} era`, async () => {
      await stage.edit({ s: fixture(server), shared: fixture(server, [], shared) });
      for (const [toolset, prefix] of [
        ['s', ''],
        ['shared', 'shared_'],
      ] as const) {
        const sdk = await everySdkClient(toolset);
        assert.equal(sdk.getProtocolEra(), 'modern');
        const text = async (name: string, args: Record<string, unknown> = {}): Promise<string> => {
          const [part] = (await sdk.callTool({ name: `${prefix}${name}`, arguments: args }))
            .content;
          return part?.type === 'text' ? part.text : '';
        };
        assert.match(
          await text('elicit', { message: 'Who?' }),
          /"action":"accept","content":\{"answer":"sdk: Who\?"\}/,
        );
        assert.match(await text('elicit_url', { id: 'e1' }), /"action":"accept"/);
        assert.match(await text('sample', { prompt: 'Say hello' }), /Say hello/);
        assert.equal(await text('roots'), '["file:///sdk"]');
      }
    });
  }

  it('Questions of a modern server pass one after another, and the gateway keeps its request state', async () => {
    await stage.edit({ s: fixture('modern') });
    const respond = (
      from: Message,
      content: object,
    ): { more: Readonly<Record<string, unknown>> } => {
      const { state, questions } = asked(from);
      const inputResponses = Object.fromEntries(
        questions.map(([key]) => [key, { action: 'accept', content }]),
      );
      return { more: { requestState: state, inputResponses } };
    };
    const first = await client.call('twice');
    assert.match(JSON.stringify(asked(first).questions), /Which name\?/);
    const second = await client.call('twice', {}, respond(first, { name: 'Ada' }));
    assert.match(JSON.stringify(asked(second).questions), /Which colour\?/);
    assert.notEqual(asked(first).state, asked(second).state);
    assert.equal(await client.text('twice', {}, respond(second, { colour: 'red' })), 'Ada red');
    const read = await client.request('resources/read', { uri: 'note://asked' });
    const { more } = respond(read, { word: 'hello' });
    const again = await client.request('resources/read', { uri: 'note://asked', ...more });
    assert.equal(again.result?.['resultType'], 'complete', JSON.stringify(again));
  });

  it('A call is sent once despite several rounds of questions, and an open question is asked again (G4a)', async () => {
    const first = asked(await client.call('elicit', { message: 'Who?' }));
    assert.deepEqual(first.questions[0]?.[1].method, 'elicitation/create');
    const empty = { more: { requestState: first.state, inputResponses: {} } };
    const second = asked(await client.call('elicit', { message: 'Who?' }, empty));
    assert.deepEqual(second.questions, first.questions);
    assert.equal(
      await client.text('elicit', { message: 'Who?' }, answers(second, 'me')),
      accepted('me'),
    );
    const received = await client.text('received');
    assert.equal(received.match(/"name":"elicit"/g)?.length, 1);
    assert.doesNotMatch(received, /requestState|inputResponses/);
  });

  it('A request state is valid once, for its own call and conversation only (G4b)', async () => {
    const call = asked(await client.call('elicit', { message: 'Who?' }));
    const other = await open();
    const state = call.state;
    const forged = `${state.slice(0, 5)}${state[5] === 'A' ? 'B' : 'A'}${state.slice(6)}`;
    const refused = async (from: ModernClient, args: object, options: object): Promise<void> => {
      const { error } = await from.call('elicit', { ...args }, options);
      assert.match(error?.message ?? '', /No call has this request state/);
    };
    await refused(other, { message: 'Who?' }, answers(call, 'another conversation'));
    await refused(client, { message: 'Whom?' }, answers(call, 'another call'));
    await refused(client, { message: 'Who?' }, answers({ ...call, state: forged }, 'forged'));
    await refused(client, { message: 'Who?' }, { more: { inputResponses: {} } });
    await refused(client, { message: 'Who?' }, { more: { requestState: 5 } });
    assert.equal(
      await client.text('elicit', { message: 'Who?' }, answers(call, 'me')),
      accepted('me'),
    );
    await refused(client, { message: 'Who?' }, answers(call, 'again'));
    assert.equal((await client.text('received')).match(/"name":"elicit"/g)?.length, 1);
  });

  it('Two parked calls each get their own answer, in any order', async () => {
    const other = await open();
    const [one, two] = [
      asked(await client.call('elicit', { message: 'one' })),
      asked(await other.call('elicit', { message: 'two' })),
    ];
    assert.equal(await other.text('elicit', { message: 'two' }, answers(two, 'b')), accepted('b'));
    assert.equal(await client.text('elicit', { message: 'one' }, answers(one, 'a')), accepted('a'));
  });

  it('A client with answers learns that the server of its parked call died or its lease ended', async () => {
    const call = asked(await client.call('elicit', { message: 'Who?' }));
    const [instance] = stage.instances('s').filter(({ use }) => use.kind === 'leased');
    process.kill(instance?.pid ?? 0, 'SIGKILL');
    await stage.until(
      () => !stage.instances('s').some(({ pid }) => pid === instance?.pid),
      'its death',
    );
    const lost = await client.call('elicit', { message: 'Who?' }, answers(call, 'me'));
    assert.equal(lost.result?.['isError'], true);
    assert.match(textIn(lost), /unknown/i);
    const next = asked(await client.call('elicit', { message: 'Who?' }));
    await client.call('mcp_release_s');
    const released = await client.call('elicit', { message: 'Who?' }, answers(next, 'me'));
    assert.match(textIn(released), /this conversation ended it/);
  });

  it('A call that waits a minute for its client gives way to another conversation, and its own is notified (L2b)', async () => {
    await stage.dispose();
    const clock = new LeapingClock();
    stage = await startStage({ clock, maxInstances: 2 });
    await stage.edit({ s: fixture('features') });
    const [first, second, third] = [await open(), await open(), await open()];
    const longest = asked(await first.call('elicit', { message: 'Who?' }));
    const shorter = asked(await second.call('elicit', { message: 'Who?' }));
    assert.match(textIn(await third.call('received')), /the limit of 2 instances is reached/);
    clock.leap(60_000);
    await third.text('received');
    const lost = await first.call('elicit', { message: 'Who?' }, answers(longest, 'me'));
    assert.match(textIn(lost), /unknown.*another conversation needed the room/);
    assert.equal(
      await second.text('elicit', { message: 'Who?' }, answers(shorter, 'me')),
      accepted('me'),
    );
  });

  it('A call that waits for a vanished client keeps nothing of its conversation (L2a)', async () => {
    await stage.dispose();
    const clock = new LeapingClock();
    stage = await startStage({ clock });
    await stage.edit({ s: fixture('features') });
    client = await open();
    const attendance = await client.send('GET', { accept: 'text/event-stream' });
    asked(await client.call('elicit', { message: 'Who?' }));
    attendance.destroy();
    // These requests prove that the earlier close is noticed.
    for (const other of [await open(), await open()]) await other.request('server/discover');
    const drains = clock.nextWait(30_000);
    clock.leap(45_000);
    await within(drains, 'the end of the lease');
    clock.leap(30_000);
    await stage.until(
      () => !stage.instances('s').some(({ use }) => use.kind === 'leased'),
      'the end of the instance',
    );
  });

  it('A client cancels a call by closing its stream', async () => {
    await stage.edit({ s: fixture('features', [], { 'truely-stateless': true }) });
    const stop = new AbortController();
    const held = client.call(
      'hold',
      {},
      {
        signal: stop.signal,
        meta: { 'io.modelcontextprotocol/logLevel': 'debug' },
        onTold: () => stop.abort(),
      },
    );
    await assert.rejects(held);
    while ((await client.text('cancelled')) !== '1') await new Promise(setImmediate);
  });

  it('A page that an old server requires before a call is requested during the call, and the call is sent again (G4c)', async () => {
    const args = { id: 'e1', opens: true };
    const first = asked(await client.call('require_url', args));
    const [[, { method, params }] = assert.fail()] = first.questions;
    assert.equal(method, 'elicitation/create');
    assert.deepEqual(Object.keys(params ?? {}).sort(), ['message', 'mode', 'url']);
    const answer = await client.call('require_url', args, answers(first, ''));
    assert.equal(textIn(answer), 'opened', JSON.stringify(answer));
    const { state, questions } = asked(await client.call('require_url', { id: 'e2' }));
    const declined = Object.fromEntries(questions.map(([key]) => [key, { action: 'decline' }]));
    const more = { requestState: state, inputResponses: declined };
    const refused = await client.call('require_url', { id: 'e2' }, { more });
    assert.deepEqual(refused.error?.message, 'A page that the call needs was not opened.');
    const address = randomBytes(16).toString('base64url');
    const poor = await ModernClient.open(stage, 's', {
      address,
      capabilities: { elicitation: { form: {} } },
    });
    // A start may take a second, so the status is already reported.
    await poor.text('pid');
    const unable = await poor.call('require_url', { id: 'e3' });
    assert.deepEqual([unable.status, unable.error?.code], [400, -32021]);
    assert.deepEqual(unable.error?.data, { requiredCapabilities: { elicitation: { url: {} } } });
  });

  it('A question that the server withdraws is not asked again', async () => {
    let answer = await client.call('give_up', { message: 'Never mind' });
    while (answer.result?.['resultType'] === 'input_required') {
      const more = { requestState: asked(answer).state, inputResponses: {} };
      answer = await client.call('give_up', { message: 'Never mind' }, { more });
    }
    assert.match(textIn(answer), /code/);
  });

  it('A client without declared capabilities gets no question', async () => {
    const poor = await ModernClient.open(stage, 's', {
      address: randomBytes(16).toString('base64url'),
    });
    assert.match(
      await poor.text('elicit', { message: 'Who?' }),
      /does not support|has not declared/,
    );
  });

  it('Progress after the answers uses the token of the second POST', async () => {
    await stage.edit({ s: fixture('modern') });
    const first = asked(
      await client.call('elicit', { message: 'Who?' }, { meta: { progressToken: 'first' } }),
    );
    const second = await client.call(
      'elicit',
      { message: 'Who?' },
      { ...answers(first, 'me'), meta: { progressToken: 'second' } },
    );
    for (const { params } of second.told) assert.equal(params['progressToken'], 'second');
    assert.match(textIn(second), /me/);
  });
});
