import assert from 'node:assert/strict';
import { offeredLabels } from '../../../src/vscode/offer.js';
import { servedTool, snapshot, status } from './statuses.js';

describe('offeredLabels', () => {
  it('names servers that have tools or may have some soon, in file order', () => {
    const tools = [servedTool('x')];
    const labels = offeredLabels(
      snapshot([
        status('starting', { state: { kind: 'starting', since: 0 } }),
        status('running', { tools }),
        status('without tools'),
        status('failed', { state: { kind: 'failed', since: 0, reason: '', fix: '' } }),
        status('failed, serves', { tools, state: { kind: 'failed', since: 0, reason: '', fix: '' } }),
        status('reconnecting', { state: { kind: 'reconnecting', attempt: 1, at: 0, cause: '' } }),
        status('disabled', { state: { kind: 'disabled' } }),
        status('invalid', { state: { kind: 'invalid' } }),
        status('stopped', { state: { kind: 'stopped', since: 0 } }),
        status('idle', { tools, state: { kind: 'idle', since: 0 } }),
      ]),
    );
    assert.deepEqual(labels, ['starting', 'running', 'failed, serves', 'reconnecting', 'idle']);
  });
});
