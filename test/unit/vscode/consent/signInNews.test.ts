/** Messages about the sign-in of waiting servers (X7). */
import assert from 'node:assert/strict';
import type { ServerState } from '../../../../src/core/reconcile/status.js';
import { SignInNews } from '../../../../src/vscode/consent/signInNews.js';
import { status } from '../views/statuses.js';

const waits: ServerState = { kind: 'signInNeeded', since: 0, why: 'it wants one' };
const runs: ServerState = { kind: 'running', since: 0 };

describe('news of sign-ins', () => {
  it('a waiting server causes one message, and another one when it waits again', () => {
    const news = new SignInNews();
    const files = (state: ServerState): string[] => news.of([status('files', { state })]);
    assert.deepEqual(files(waits), ['files']);
    assert.deepEqual(files(waits), []);
    assert.deepEqual(files(runs), []);
    assert.deepEqual(files(waits), ['files']);
  });

  it('after a sign-out, a server causes no message until the next sign-in', () => {
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
