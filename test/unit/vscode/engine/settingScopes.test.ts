import assert from 'node:assert/strict';
import {
  endpointPortOf,
  permissionsByScope,
  type SettingValues,
} from '../../../../src/vscode/engine/settingScopes.js';

describe('permissions by the scopes of the editor (S4)', () => {
  const rows: readonly [
    what: string,
    set: SettingValues | undefined,
    expected: readonly unknown[],
  ][] = [
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
  for (const [what, set, expected] of rows)
    it(what, () => assert.deepEqual(permissionsByScope(set, []), expected));

  it('permissions of each folder count too', () => {
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

describe('the port for agents outside the editor (G6a)', () => {
  const rows: readonly [
    what: string,
    set: SettingValues | undefined,
    chosen: unknown,
    expected: object,
  ][] = [
    ['is 0 if nothing is set', undefined, undefined, { port: 0 }],
    ['is the person’s own', { globalValue: 7000 }, undefined, { port: 7000 }],
    [
      'stays closed if only the workspace asks for it',
      { workspaceValue: 7000 },
      undefined,
      { port: 0, asked: 7000 },
    ],
    [
      'stays closed if only a folder asks for it',
      { workspaceFolderValue: 7000 },
      undefined,
      { port: 0, asked: 7000 },
    ],
    [
      'stays closed if only a dev container asks for it',
      { globalRemoteValue: 7000, globalValue: 7000 },
      undefined,
      { port: 0, asked: 7000 },
    ],
    ['opens if the person chose it here', { workspaceValue: 7000 }, 7000, { port: 7000 }],
    [
      'stays closed if the workspace changes the chosen port',
      { workspaceValue: 7001 },
      7000,
      { port: 0, asked: 7001 },
    ],
    [
      'is the person’s own while the workspace asks for another',
      { globalValue: 7000, workspaceValue: 7001 },
      undefined,
      { port: 7000, asked: 7001 },
    ],
    [
      'can be closed by a workspace',
      { globalValue: 7000, workspaceValue: 0 },
      undefined,
      { port: 0 },
    ],
    ['is 0 if the value is no port', { workspaceValue: '7000' }, undefined, { port: 0 }],
  ];
  for (const [what, set, chosen, expected] of rows) {
    it(`the endpoint’s port ${what}`, () =>
      assert.deepEqual(endpointPortOf(set, chosen), expected));
  }
});
