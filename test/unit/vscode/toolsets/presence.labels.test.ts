import assert from 'node:assert/strict';
import type { ServerState } from '../../../../src/core/reconcile/status.js';
import { isBeginning, labelsOf } from '../../../../src/vscode/toolsets/presence.js';
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

  it('are the ids of all servers that are not switched off, in file order (G3j)', () => {
    const all = ['starting', 'reconnecting', 'running', 'idle', 'failed', 'invalid', 'stopped'];
    assert.deepEqual(labelsOf(snapshot(servers), []), all);
    assert.deepEqual(
      labelsOf(snapshot(servers), [toolset('invalid', 'a'), toolset('running', 'b')]),
      all,
    );
  });

  it('lists toolsets without a server last', () => {
    const toolsets = [toolset('built-in', 'a'), toolset('running', 'b')];
    assert.deepEqual(labelsOf(snapshot([status('running')]), toolsets), ['running', 'built-in']);
  });
});

describe('first answer to the editor (G3b)', () => {
  const listening = { kind: 'listening', port: 1 } as const;

  it('the first answer waits for the config files, and with an engine for the gateway', () => {
    assert.equal(isBeginning('reading', undefined), true);
    assert.equal(isBeginning('reading', { kind: 'starting' }), true);
    assert.equal(isBeginning('serving', { kind: 'starting' }), true);
    assert.equal(isBeginning('serving', listening), false);
  });

  it('the first answer does not wait if nothing will be served', () => {
    for (const phase of ['untrusted', 'noFolder', 'noFile'] as const)
      assert.equal(isBeginning(phase, undefined), false);
    assert.equal(isBeginning('serving', undefined), false, 'no file can be read');
  });
});
