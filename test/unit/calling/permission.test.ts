/** Permissions of tools, and the questions to a person (S4). */
import assert from 'node:assert/strict';
import {
  Permission,
  type CallAnswer,
  type PermissionDeps,
} from '../../../src/core/calling/permission.js';
import type { ServedTool } from '../../../src/core/tools/catalogue.js';
import { tool } from '../minds/fakes.js';
import { modules } from '../modules.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

function served(published: string, original = published): ServedTool {
  const inputSchema = { type: 'object' as const };
  const tool = { name: published, inputSchema };
  return { original, published, tool, editorName: published, editorId: published };
}

describe('the answer of a person about a call', () => {
  let shown: {
    tool: string;
    signal: AbortSignal;
    answer(answer: CallAnswer): void;
    fail(): void;
  }[];
  let setting: unknown;
  let permission: Permission;
  let changes: number;

  beforeEach(() => {
    shown = [];
    setting = { '*': 'ask' };
    const ask: PermissionDeps['ask'] = ({ tool }, signal) =>
      new Promise((answer, reject) =>
        shown.push({ tool, signal, answer, fail: () => reject(new Error('no window')) }),
      );
    permission = new Permission({ settings: () => [setting], ask }, () => changes++);
  });

  function permit(
    tool: string,
    conversation = 'd',
    signal = new AbortController().signal,
  ): true | Promise<boolean> {
    const call = {
      policy: policies.agent,
      toolset: 'a',
      tool,
      arguments: {},
      conversation,
      signal,
    };
    return permission.permit(served(tool), call);
  }

  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('an answer counts once, or for the conversation and the tool', async () => {
    const first = permit('x');
    await settle();
    shown[0]?.answer('once');
    assert.equal(await first, true);
    const second = permit('x');
    await settle();
    shown[1]?.answer('inConversation');
    assert.equal(await second, true);
    assert.equal(await permit('x'), true);
    assert.equal(shown.length, 2);
    void permit('y');
    await settle();
    shown[2]?.answer('no');
    void permit('x', 'another');
    await settle();
    assert.deepEqual(
      shown.map(({ tool }) => tool),
      ['x', 'x', 'y', 'x'],
    );
  });

  it('an answer for the conversation does not count for another tool with that name, nor for another server (S4a)', async () => {
    const { signal } = new AbortController();
    const call = { tool: 'read', arguments: {}, conversation: 'd', signal };
    const first = permission.permit(served('read'), {
      policy: policies.agent,
      ...call,
      toolset: 'a',
    });
    await settle();
    shown[0]?.answer('inConversation');
    assert.equal(await first, true);
    for (const [tool, toolset] of [
      [served('read', 'delete'), 'a'],
      [served('read'), 'b'],
    ] as const) {
      const next = permission.permit(tool, { policy: policies.agent, ...call, toolset });
      await settle();
      shown.at(-1)?.answer('no');
      assert.equal(await next, false);
    }
    assert.equal(shown.length, 3);
  });

  it('one question is asked at a time, and none for a caller that no longer waits', async () => {
    const ending = new AbortController();
    const answers = [permit('x'), permit('y', 'd', ending.signal), permit('z')];
    await settle();
    assert.equal(shown.length, 1);
    ending.abort();
    assert.equal(await answers[1], false);
    shown[0]?.answer('no');
    assert.equal(await answers[0], false);
    await settle();
    assert.deepEqual(
      shown.map(({ tool }) => tool),
      ['x', 'z'],
    );
  });

  it('a cancelled call withdraws its question, the next one is asked at once, and a late answer counts for nothing (S4c)', async () => {
    const ending = new AbortController();
    const answers = [permit('x', 'd', ending.signal), permit('y')];
    await settle();
    assert.equal(shown[0]?.signal.aborted, false);
    ending.abort();
    assert.equal(await answers[0], false);
    assert.equal(shown[0]?.signal.aborted, true, 'who shows it is told');
    await settle();
    assert.deepEqual(
      shown.map(({ tool }) => tool),
      ['x', 'y'],
    );
    shown[0]?.answer('inConversation');
    shown[1]?.answer('no');
    await answers[1];
    void permit('x');
    await settle();
    assert.equal(shown.length, 3, 'it is asked again');
  });

  it('an answer together with the cancellation counts for nothing', async () => {
    const ending = new AbortController();
    const answer = permit('x', 'd', ending.signal);
    await settle();
    shown[0]?.answer('inConversation');
    ending.abort();
    assert.equal(await answer, false);
    void permit('x');
    await settle();
    assert.equal(shown.length, 2);
  });

  it('a question that cannot be shown is a no', async () => {
    const answer = permit('x');
    await settle();
    shown[0]?.fail();
    assert.equal(await answer, false);
  });

  it('an answer is forgotten when the setting changes (S4a)', async () => {
    const first = permit('x');
    await settle();
    shown[0]?.answer('inConversation');
    await first;
    changes = 0;
    setting = { x: 'deny' };
    permission.recheck();
    assert.equal(changes, 1);
    assert.equal(permission.verdictOf({ original: 'y', published: 'x' }).pattern, 'x');
    assert.equal(
      permission.verdictOf({ original: 'x', published: 'y' }).pattern,
      'x',
      'a rename does not get around it',
    );
    setting = { '*': 'ask' };
    permission.recheck();
    void permit('x');
    await settle();
    assert.equal(shown.length, 2);
  });
});

describe('a question before a call', () => {
  const reads = tool('shop_count', { annotations: { readOnlyHint: true } });
  const writes = tool('shop_pay');
  const asks = (one: typeof reads, ...settings: unknown[]): boolean =>
    new Permission({ settings: () => settings, ask: () => Promise.resolve('no') }).isAskedInChat(
      'd',
      one,
      {},
    );

  it('the chat asks unless the tool only reads or is the host’s own', () => {
    assert.deepEqual([asks(reads), asks(writes), asks(tool('mcp_release'))], [false, true, false]);
    assert.equal(asks(reads, undefined, undefined, undefined), false);
  });

  it('a rule for the original name asks too', () => {
    assert.equal(asks({ ...reads, original: 'wipe' }, { wipe: 'ask', 'shop_*': 'allow' }), true);
  });

  it('only a rule of the person spares the question', () => {
    assert.equal(asks(writes, { 'shop_*': 'allow' }), false);
    assert.equal(asks(writes, undefined, { 'shop_*': 'allow' }), true, 'of the workspace');
    assert.equal(asks(writes, { 'bank_*': 'allow' }), true, 'of another tool');
  });

  it('a name that the file gave to another tool spares no question', () => {
    const renamed = { ...writes, original: 'wipe' };
    assert.equal(asks(renamed, { 'shop_*': 'allow' }), true);
    assert.equal(asks(renamed, { 'shop_*': 'allow', wipe: 'allow' }), false);
  });

  it('the chat does not ask again after the person allowed the tool there, until the setting changes', () => {
    const permission = new Permission({
      settings: () => [{ '*': 'ask' }],
      ask: () => Promise.resolve('no'),
    });
    const isAsked = (conversation: string, one: typeof writes): boolean =>
      permission.isAskedInChat(conversation, one, {});
    permission.allowInChat('d', writes, {});
    assert.deepEqual(
      [isAsked('d', writes), isAsked('d', reads), isAsked('another', writes)],
      [false, true, true],
    );
    assert.equal(
      isAsked('d', { ...writes, original: 'shop_wipe' }),
      true,
      'another tool that got the name',
    );
    permission.recheck();
    assert.equal(isAsked('d', writes), true);
  });

  it('a rule that asks counts everywhere, also for a tool that only reads', () => {
    assert.equal(asks(reads, { shop_count: 'ask' }), true);
    assert.equal(asks(reads, undefined, { '*': 'ask' }), true, 'of the workspace');
    assert.equal(asks(writes, { '*': 'allow' }, { shop_pay: 'ask' }), true, 'the stricter counts');
    assert.equal(asks(tool('mcp_restart'), { 'mcp_*': 'ask' }), true);
    assert.equal(asks(reads, { shop_count: 'perhaps' }), true, 'what is not known is asked');
  });
});

describe('the ways to a tool of a server', () => {
  it('all lead through the module that judges the arguments of a call (S4e)', () => {
    const senders = modules.filter(({ text }) => /\bpool\??\.call\(/.test(text));
    assert.deepEqual(
      senders.map(({ file }) => file),
      ['src/core/calling/calls.ts'],
    );
  });
});

describe('the arguments of a call before a person is asked (S4e)', () => {
  const pay = tool('shop_pay');
  const { signal } = new AbortController();
  const permissionBy = (answer: CallAnswer, ...settings: unknown[]) => {
    const asked: unknown[] = [];
    const ask: PermissionDeps['ask'] = (question) => {
      asked.push(question.arguments);
      return Promise.resolve(answer);
    };
    return { asked, permission: new Permission({ settings: () => settings, ask }) };
  };
  const call = (given: object, rest: object = {}) => ({
    ...{ policy: policies.agent, toolset: 'a', tool: 'x', conversation: 'd', signal },
    arguments: { ...given },
    ...rest,
  });

  it('an answer for the conversation covers calls about which the same rules ask', async () => {
    const { asked, permission } = permissionBy('inConversation', {
      x: 'ask',
      'x(a: big*)': 'ask',
    });
    for (const a of ['small', 'other', 'big 1', 'big 2', 'small'])
      assert.equal(await permission.permit(served('x'), call({ a })), true);
    assert.deepEqual(asked, [{ a: 'small' }, { a: 'big 1' }]);
  });

  it('no consent lifts a denial, and a consent answers a rule that asks', () => {
    const { asked, permission } = permissionBy('no', { 'x(a: b)': 'deny', 'x(a: c)': 'ask' });
    const denied = permission.judge(served('x'), { a: 'b' });
    assert.deepEqual([denied.permission, denied.pattern], ['deny', 'x(a: b)']);
    assert.equal(permission.judge(served('x'), undefined).permission, 'allow');
    assert.equal(permission.permit(served('x'), call({ a: 'c' }, { consented: 'x' })), true);
    assert.deepEqual(asked, []);
  });

  it('the chat asks by the arguments, and does not ask about a denied call', () => {
    const rules = { shop_pay: 'allow', 'shop_pay(to: *bank)': 'ask', 'shop_pay(to: me)': 'deny' };
    const { permission } = permissionBy('no', rules);
    const asks = (to: string) => permission.isAskedInChat('d', pay, { to });
    assert.deepEqual([asks('a shop'), asks('a bank'), asks('me')], [false, true, false]);
    permission.allowInChat('d', pay, { to: 'a shop' });
    assert.equal(asks('a bank'), true);
    permission.allowInChat('d', pay, { to: 'a bank' });
    assert.equal(asks('another bank'), false);
  });

  it('a workspace spares no question by a rule with arguments', () => {
    const workspace = { 'shop_pay(to: *)': 'allow' };
    assert.equal(
      permissionBy('no', {}, workspace).permission.isAskedInChat('d', pay, { to: 'x' }),
      true,
    );
    assert.equal(
      permissionBy('no', workspace).permission.isAskedInChat('d', pay, { to: 'x' }),
      false,
    );
  });
});
