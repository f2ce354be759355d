/** The lists of a conversation: those of its own instance, or the common ones (G3g). */
import assert from 'node:assert/strict';
import { OfferLedger } from '../../../src/core/approval/offerLedger.js';
import { fixture, officialServer } from '../../support/core/configText.js';
import { SessionClient, type SessionOptions } from '../../support/core/sessionClient.js';
import { endStages, startStage, textOf, type Stage } from '../../support/core/stage.js';

const changed = 'notifications/tools/list_changed';
const eliciting: SessionOptions = {
  capabilities: { elicitation: { form: {} } },
  elicit: () => ({ action: 'decline' }),
};

describe('lists of conversations (G3g)', () => {
  let stage: Stage;
  beforeEach(async () => (stage = await startStage()));
  afterEach(endStages);

  const open = (toolset: string, options?: SessionOptions): Promise<SessionClient> =>
    SessionClient.open(stage, toolset, options);

  async function names({ client }: SessionClient): Promise<string[]> {
    return (await client.listTools()).tools
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('mcp_release'));
  }

  async function extras(session: SessionClient): Promise<string[]> {
    return (await names(session)).filter((name) => /extra/.test(name));
  }

  it('further tools for a client that can be asked appear only in its own list', async () => {
    await stage.edit({ e: officialServer('everything') });
    const usual = stage.publishedBy('e');
    const [poor, rich] = [await open('e'), await open('e', eliciting)];
    assert.deepEqual(await names(rich), usual, 'it has no instance yet');
    assert.match(await rich.text('echo', { message: 'hi' }), /hi/);
    await rich.next(changed);
    const more = await names(rich);
    assert.ok(
      more.includes('trigger-elicitation-request') && more.length > usual.length,
      more.join(),
    );
    assert.match(textOf(await rich.call('trigger-elicitation-request')), /declin/i);

    assert.deepEqual(stage.publishedBy('e'), usual);
    assert.deepEqual(await names(poor), usual);
    assert.match(await poor.text('echo', { message: 'hi' }), /hi/);
    await assert.rejects(poor.call('trigger-elicitation-request'), /trigger-elicitation-request/);
    assert.deepEqual(poor.told, [], 'it was told of a change');

    const like = await open('e', eliciting);
    assert.deepEqual(await names(like), usual, 'it sees the common list until it has an instance');
    await like.text('echo', { message: 'hi' });
    await like.next(changed);
    assert.deepEqual(await names(like), more);
    assert.ok(!(await names(await open('e'))).includes('trigger-elicitation-request'));
  });

  it('further tools for a client that can be asked are no change since the approval, also after a restart (S3)', async () => {
    await endStages();
    let stored: unknown;
    const offerReview = new OfferLedger({
      storage: {
        get: () => undefined,
        update: (_, launches) => Promise.resolve(void (stored = launches)),
      },
      holdsBack: () => true,
      onStoreFailure: (error) => assert.fail(String(error)),
    });
    stage = await startStage({ offerReview });
    await stage.edit({ e: officialServer('everything') });
    for (let start = 0; start < 2; start++) {
      const rich = await open('e', eliciting);
      await rich.text('echo', { message: 'hi' });
      await rich.next(changed);
      assert.ok((await names(rich)).includes('trigger-elicitation-request'), `at start ${start}`);
      assert.ok(!stage.host.snapshot.problems.some(({ code }) => code === 'tools-changed'));
      await stage.host.restart('e');
    }
    await offerReview.stored();
    assert.equal((stored as unknown[]).length, 2, 'a baseline for each kind of client');
  });

  it('tools switched on by a call belong to its conversation, until that releases its instance', async () => {
    await stage.edit({ a: fixture('changes-tools', [], { transform: [{ prefix: 'a_' }] }) });
    const [one, two] = [await open('a'), await open('a')];
    await two.call('a_echo', { text: 'hello' });
    await one.call('a_grow');
    await one.next(changed);
    assert.deepEqual(await extras(one), ['a_extra_1']);
    await one.call('a_extra_1');
    assert.deepEqual(await extras(two), []);
    await assert.rejects(two.call('a_extra_1'), /extra_1/);
    assert.deepEqual(
      await extras(await open('a')),
      [],
      'a new conversation begins with what others begin with',
    );
    assert.deepEqual(two.told, []);
    assert.ok(!stage.publishedBy('a').includes('a_extra_1'));

    await one.call('mcp_release_a');
    await one.next(changed);
    assert.deepEqual(await extras(one), []);
  });

  it('filters, transforms and permission hold for each list, and a changed filter counts for all', async () => {
    await stage.edit({ a: fixture('changes-tools') });
    const session = await open('a');
    await session.call('grow');
    await session.call('grow');
    await session.next(changed);
    const blacklist = ['extra_1'];
    await stage.edit({
      a: fixture('changes-tools', [], { tools: { blacklist }, transform: [{ prefix: 'p_' }] }),
    });
    await session.next(changed);
    assert.deepEqual(await extras(session), ['p_extra_2']);
    await assert.rejects(session.call('p_extra_1'), /extra_1/);
    await session.call('p_extra_2');
  });

  it('a published name is unique within the lists of one conversation (N5)', async () => {
    await stage.edit({
      a: fixture('changes-tools'),
      b: fixture('raw', ['--tools', 'echo_b,extra_1']),
    });
    const all = await open('*');
    assert.deepEqual(await extras(all), ['extra_1']);
    await all.call('grow');
    await all.next(changed);
    assert.deepEqual(await extras(all), ['extra_1']);
    const now = await names(all);
    assert.ok(
      now.indexOf('extra_1') < now.indexOf('echo_b'),
      'the earlier server has it, in the order of the file',
    );
    assert.deepEqual(stage.publishedBy('b'), ['echo_b', 'extra_1'], 'others still have that of b');

    const said = (): string[] =>
      stage.core.host.snapshot.problems.flatMap(({ code, message }) =>
        code === 'name-taken' ? [message] : [],
      );
    await stage.until(() => said().length > 0, 'a problem of the name');
    const [message = '', ...rest] = said();
    assert.match(
      message,
      /^"b" does not publish the tool "extra_1", because "a", .*This applies only to the conversation [0-9a-f]{8}, whose/,
    );
    assert.deepEqual(rest, []);
    await all.call('mcp_release', { serverId: 'a' });
    await stage.until(() => said().length === 0, 'that it goes with the instance');
  });

  it('a tool that is new in one conversation takes no name from the baseline of a later server (N5b)', async () => {
    await endStages();
    const offerReview = new OfferLedger({
      storage: { get: () => undefined, update: () => Promise.resolve() },
      holdsBack: () => false,
      onStoreFailure: (error) => assert.fail(String(error)),
    });
    stage = await startStage({ offerReview });
    await stage.edit({
      a: fixture('changes-tools'),
      b: fixture('raw', ['--tools', 'echo_b,extra_1']),
    });
    const all = await open('*');
    await all.call('grow');
    await all.call('grow');
    await all.next(changed);
    const codes = stage.host.snapshot.problems.map(({ code, server }) => `${code} ${server}`);
    assert.ok(codes.includes('name-taken a'), codes.join());
    const now = await names(all);
    assert.deepEqual(
      now.filter((name) => /extra/.test(name)),
      ['extra_2', 'extra_1'],
    );
    assert.ok(now.indexOf('extra_1') > now.indexOf('echo_b'), 'it is still the tool of b');
    assert.equal(await all.text('extra_1'), '{}', 'the answer of b');
  });

  it('the editor and the clients of a shared server have one list for all conversations', async () => {
    await stage.edit({
      a: fixture('changes-tools'),
      s: fixture('changes-tools', [], { 'truely-stateless': true, transform: [{ prefix: 's_' }] }),
    });
    const editor = await open('a', { kind: 'editor' });
    await editor.call('grow', {}, { conversation: 'c1' });
    await editor.next(changed);
    assert.deepEqual(await extras(editor), ['extra_1']);
    assert.ok(
      stage.publishedBy('a').includes('extra_1'),
      'the sidebar shows what the editor is served',
    );

    const [one, two] = [await open('s'), await open('s')];
    await one.call('s_grow');
    await two.next(changed);
    assert.deepEqual(await extras(two), ['s_extra_1']);
  });

  it('a new definition replaces every list of the old one', async () => {
    await stage.edit({ a: fixture('changes-tools') });
    const session = await open('a');
    await session.call('grow');
    await session.next(changed);
    assert.deepEqual(await extras(session), ['extra_1']);
    await stage.edit({ a: fixture('changes-tools', ['--while-listing']) });
    await session.next(changed);
    assert.deepEqual(await extras(session), []);
  });
});
