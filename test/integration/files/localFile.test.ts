/** Which layer counts in a worktree, and how it stays out of Git (C7, S1k), with worktrees of Git. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { localPath, mindsPath } from '../../../src/core/config/sources.js';
import { keepOutOfGit, localFileOf } from '../../../src/core/files/localFile.js';

describe('the layer that counts in a worktree, and that a command writes (C7, S1k)', () => {
  let outside: string;
  let main: string;
  let tree: string;

  beforeEach(() => {
    outside = realpathSync(mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-layer-')));
    [main, tree] = [path.join(outside, 'main'), path.join(outside, 'tree')];
    git(outside, 'init', '--quiet', main);
    write(main, mindsPath);
    git(main, 'add', '.');
    git(main, 'commit', '--quiet', '--message', 'first');
    git(main, 'worktree', 'add', '--quiet', tree);
  });

  afterEach(() => rmSync(outside, { recursive: true }));

  const git = (cwd: string, ...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com', ...args], {
      cwd,
      env: { ...process.env, HOME: outside, GIT_CONFIG_NOSYSTEM: '1' },
      encoding: 'utf8',
      stdio: 'pipe',
    });

  function write(folder: string, file = localPath): void {
    mkdirSync(path.join(folder, '.minds'), { recursive: true });
    writeFileSync(path.join(folder, file), 'version: 1\n');
  }

  /** The folder whose layer counts in a folder. */
  const layerOf = (folder: string): string =>
    path.join(localFileOf(path.join(folder, mindsPath)), '../..');

  it('A worktree has the layer of the main worktree, unless it has its own', () => {
    assert.equal(layerOf(tree), tree);
    write(main);
    assert.equal(layerOf(tree), main);
    write(tree);
    assert.equal(layerOf(tree), tree);
    assert.equal(layerOf(main), main);
  });

  it('A worktree that was made in another worktree has the layer of the main one', () => {
    const [inner, beside] = [path.join(tree, 'inner'), path.join(outside, 'beside')];
    git(tree, 'worktree', 'add', '--quiet', inner);
    git(inner, 'worktree', 'add', '--quiet', beside);
    write(tree);
    for (const each of [inner, beside]) assert.equal(layerOf(each), each);
    write(main);
    for (const each of [inner, beside]) assert.equal(layerOf(each), main);
  });

  it('A worktree of a moved repository has its layer again after `git worktree repair`', () => {
    write(main);
    const moved = path.join(outside, 'moved');
    renameSync(main, moved);
    assert.equal(layerOf(tree), tree);
    git(outside, 'init', '--quiet', main);
    write(main);
    assert.equal(layerOf(tree), tree, 'another repository in the old place');
    git(moved, 'worktree', 'repair', tree);
    assert.equal(layerOf(tree), moved);
  });

  it('A moved worktree has the layer of the main one again after `git worktree repair`', () => {
    write(main);
    const moved = path.join(outside, 'moved');
    renameSync(tree, moved);
    assert.equal(layerOf(moved), moved);
    git(main, 'worktree', 'repair', moved);
    assert.equal(layerOf(moved), main);
  });

  for (const [name, counts] of [
    ['bare.git', false],
    // The folder around it is where a person keeps files for all worktrees.
    ['.git', true],
  ] as const)
    it(`A bare repository ${name} has no main worktree; a layer beside it ${counts ? 'counts' : 'does not count'}`, () => {
      const beside = path.join(outside, 'beside');
      git(outside, 'clone', '--quiet', '--bare', main, path.join(beside, name));
      const one = path.join(beside, 'one');
      git(path.join(beside, name), 'worktree', 'add', '--quiet', one);
      write(beside);
      assert.equal(layerOf(one), counts ? beside : one);
      keepOutOfGit(path.join(one, localPath));
      write(one);
      assert.equal(git(one, 'status', '--porcelain'), '');
    });

  it('The repository of a worktree keeps its layer out, and without Git nothing happens', () => {
    keepOutOfGit(path.join(tree, localPath));
    const exclude = path.join(main, '.git', 'info', 'exclude');
    assert.match(readFileSync(exclude, 'utf8'), /^\/\.minds\/mcp\.local\.yaml$/m);
    write(tree);
    assert.equal(git(tree, 'status', '--porcelain'), '');
    keepOutOfGit(path.join(outside, localPath));
  });
});
