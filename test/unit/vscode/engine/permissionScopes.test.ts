import assert from 'node:assert/strict';
import { permissionsByScope, type SettingValues } from '../../../../src/vscode/engine/permissionScopes.js';

describe('permissions by the scopes of the editor (S4)', () => {
  const rows: readonly [what: string, set: SettingValues | undefined, expected: readonly unknown[]][] = [
    ['nothing is set', undefined, [undefined, undefined, undefined]],
    [
      'an editor that tells no remote settings apart',
      { globalValue: 'own', workspaceValue: 'w' },
      ['own', undefined, 'w'],
    ],
    [
      'what a person applies to all their profiles',
      { globalLocalValue: undefined, globalRemoteValue: undefined, globalValue: 'own' },
      ['own', undefined, undefined],
    ],
    [
      'a dev container beside the person: their mixture is nobody’s',
      { globalLocalValue: 'own', globalRemoteValue: 'container', globalValue: 'mixture' },
      ['own', 'container', undefined],
    ],
    [
      'a dev container alone: what it sets is not the person’s',
      { globalLocalValue: undefined, globalRemoteValue: 'container', globalValue: 'container' },
      [undefined, 'container', undefined],
    ],
  ];
  for (const [what, set, expected] of rows) it(what, () => assert.deepEqual(permissionsByScope(set, []), expected));

  it('those of each folder count beside them', () => {
    const folders = [
      { workspaceFolderValue: 'one' },
      undefined,
      { workspaceValue: 'w', workspaceFolderValue: 'three' },
    ];
    assert.deepEqual(permissionsByScope({ globalValue: 'own' }, folders), [
      ...['own', undefined, undefined],
      ...['one', undefined, 'three'],
    ]);
  });
});
