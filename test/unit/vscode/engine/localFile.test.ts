/** The layer that a command of the editor writes (C7). */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { localPath, mindsPath } from '../../../../src/core/config/sources.js';
import { keepOutOfGit, localFileOf } from '../../../../src/vscode/engine/localFile.js';

describe('the layer that a command writes (C7)', () => {
  let outside: string;
  let main: string;
  let tree: string;

  beforeEach(() => {
    outside = realpathSync(mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-layer-')));
    [main, tree] = [path.join(outside, 'main'), path.join(outside, 'tree')];
    const own = path.join(main, '.git', 'worktrees', 'tree');
    for (const folder of [own, path.join(main, '.minds'), path.join(tree, '.minds')])
      mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(tree, '.git'), `gitdir: ${own}\n`);
    writeFileSync(path.join(own, 'gitdir'), `${path.join(tree, '.git')}\n`);
  });

  afterEach(() => rmSync(outside, { recursive: true }));

  const written = (): string => localFileOf(path.join(tree, mindsPath));
  const layerIn = (folder: string): string => path.join(folder, localPath);

  it('is the file of a worktree, unless only the main worktree has one', () => {
    assert.equal(written(), layerIn(tree));
    writeFileSync(layerIn(main), '');
    assert.equal(written(), layerIn(main));
    writeFileSync(layerIn(tree), '');
    assert.equal(written(), layerIn(tree));
    assert.equal(localFileOf(path.join(main, mindsPath)), layerIn(main));
  });

  it('is kept out of Git by the repository of the worktree, and without Git nothing happens', () => {
    keepOutOfGit(layerIn(tree));
    const exclude = path.join(main, '.git', 'info', 'exclude');
    assert.equal(readFileSync(exclude, 'utf8'), '/.minds/mcp.local.yaml\n');
    keepOutOfGit(layerIn(outside));
  });
});
