/** A question to a client is settled once (G4). */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { OpenQuestions } from '../../../../src/core/gateway/conversations/openQuestions.js';

describe('open questions', () => {
  let asker: AbortController;
  let withdrawn: number;
  let questions: OpenQuestions<string>;
  const ask = (id: number): Promise<unknown> =>
    questions.ask(id, 'about it', asker.signal, () => (withdrawn += 1));
  beforeEach(() => {
    asker = new AbortController();
    withdrawn = 0;
    questions = new OpenQuestions();
  });

  it('a settled question cannot be withdrawn', async () => {
    const [answered, refused] = [ask(1), ask(2)];
    assert.equal(questions.get(2)?.about, 'about it');
    questions.get(1)?.settle({ said: 'yes' });
    questions.get(2)?.settle(new Error('nobody is there'));
    asker.abort();
    assert.deepEqual(await answered, { said: 'yes' });
    await assert.rejects(refused, /nobody is there/);
    assert.deepEqual([withdrawn, questions.size], [0, 0]);
  });

  it('a question is withdrawn once, and a later answer is ignored', async () => {
    const answer = ask(1);
    const open = questions.get(1);
    asker.abort();
    open?.settle({ said: 'too late' });
    await assert.rejects(answer, { code: -32000, message: 'The question was withdrawn.' });
    assert.equal(withdrawn, 1);
    await assert.rejects(ask(2), /withdrawn/);
    assert.deepEqual([withdrawn, questions.size], [1, 0]);
  });

  it('a question leaves no listener behind', async () => {
    const many = Array.from({ length: 5 }, (_, id) => ask(id));
    questions.refuseAll('It is over.');
    for (const answer of many) await assert.rejects(answer, /It is over/);
    assert.equal(getEventListeners(asker.signal, 'abort').length, 0);
  });
});
