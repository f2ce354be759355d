import assert from 'node:assert/strict';
import { approvalActions } from '../../../../../src/vscode/views/serverStates.js';
import { treeModel } from '../../../../../src/vscode/views/rows/serverRows.js';
import { file, snapshot, status, treeOptions } from '../statuses.js';

describe('approval in the rows of the sidebar (S1, E3)', () => {
  const parts = [
    { label: 'command', shown: 'node' },
    { label: 'argument', shown: 'x' },
  ] as const;
  const approval = {
    kind: 'pending',
    launch: { server: 'a', source: file, parts, fingerprint: 'f' },
  } as const;
  const launchesOf = (server: ReturnType<typeof status>): string[] =>
    treeModel(snapshot([server]), treeOptions).flatMap(({ children }) =>
      children.filter(({ kind }) => kind === 'launch').map(({ label }) => label),
    );

  it('a waiting server shows its command line and can be approved', () => {
    const waiting = status('a', { state: { kind: 'pending' }, approval });
    assert.deepEqual(approvalActions(waiting), ['approvable']);
    assert.deepEqual(launchesOf(waiting), ['node x']);
  });

  it('a server whose previous definition serves can be approved and revoked', () => {
    const serving = status('a', { approval, previous: { since: 0, reason: '' } });
    assert.deepEqual(approvalActions(serving), ['approvable', 'revocable']);
  });

  it('an approved server can be revoked, and a server without a question has neither action', () => {
    assert.deepEqual(approvalActions(status('a', { approval: { kind: 'approved' } })), [
      'revocable',
    ]);
    assert.deepEqual(approvalActions(status('a')), []);
    assert.deepEqual(launchesOf(status('a')), []);
  });
});
