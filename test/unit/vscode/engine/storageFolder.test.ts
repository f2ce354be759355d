import assert from 'node:assert/strict';
import path from 'node:path';
import { storageFolder } from '../../../../src/vscode/engine/storageFolder.js';

describe('storageFolder', () => {
  const given = (workspace: string): string =>
    path.join(path.sep, 'data', 'User', 'workspaceStorage', workspace, 'minds.mcp-toolsets');
  const chosen = (workspace: string): string | undefined =>
    storageFolder({ storageUri: { fsPath: given(workspace) } });

  it('is the same for every window of a workspace, even if another window has locked the first folder', () => {
    for (const workspace of [
      '-242a3a03',
      '242a3a03',
      'd41d8cd98f00b204e9800998ecf8427e',
      '1795363199000',
    ]) {
      assert.equal(chosen(workspace), given(workspace));
      for (const attempt of [1, 9])
        assert.equal(chosen(`${workspace}-${attempt}`), given(workspace));
    }
  });

  it('keeps a name that consists only of such an ending', () => {
    for (const workspace of ['-1', '-10', '-242a3a03-10'])
      assert.equal(chosen(workspace), given(workspace));
  });

  it('is undefined without an open folder', () => {
    assert.equal(storageFolder({ storageUri: undefined }), undefined);
  });
});
