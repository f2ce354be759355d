import assert from 'node:assert/strict';
import { DialogHistory } from '../../../src/core/instances/dialogHistory.js';
import { fakeClient } from '../../support/fakes/fakeClient.js';

describe('what a dialog is told of the instance that it is given (L3, X4)', () => {
  it('is each death once, and otherwise that it is new', () => {
    const history = new DialogHistory();
    assert.deepEqual(history.newsFor('a', undefined), { kind: 'new' });
    assert.equal(history.meets('a'), true);
    history.loses('a', 'it crashed');
    assert.deepEqual(history.newsFor('a', undefined), { kind: 'replaced', cause: 'it crashed' });
    assert.deepEqual(history.newsFor('b', undefined), { kind: 'new' });
    assert.equal(history.meets('a'), false);
    assert.deepEqual(history.newsFor('a', undefined), { kind: 'new' });
  });

  it('is what it lost before this gateway knew it, or may have lost, until it has had an instance here', () => {
    const history = new DialogHistory();
    const lost = fakeClient({ lostBefore: 'the gateway was started again' });
    const mayHave = fakeClient({ mayHaveLost: true });
    assert.deepEqual(history.newsFor('a', lost), { kind: 'replaced', cause: 'the gateway was started again' });
    assert.deepEqual(history.newsFor('a', mayHave), { kind: 'newHere' });
    history.meets('a');
    assert.deepEqual(
      [lost, mayHave].map((client) => history.newsFor('a', client).kind),
      ['new', 'new'],
    );
    history.loses('a', 'it crashed');
    assert.deepEqual(history.newsFor('a', lost), { kind: 'replaced', cause: 'it crashed' });
    history.meets('a');
    history.ends('a');
    assert.equal(history.newsFor('a', mayHave).kind, 'newHere');
  });
});
