/** The lines of the record of calls. */
import assert from 'node:assert/strict';
import { Redactor } from '../../../src/core/base/log.js';
import { linesOf } from '../../../src/core/base/text.js';
import { isCall, type Fact } from '../../../src/core/calls/fact.js';
import { Recorder } from '../../../src/core/calls/recorder.js';
import type {
  ToolOutcome,
  ToolsetCall,
  ToolsetRequest,
} from '../../../src/core/protocol/request.js';
import { recordedFacts } from '../../support/core/recordedFacts.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { callFact } from './facts.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

describe('the recorder of calls', () => {
  let clock: FakeClock;
  let recorder: Recorder;
  let redactor: Redactor;
  let lines: string[];

  beforeEach(() => {
    clock = new FakeClock();
    redactor = new Redactor();
    recorder = new Recorder({ clock, redactor, isWanted: () => true });
    lines = [];
    recorder.onDidRecord((added) => lines.push(added));
  });

  const facts = (): Fact[] => recordedFacts(lines.join(''));
  const { signal } = new AbortController();
  const call: ToolsetCall = {
    policy: policies.agent,
    toolset: 's',
    conversation: 'd',
    tool: 't',
    arguments: { a: 'xyz' },
    signal,
  };
  const result = { content: [{ type: 'text' as const, text: 'some text' }] };
  const record = (
    request: ToolsetCall | ToolsetRequest = call,
    outcome: ToolOutcome = { kind: 'result', result },
  ) => recorder.recorded(request, () => Promise.resolve(outcome));

  it('a call is recorded after a quarter of a second, and the contents of many calls at once are kept sooner', async () => {
    await record();
    clock.advance(249);
    assert.equal(lines.length, 0);
    clock.advance(1);
    assert.deepEqual([lines.length, clock.pending], [1, 0]);
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => record()));
    await new Promise(setImmediate);
    assert.equal(lines.length, 1);
    const ids = outcomes.map(
      (outcome) => (outcome.kind === 'result' ? outcome.record?.id : undefined) ?? '',
    );
    for (const id of ids)
      assert.deepEqual(recorder.contents.get(callFact({ id }))?.outcome, result, id);
    clock.advance(250);
    assert.deepEqual(
      facts().map(({ id }) => id),
      [facts()[0]?.id, ...ids],
    );
    assert.equal(clock.pending, 0);
  });

  it('calls of several tools in turns have their own names, and a secret is masked from when it is known', async () => {
    const tools = ['a', 'b', 'hidden-value-2'];
    for (const tool of [...tools, ...tools]) await record({ ...call, tool });
    recorder.flush();
    const registered = redactor.register(['hidden-value-2']);
    await record({ ...call, tool: 'hidden-value-2' });
    recorder.flush();
    registered.dispose();
    await record({ ...call, tool: 'hidden-value-2' });
    recorder.flush();
    const named = facts().map((fact) => isCall(fact) && [fact.tool, fact.original]);
    const once = tools.map((tool) => [tool, tool]);
    assert.deepEqual(named, [
      ...once,
      ...once,
      ['•••', '•••'],
      ['hidden-value-2', 'hidden-value-2'],
    ]);
  });

  it('what has ended is recorded before an event, at the request for the latest fact, and at the end', async () => {
    await record();
    recorder.event({ event: 'died', toolset: 's', reason: 'the reason' });
    const outcome = await record();
    const id = outcome.kind === 'result' ? outcome.record?.id : undefined;
    assert.equal(recorder.latestFact(id ?? '')?.id, id);
    await record();
    recorder.dispose();
    assert.deepEqual(
      facts().map((fact) => (isCall(fact) ? fact.tool : fact.reason)),
      ['t', 'the reason', 't', 't'],
    );
    assert.equal(clock.pending, 0);
  });

  it('any text of a name stays one line with the same text, and a secret in it is masked', async () => {
    const odd = '"},{\n\u2028\\" \u0000 ü 🙂 \ud800';
    redactor.register(['hidden-value-1']);
    await record({
      ...call,
      toolset: odd,
      conversation: odd,
      tool: `${odd}hidden-value-1`,
      policy: { ...policies.agent, caller: odd },
    });
    await record({ toolset: odd, conversation: odd, method: odd, params: { uri: odd }, signal });
    await record(call, { kind: 'result', result, unanswered: { kind: 'not sent', reason: odd } });
    recorder.flush();
    const [first, second, third] = facts();
    assert.ok(first && second && third && isCall(first) && isCall(second));
    assert.deepEqual([first.toolset, first.conversation, first.agent], [odd, odd, odd]);
    assert.ok(first.tool.startsWith(odd) && !first.tool.includes('hidden'), first.tool);
    assert.deepEqual([second.tool, second.method, third.reason], [odd, odd, odd]);
    assert.equal(linesOf(lines.join('')).length, 3);
  });

  it('the sizes are those of the arguments and of the result as the server gave it', async () => {
    const outcomes = [await record(), await record(), await record()];
    const [first, second] = outcomes.map((outcome) =>
      outcome.kind === 'result' ? outcome.record : undefined,
    );
    first?.onWritten(result, JSON.stringify(result));
    second?.onWritten({ content: [] }, '{"content":[]}');
    recorder.flush();
    const sizes = facts().flatMap((fact) =>
      isCall(fact) ? [[fact.sentSize, fact.resultSize, fact.tokens]] : [],
    );
    const written = JSON.stringify(result).length;
    assert.deepEqual(sizes[0], [4, written, Math.ceil(written / 4)]);
    assert.deepEqual(sizes[1], sizes[2]);
    assert.ok((sizes[1]?.[1] ?? 0) >= 'some text'.length);
  });

  it('a result that is too large is not kept, however short the client gets it', async () => {
    const large = { content: [{ type: 'text' as const, text: 'x'.repeat(60 << 20) }] };
    const outcome = await record(call, { kind: 'result', result: large });
    const recorded = outcome.kind === 'result' ? outcome.record : undefined;
    recorded?.onWritten({ content: [] }, '{"content":[]}');
    const fact = recorder.latestFact(recorded?.id ?? '');
    assert.ok(fact && fact.resultSize > 60 << 20);
    assert.equal(recorder.contents.get(fact), undefined);
  });
});
