/** What *Manage Server…* offers for a server. */
import assert from 'node:assert/strict';
import { commands } from '../../../../build/commands.js';
import type { ServerStatus } from '../../../../src/core/reconcile/status.js';
import { serverDeeds } from '../../../../src/vscode/views/serverDeeds.js';
import { abilities } from '../../../../src/vscode/views/serverStates.js';
import { problem, status } from './statuses.js';

describe('Manage Server', () => {
  const offered = (changes: Partial<ServerStatus>, problems = [problem()]): string[] =>
    serverDeeds(abilities(status('a', changes), problems)).map(({ title }) => title);
  const launch = { server: 'a', source: '/f', parts: [], fingerprint: 'f' };
  const always = ['Show Server Log', 'Go to Server Definition'];

  const disable = ['Disable for Me', 'Disable for Everyone'];

  it('offers what can be done now, and nothing else', () => {
    assert.deepEqual(offered({}), ['Restart Server', 'Stop Server', ...always, ...disable]);
    assert.deepEqual(offered({ state: { kind: 'stopped', since: 0 } }), [
      'Start Server',
      ...always,
      ...disable,
    ]);
    assert.deepEqual(offered({ state: { kind: 'disabled' } }), [
      ...always,
      'Enable for Me',
      'Enable for Everyone',
    ]);
    assert.deepEqual(
      offered({ state: { kind: 'pending' }, approval: { kind: 'pending', launch } }),
      ['Approve Server…', ...always, ...disable],
    );
    assert.deepEqual(offered({ hasSecrets: true, approval: { kind: 'approved' } }), [
      'Restart Server',
      'Stop Server',
      ...always,
      'Set Secret…',
      ...disable,
      'Revoke Server Approval',
    ]);
    assert.ok(
      offered({}, [problem({ code: 'secret-unset', server: 'a' })]).includes('Set Secret…'),
    );
  });

  it('offers a change for everyone only if no layer decides (C7)', () => {
    for (const changes of [
      { local: ['enabled'] },
      { origin: 'user' },
      { origin: 'mcprc' },
      { origin: 'local' },
    ] as const) {
      assert.ok(offered(changes).includes('Disable for Me'));
      assert.ok(!offered(changes).includes('Disable for Everyone'), JSON.stringify(changes));
    }
    assert.ok(offered({ local: ['env.A'] }).includes('Disable for Everyone'));
  });

  it('the commands behind it are not in the palette', () => {
    for (const name of ['start', 'stop', 'restart', 'enable', 'disableForMe', 'signIn'] as const)
      assert.equal(commands[name].palette, 'false');
  });
});
