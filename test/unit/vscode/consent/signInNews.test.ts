/** Whom a person is told of that waits for a sign-in (X7). */
import assert from 'node:assert/strict';
import type { ServerState } from '../../../../src/core/reconcile/status.js';
import { SignInNews } from '../../../../src/vscode/consent/signInNews.js';
import { status } from '../views/statuses.js';

const waits: ServerState = { kind: 'signInNeeded', since: 0, why: 'it wants one' };
const runs: ServerState = { kind: 'running', since: 0 };

describe('news of sign-ins', () => {
  it('are told once, and again when a server waits anew', () => {
    const news = new SignInNews();
    const files = (state: ServerState): string[] => news.of([status('files', { state })]);
    assert.deepEqual(files(waits), ['files']);
    assert.deepEqual(files(waits), []);
    assert.deepEqual(files(runs), []);
    assert.deepEqual(files(waits), ['files']);
  });

  it('are none for a person who signs out, whatever changes until that is done, until they sign in again', () => {
    const news = new SignInNews();
    const files = (state: ServerState): string[] => news.of([status('files', { state })]);
    assert.deepEqual(files(runs), []);
    news.signsOut('files');
    assert.deepEqual(files(runs), [], 'another server has changed');
    assert.deepEqual(files(waits), []);
    news.signsIn('files');
    assert.deepEqual(files(runs), []);
    assert.deepEqual(files(waits), ['files']);
  });
});
