/** Worktrees of one repository share approvals, and no other folder can claim them (S1k). */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describeLaunch, type LaunchDescription } from '../../../src/core/approval/fingerprint.js';
import { worktreeOf } from '../../../src/core/approval/worktrees.js';
import { parseMindsFile } from '../../../src/core/config/read/parse.js';

describe('worktrees (S1k)', () => {
  let root: string;
  const at = (...names: string[]): string => path.join(root, ...names);

  beforeEach(() => {
    root = realpathSync(mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-trees-')));
    mkdirSync(at('main', '.git', 'worktrees', 'one'), { recursive: true });
    mkdirSync(at('one'));
    link('one', 'one');
  });

  afterEach(() => rmSync(root, { recursive: true, force: true }));

  /** Writes what `git worktree add` writes. */
  function link(folder: string, entry: string, back = at(folder, '.git')): void {
    writeFileSync(at(folder, '.git'), `gitdir: ${at('main', '.git', 'worktrees', entry)}\n`);
    writeFileSync(at('main', '.git', 'worktrees', 'one', 'gitdir'), `${back}\n`);
  }

  function launchIn(folder: string, entry: string): LaunchDescription {
    const file = path.join(folder, '.minds', 'mcp.yaml');
    const text = `version: 1\nservers:\n  demo: ${entry}\n`;
    const parsed = parseMindsFile({ file, folder, text }, { env: {}, directoryExists: () => true });
    const [server] = parsed.kind === 'accepted' ? parsed.servers : [];
    assert.ok(server?.kind === 'valid', JSON.stringify(parsed.problems));
    return describeLaunch(server.definition);
  }

  const stdio = (...args: string[]): string => `{ transport: stdio, command: node, args: ${JSON.stringify(args)} }`;
  const isShared = (mine: string, theirs: string, folder = 'one'): boolean => {
    const shared = launchIn(at('main'), mine).shared;
    return shared !== undefined && shared === launchIn(at(folder), theirs).shared;
  };

  it('a worktree and the main one belong to one repository, from each folder below', () => {
    const repository = at('main', '.git');
    mkdirSync(at('one', 'packages', 'a'), { recursive: true });
    assert.deepEqual(worktreeOf(at('main')), { repository, root: at('main') });
    assert.deepEqual(worktreeOf(at('one', 'packages', 'a')), { repository, root: at('one') });
    assert.equal(worktreeOf(root), undefined);
  });

  it('a folder that the repository does not name is no worktree of it', () => {
    mkdirSync(at('evil'));
    writeFileSync(at('evil', '.git'), `gitdir: ${at('main', '.git', 'worktrees', 'one')}\n`);
    assert.equal(worktreeOf(at('evil')), undefined);
    writeFileSync(at('evil', '.git'), `gitdir: ${at('main', '.git')}\n`);
    assert.equal(worktreeOf(at('evil')), undefined);
    mkdirSync(at('evil', 'own', 'worktrees', 'x'), { recursive: true });
    writeFileSync(at('evil', '.git'), 'gitdir: own/worktrees/x\n');
    writeFileSync(at('evil', 'own', 'worktrees', 'x', 'gitdir'), at('evil', '.git'));
    assert.equal(worktreeOf(at('evil'))?.repository, at('evil', 'own'), 'a repository of its own');
    renameSync(at('one'), at('moved'));
    assert.equal(worktreeOf(at('moved')), undefined);
  });

  it('launches are the same but for the root, as a whole path or as its beginning', () => {
    assert.ok(isShared(stdio('server.js'), stdio('server.js')));
    assert.ok(
      isShared(stdio(at('main', 'a.js'), `--root=${at('main')}`), stdio(at('one', 'a.js'), `--root=${at('one')}`)),
    );
    assert.ok(!isShared(stdio('server.js'), stdio('other.js')));
    assert.ok(!isShared(stdio(at('main', 'a.js')), stdio(at('main', 'a.js'))), 'one of them leads to the other tree');
    assert.ok(!isShared(stdio(`${at('main')}b/a.js`), stdio(`${at('one')}b/a.js`)), 'a longer name is another folder');
    assert.ok(!isShared(stdio(`x${at('main')}`), stdio(`x${at('one')}`)));
  });

  it('a masked part that differs, and another place in the tree, are other launches', () => {
    const withToken = (token: string): string =>
      `{ transport: stdio, command: node, env: { API_TOKEN: ${token}-0123456789abcdef } }`;
    assert.ok(isShared(withToken('a'), withToken('a')));
    assert.ok(!isShared(withToken('a'), withToken('b')));
    mkdirSync(at('one', 'sub'));
    assert.ok(!isShared(stdio('server.js'), stdio('server.js'), path.join('one', 'sub')));
  });
});
