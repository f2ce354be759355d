/** The effective lists of servers with an organisation (S1b). */
import assert from 'node:assert/strict';
import { effectiveLists } from '../../../../src/vscode/engine/settingScopes.js';

const names = (...all: string[]): object[] => all.map((serverName) => ({ serverName }));
const unset = { value: null };

describe('the lists of allowed and denied servers', () => {
  it('the lists are the effective ones if people may have lists too', () => {
    const allowed = { value: names('a'), globalValue: names('a') };
    const lists = effectiveLists({ allowed, denied: unset }, false);
    assert.deepEqual(lists, { allowed: names('a'), denied: null });
  });

  it('the allowed list is the organisation’s if only it allows', () => {
    const allowed = { value: names('a'), globalValue: names('b') };
    assert.deepEqual(effectiveLists({ allowed, denied: unset }, true).allowed, names('a'));
  });

  it('nothing is allowed if only the organisation may allow and has no list', () => {
    for (const allowed of [
      unset,
      { value: names('b'), globalValue: names('b') },
      { value: names('b'), globalValue: names('c'), workspaceValue: names('b') },
      { value: names('b'), workspaceFolderValue: names('b') },
    ]) {
      assert.deepEqual(effectiveLists({ allowed, denied: unset }, true).allowed, []);
    }
  });

  it('every list denies', () => {
    const denied = { value: names('a'), globalValue: names('b'), workspaceValue: names('c') };
    assert.deepEqual(effectiveLists({ allowed: unset, denied }, true).denied, names('a', 'b', 'c'));
  });
});
