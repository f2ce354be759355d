/** The record of calls: facts of requests and servers, and what went in and out (H1b). */
import assert from 'node:assert/strict';
import type { CallContent } from '../../../src/core/calls/contents.js';
import { isCall, type CallFact, type Fact } from '../../../src/core/calls/fact.js';
import { Agent } from '../../support/core/agent.js';
import { fixture, rawWith } from '../../support/core/configText.js';
import { recordedFacts } from '../../support/core/recordedFacts.js';
import { SessionClient } from '../../support/core/sessionClient.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

describe('core: the record of calls', () => {
  let stage: Stage;
  let lines: string;

  beforeEach(async () => {
    stage = await startStage();
    lines = '';
    stage.core.recorder.onDidRecord((added) => (lines += added));
  });

  afterEach(endStages);

  const facts = (): Fact[] => {
    stage.core.recorder.flush();
    return recordedFacts(lines);
  };
  const calls = (): CallFact[] => facts().filter(isCall);
  const events = (): string[] =>
    facts().flatMap((fact) => (isCall(fact) ? [] : [`${fact.event} ${fact.toolset}`]));
  const contentOf = (fact: CallFact | undefined): CallContent | undefined =>
    fact && stage.core.recorder.contents.get(fact);

  it('Starts, failed starts, edits, released and dead instances are facts between the calls', async () => {
    await stage.edit({
      a: rawWith(['echo', 'exit']),
      gone: { transport: 'stdio', command: 'no-such-program' },
    });
    await stage.text('a', 'echo', { text: 'x' }, { conversation: 'one' });
    await stage.text('a', 'echo', { text: 'x' }, { conversation: 'two' });
    await stage.failure('a', 'exit', { code: 3 }, { conversation: 'two' });
    await stage.host.release('a', 'one');
    await stage.edit({ a: rawWith(['echo', 'exit'], { tools: { whitelist: ['echo'] } }) });
    await stage.edit({});
    const found = events();
    for (const event of [
      'started a',
      'start failed gone',
      'died a',
      'released a',
      'edited a',
      'edited gone',
    ]) {
      assert.ok(found.includes(event), `${event} in ${found.join(', ')}`);
    }
    const died = facts().find((fact) => !isCall(fact) && fact.event === 'died');
    const lost = calls().find(({ outcome }) => outcome === 'lost');
    assert.equal(died?.reason, 'The server process exited with code 3');
    assert.deepEqual([died.conversation, died.instance], ['two', lost?.instance]);
    assert.equal(
      facts().find((fact) => !isCall(fact) && fact.event === 'start failed')?.reason,
      'command-not-found',
    );
    const edits = facts()
      .filter((fact) => !isCall(fact) && fact.event === 'edited')
      .map(({ reason }) => reason);
    assert.deepEqual(edits, [
      'its entry was removed',
      'its tools or limits were changed',
      'its entry was removed',
    ]);
    const [first, second] = calls();
    assert.ok(first?.instance !== undefined && first.instance !== second?.instance);
  });

  it('Prompts, resources and completions that a conversation asks for are facts with their method', async () => {
    await stage.edit({ a: fixture('features') });
    const { client } = await SessionClient.open(stage, 'a');
    await client.getPrompt({ name: 'greet', arguments: { name: 'you' } });
    await client.readResource({ uri: 'note://one' });
    const found = calls().map(({ method, tool, agent: who }) => [method, tool, who !== '']);
    assert.deepEqual(found, [
      ['prompts/get', 'greet', true],
      ['resources/read', 'note://one', true],
    ]);
  });

  it('What went in and out is kept as the agent, the server and the client saw it', async () => {
    const override = { echo: { arguments: { extra: { fixed: 'set by the file' } } } };
    await stage.edit({ a: rawWith(['echo', 'slow'], { tools: { override } }) });
    const agent = await Agent.connect(stage, 'a', 'agent');
    await agent.result('echo', { text: 'from the agent' });
    const content = contentOf(calls()[0]);
    assert.deepEqual(content?.given, { text: 'from the agent' });
    assert.match(JSON.stringify(content?.outcome), /from the agent/);
    // The first result of an instance carries a note (L3), which the server has not given.
    assert.notDeepEqual(content?.received, content?.outcome);
    await stage.result('a', 'slow', { ms: 50, steps: 2 }, { onProgress: () => {} });
    assert.ok((contentOf(calls().at(-1))?.progress.length ?? 0) >= 1);
  });

  it('The log of a server during a call belongs to the call', async () => {
    await stage.edit({ a: fixture('crashes-on-call', ['--stderr', 'a last word']) });
    await stage.failure('a', 'crash');
    assert.match(contentOf(calls()[0])?.log.join('\n') ?? '', /a last word/);
  });

  it('A planted secret in arguments, results, errors and stderr is in no fact', async () => {
    await stage.edit({ a: rawWith(['echo', 'fail', 'exit']), quits: fixture('crashes-on-call') });
    const canary = 'canary-4f1d';
    await stage.text('a', 'echo', { text: canary });
    await stage.failure('a', 'fail', { message: canary });
    await stage.failure('quits', 'crash');
    await stage.edit({
      a: {
        transport: 'stdio',
        command: 'node',
        args: ['-e', `console.error('${canary}'); process.exit(1)`],
      },
    });
    assert.ok(facts().length >= 6, lines);
    assert.doesNotMatch(lines, /canary|cheese/);
  });

  it('Nothing is recorded while nobody listens', async () => {
    const other = await startStage();
    await other.edit({ a: rawWith(['echo']) });
    const outcome = await other.outcome('a', 'echo', { text: 'x' });
    assert.equal(outcome.kind === 'result' ? outcome.record : 'no result', undefined);
  });
});
