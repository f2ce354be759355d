import assert from 'node:assert/strict';
import type { ServerState } from '../../../../src/core/reconcile/status.js';
import { labelsOf } from '../../../../src/vscode/toolsets/labels.js';
import { snapshot, status, toolset } from '../views/statuses.js';

describe('labelsOf', () => {
  const states: ServerState[] = [
    { kind: 'starting', since: 0 },
    { kind: 'reconnecting', attempt: 1, at: 0, cause: '' },
    { kind: 'running', since: 0 },
    { kind: 'idle', since: 0 },
    { kind: 'failed', since: 0, reason: '', fix: '' },
    { kind: 'invalid' },
    { kind: 'stopped', since: 0 },
    { kind: 'disabled' },
  ];
  const servers = states.map((state) => status(state.kind, { state }));

  it('names servers that may have tools soon', () => {
    assert.deepEqual(labelsOf(snapshot(servers), []), ['starting', 'reconnecting']);
  });

  it('names what has tools in whatever state, in file order', () => {
    const toolsets = [toolset('invalid', 'a'), toolset('running', 'b'), toolset('idle')];
    assert.deepEqual(labelsOf(snapshot(servers), toolsets), ['starting', 'reconnecting', 'running', 'invalid']);
  });

  it('names toolsets without a server last', () => {
    const toolsets = [toolset('built-in', 'a'), toolset('running', 'b')];
    assert.deepEqual(labelsOf(snapshot([status('running')]), toolsets), ['running', 'built-in']);
  });
});
