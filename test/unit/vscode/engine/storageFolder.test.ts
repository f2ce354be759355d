import assert from 'node:assert/strict';
import path from 'node:path';
import { storageFolder } from '../../../../src/vscode/engine/storageFolder.js';

describe('storageFolder', () => {
  const given = (workspace: string): string =>
    path.join(path.sep, 'data', 'User', 'workspaceStorage', workspace, 'minds.mcp-toolsets');
  const chosen = (workspace: string): string | undefined => storageFolder({ storageUri: { fsPath: given(workspace) } });

  it('is the same for every window of a workspace, also where another one has locked the first', () => {
    for (const workspace of ['-242a3a03', '242a3a03', 'd41d8cd98f00b204e9800998ecf8427e', '1795363199000']) {
      assert.equal(chosen(workspace), given(workspace));
      for (const attempt of [1, 9]) assert.equal(chosen(`${workspace}-${attempt}`), given(workspace));
    }
  });

  it('takes nothing away from a name that is no more than such an ending', () => {
    for (const workspace of ['-1', '-10', '-242a3a03-10']) assert.equal(chosen(workspace), given(workspace));
  });

  it('is nowhere where no folder is open', () => {
    assert.equal(storageFolder({ storageUri: undefined }), undefined);
  });
});
