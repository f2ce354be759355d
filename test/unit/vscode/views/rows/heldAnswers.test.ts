/** A view that asks before it is known what there is gets its first answer late, and right. */
import assert from 'node:assert/strict';
import { HeldAnswers } from '../../../../../src/vscode/views/rows/heldAnswers.js';
import { rest } from '../../../../support/fakes/fakeClock.js';

describe('held answers', () => {
  let rows: string[];
  let answers: HeldAnswers<string[]>;
  let given: string[][];

  beforeEach(() => {
    rows = [];
    answers = new HeldAnswers(() => rows);
    given = [];
  });

  const ask = (): void => void Promise.resolve(answers.ask()).then((answer) => given.push(answer));

  it('wait until it is known, and whoever waited is told no news', async () => {
    ask();
    assert.equal(answers.become(false), false);
    await rest();
    assert.deepEqual(given, []);
    rows = ['alpha'];
    assert.equal(answers.become(true), true);
    await rest();
    assert.deepEqual(given, [['alpha']]);
    assert.equal(answers.become(true), false);
  });

  it('are given at once when it is known, and news is told', () => {
    assert.equal(answers.become(true), false);
    rows = ['alpha'];
    assert.deepEqual(answers.ask(), ['alpha']);
    assert.equal(answers.become(true), false);
  });

  it('are held back again where it is no longer known', async () => {
    answers.become(true);
    answers.become(false);
    ask();
    rows = ['alpha', 'beta'];
    assert.equal(answers.become(true), true);
    await rest();
    assert.deepEqual(given, [['alpha', 'beta']]);
  });
});
