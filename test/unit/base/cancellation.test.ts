import assert from 'node:assert/strict';
import { abortSignalOf, Cancellation } from '../../../src/core/base/cancellation.js';

describe('Cancellation', () => {
  it('a cancellation calls each listener once, and no removed one', () => {
    const cancellation = new Cancellation();
    const told: string[] = [];
    const left = (): void => void told.push('left');
    cancellation.addEventListener('abort', () => told.push('first'));
    cancellation.addEventListener('abort', left);
    cancellation.addEventListener('abort', () => told.push('second'));
    cancellation.removeEventListener('abort', left);
    assert.equal(cancellation.aborted, false);
    cancellation.abort();
    cancellation.abort();
    assert.deepEqual(told, ['first', 'second']);
    assert.equal(cancellation.aborted, true);
  });

  it('a signal is aborted before its listeners run', () => {
    const cancellation = new Cancellation();
    let seen: unknown;
    cancellation.addEventListener(
      'abort',
      () => (seen = [cancellation.aborted, (cancellation.reason as Error).name]),
    );
    cancellation.abort();
    assert.deepEqual(seen, [true, 'AbortError']);
  });

  it('a cancellation has the reason it was given', () => {
    const cancellation = new Cancellation();
    cancellation.abort('enough');
    assert.equal(cancellation.reason, 'enough');
    assert.equal(abortSignalOf(cancellation).reason, 'enough');
  });

  it('an AbortSignal follows a cancellation, even if it is made later', () => {
    const cancellation = new Cancellation();
    const before = abortSignalOf(cancellation);
    assert.equal(before.aborted, false);
    cancellation.abort();
    assert.equal(before.aborted, true);
    assert.equal(abortSignalOf(cancellation).aborted, true);
  });

  it('an existing AbortSignal is used as it is', () => {
    const { signal } = new AbortController();
    assert.equal(abortSignalOf(signal), signal);
  });
});
