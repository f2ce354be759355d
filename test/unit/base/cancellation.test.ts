import assert from 'node:assert/strict';
import { abortSignalOf, Cancellation } from '../../../src/core/base/cancellation.js';

describe('Cancellation', () => {
  it('tells each listener once, and those that have left nothing', () => {
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

  it('is aborted by the time that a listener hears of it', () => {
    const cancellation = new Cancellation();
    let seen: unknown;
    cancellation.addEventListener('abort', () => (seen = [cancellation.aborted, (cancellation.reason as Error).name]));
    cancellation.abort();
    assert.deepEqual(seen, [true, 'AbortError']);
  });

  it('is followed by an AbortSignal, also by one that comes later', () => {
    const cancellation = new Cancellation();
    const before = abortSignalOf(cancellation);
    assert.equal(before.aborted, false);
    cancellation.abort();
    assert.equal(before.aborted, true);
    assert.equal(abortSignalOf(cancellation).aborted, true);
  });

  it('needs none where there is an AbortSignal', () => {
    const { signal } = new AbortController();
    assert.equal(abortSignalOf(signal), signal);
  });
});
