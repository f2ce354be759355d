/** An early view gets its first answer late, and the right one. */
import assert from 'node:assert/strict';
import { DelayedAnswers } from '../../../../../src/vscode/views/rows/delayedAnswers.js';
import { rest } from '../../../../support/fakes/fakeClock.js';

describe('held answers', () => {
  let rows: string[];
  let answers: DelayedAnswers<string[]>;
  let given: string[][];

  beforeEach(() => {
    rows = [];
    answers = new DelayedAnswers(() => rows);
    given = [];
  });

  const ask = (): void => void Promise.resolve(answers.ask()).then((answer) => given.push(answer));

  it('held answers wait until the answer is known, and then cause no change event', async () => {
    ask();
    assert.equal(answers.setKnown(false), false);
    await rest();
    assert.deepEqual(given, []);
    rows = ['alpha'];
    assert.equal(answers.setKnown(true), true);
    await rest();
    assert.deepEqual(given, [['alpha']]);
    assert.equal(answers.setKnown(true), false);
  });

  it('known answers are given at once, and changes cause an event', () => {
    assert.equal(answers.setKnown(true), false);
    rows = ['alpha'];
    assert.deepEqual(answers.ask(), ['alpha']);
    assert.equal(answers.setKnown(true), false);
  });

  it('answers are held back again when they become unknown', async () => {
    answers.setKnown(true);
    answers.setKnown(false);
    ask();
    rows = ['alpha', 'beta'];
    assert.equal(answers.setKnown(true), true);
    await rest();
    assert.deepEqual(given, [['alpha', 'beta']]);
  });
});
