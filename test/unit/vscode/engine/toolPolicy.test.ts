import assert from 'node:assert/strict';
import type { ToolQuestion } from '../../../../src/core/tools/permissions.js';
import { argumentsText } from '../../../../src/vscode/consent/callQuestionText.js';
import { PersonToolPolicy, type CallAnswer } from '../../../../src/vscode/engine/toolPolicy.js';

function question(tool: string, dialog = 'd', signal = new AbortController().signal): ToolQuestion {
  return { toolset: 'a', tool, title: undefined, arguments: {}, dialog, signal };
}

describe('what a person answers about calls (S4)', () => {
  let shown: { tool: string; answer(answer: CallAnswer): void; fail(): void }[];
  let setting: unknown;
  let policy: PersonToolPolicy;

  beforeEach(() => {
    shown = [];
    setting = { '*': 'ask' };
    policy = new PersonToolPolicy({
      permissions: () => [setting],
      ask: ({ tool }) =>
        new Promise((answer, reject) => shown.push({ tool, answer, fail: () => reject(new Error('no window')) })),
    });
  });

  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('counts once, or for the conversation and the tool', async () => {
    const first = policy.ask(question('x'));
    await settle();
    shown[0]?.answer('once');
    assert.equal(await first, true);
    const second = policy.ask(question('x'));
    await settle();
    shown[1]?.answer('inConversation');
    assert.equal(await second, true);
    assert.equal(await policy.ask(question('x')), true);
    assert.equal(shown.length, 2);
    void policy.ask(question('y'));
    await settle();
    shown[2]?.answer('no');
    void policy.ask(question('x', 'another'));
    await settle();
    assert.deepEqual(
      shown.map(({ tool }) => tool),
      ['x', 'x', 'y', 'x'],
    );
  });

  it('is asked one at a time, and never about a call that is no longer waited for', async () => {
    const ending = new AbortController();
    const answers = [
      policy.ask(question('x')),
      policy.ask(question('y', 'd', ending.signal)),
      policy.ask(question('z')),
    ];
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

  it('a call that is cancelled while its question stands is not made', async () => {
    const ending = new AbortController();
    const answer = policy.ask(question('x', 'd', ending.signal));
    await settle();
    ending.abort();
    assert.equal(await answer, false);
    shown[0]?.answer('once');
  });

  it('a question that cannot be shown is a no', async () => {
    const answer = policy.ask(question('x'));
    await settle();
    shown[0]?.fail();
    assert.equal(await answer, false);
  });

  it('is forgotten when the setting changes', async () => {
    const first = policy.ask(question('x'));
    await settle();
    shown[0]?.answer('inConversation');
    await first;
    let changes = 0;
    policy.onDidChange(() => changes++);
    setting = { x: 'deny' };
    policy.recheck();
    assert.equal(changes, 1);
    assert.deepEqual(policy.judge('x'), { permission: 'deny', pattern: 'x' });
    void policy.ask(question('x'));
    await settle();
    assert.equal(shown.length, 2);
  });
});

describe('a question about a call', () => {
  it('shows everything that the call is given', () => {
    assert.equal(argumentsText({ title: undefined, arguments: undefined }), 'It is given nothing.');
    assert.equal(
      argumentsText({ title: 'Add two numbers', arguments: { a: 1 } }),
      'Add two numbers\n\nIt is given\n{\n  "a": 1\n}',
    );
  });

  it('hides no character, and says how much it leaves out', () => {
    const hidden = argumentsText({ title: undefined, arguments: { path: 'a\u202eb\u200bc' } });
    assert.match(hidden, /a\\u\{202e\}b\\u\{200b\}c/);
    const long = argumentsText({ title: undefined, arguments: { text: 'x'.repeat(5000) + 'END' } });
    assert.match(long, /… \d+ characters are not shown …/);
    assert.match(long, /END/);
    assert.ok(long.length < 2000);
  });
});
