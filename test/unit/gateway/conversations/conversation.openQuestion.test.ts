/** A question to a client is settled once (G4). */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { openQuestion } from '../../../../src/core/gateway/conversations/conversation.js';

describe('an open question', () => {
  let asker: AbortController;
  let takenBack: number;
  const open = (): ReturnType<typeof openQuestion<string>> => openQuestion(asker.signal, () => (takenBack += 1));
  beforeEach(() => {
    asker = new AbortController();
    takenBack = 0;
  });

  it('a settled question cannot be withdrawn', async () => {
    const [answered, refused] = [open(), open()];
    answered.resolve('yes');
    refused.reject(new Error('nobody is there'));
    asker.abort();
    assert.equal(await answered.answer, 'yes');
    await assert.rejects(refused.answer, /nobody is there/);
    assert.equal(takenBack, 0);
  });

  it('a question is withdrawn once, and a later answer is ignored', async () => {
    const question = open();
    asker.abort();
    question.resolve('too late');
    await assert.rejects(question.answer, { code: -32000, message: 'The question was withdrawn.' });
    assert.equal(takenBack, 1);
  });

  it('a question leaves no listener behind', () => {
    const many = Array.from({ length: 5 }, open);
    for (const question of many) question.resolve('yes');
    assert.equal(getEventListeners(asker.signal, 'abort').length, 0);
  });
});
