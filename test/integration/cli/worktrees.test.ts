/** Worktrees that Git itself makes share the approvals of their repository (S1k). */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync, renameSync } from 'node:fs';
import path from 'node:path';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { systemClock } from '../../../src/core/base/clock.js';
import { SharedFile } from '../../../src/core/files/sharedFile.js';
import { ApprovalLedger } from '../../../src/core/approval/ledger.js';
import { ApprovalStage } from '../../support/core/approvalStage.js';
import type { CommandLine, Output } from '../../support/core/commandLine.js';
import { within } from '../../support/core/within.js';

describe('approvals in Git worktrees (S1k)', () => {
  let stage: ApprovalStage;
  let cli: CommandLine;
  let tree: string;

  beforeEach(async () => {
    stage = await ApprovalStage.open();
    ({ cli } = stage);
    tree = path.join(stage.outside, 'a tree');
    cli.save({ a: stage.server('a', { env: { STATE: 'sub' } }) });
    git(cli.folder, 'init', '--quiet');
    git(cli.folder, 'add', '.minds');
    git(cli.folder, 'commit', '--quiet', '--message', 'servers');
    git(cli.folder, 'worktree', 'add', '--quiet', '-b', 'tree', tree);
  });

  afterEach(() => stage.close());

  function git(cwd: string, ...args: string[]): void {
    const who = [
      '-c',
      'user.name=ada',
      '-c',
      'user.email=ada@example.com',
      '-c',
      'protocol.file.allow=always',
    ];
    execFileSync('git', [...who, ...args], {
      cwd,
      env: { ...process.env, HOME: cli.home, GIT_CONFIG_NOSYSTEM: '1' },
    });
  }

  /** Starts only what a person approved. */
  const serves = async (folder: string): Promise<boolean> =>
    (await stage.namesIn(folder, 'a')).length > 0;

  async function approveIn(cwd: string): Promise<Output> {
    const { command, args, env } = cli.commandOf('approve', '--yes');
    return await cli.finishBeside(spawn(command, args, { cwd, env }));
  }

  it('An approval in the repository counts in a worktree, and one in a worktree counts in the repository', async () => {
    assert.deepEqual([await serves(cli.folder), await serves(tree)], [false, false]);
    assert.match((await approveIn(tree)).stdout, /Approved: a\./);
    assert.deepEqual([await serves(cli.folder), await serves(tree)], [true, true]);
    assert.match((await approveIn(cli.folder)).stdout, /No server waits/);
    assert.deepEqual(
      stage.stored.map(({ source }) => source),
      [path.join(realpathSync(tree), '.minds', 'mcp.yaml')],
    );
  });

  it('A `connect` in a worktree names the folder of the approval, and follows one in the repository and its end', async () => {
    const client = await stage.connect('a', '-C', tree);
    const command = `mcp-toolsets approve a -C '${realpathSync(tree)}'`;
    if (process.platform !== 'win32')
      assert.ok(client.getInstructions()?.includes(command), client.getInstructions());
    const changed = (): Promise<void> =>
      new Promise((resolve) =>
        client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve()),
      );
    const started = changed();
    await stage.approve('a');
    await within(started, 'list_changed');
    assert.deepEqual([await stage.names(client), stage.ran], [['a_echo'], ['a']]);
    const store = new SharedFile(cli.approvalsFile, systemClock);
    const ledger = new ApprovalLedger({ store, asks: () => true });
    await ledger.load();
    const ended = changed();
    await ledger.revoke({
      server: 'a',
      source: path.join(realpathSync(tree), '.minds', 'mcp.yaml'),
    });
    ledger.dispose();
    store.dispose();
    await within(ended, 'list_changed');
    assert.deepEqual(await stage.names(client), []);
    assert.equal(await serves(cli.folder), false);
  });

  it('A change in a worktree waits there only', async () => {
    await stage.approve('a');
    const main = cli.folder;
    cpSync(path.join(main, '.minds'), path.join(stage.outside, 'kept'), { recursive: true });
    cli.save({ a: stage.server('evil') });
    renameSync(cli.file, path.join(tree, '.minds', 'mcp.yaml'));
    cpSync(path.join(stage.outside, 'kept'), path.join(main, '.minds'), { recursive: true });
    assert.deepEqual([await serves(tree), await serves(main)], [false, true]);
    assert.ok(!stage.ran.includes('evil'));
  });

  it('A copy of a worktree, a clone and a submodule are other folders', async () => {
    await stage.approve('a');
    assert.equal(await serves(tree), true);
    const [copy, clone] = [path.join(stage.outside, 'copy'), path.join(stage.outside, 'clone')];
    cpSync(tree, copy, { recursive: true });
    git(stage.outside, 'clone', '--quiet', cli.folder, clone);
    git(cli.folder, 'submodule', '--quiet', 'add', cli.folder, 'sub');
    for (const folder of [copy, clone, path.join(cli.folder, 'sub')])
      assert.equal(await serves(folder), false, folder);
  });

  it('A moved repository has no approvals, and Git’s repair of its worktrees brings none', async () => {
    await stage.approve('a');
    const moved = path.join(stage.outside, 'moved');
    renameSync(cli.folder, moved);
    mkdirSync(cli.folder);
    git(moved, 'worktree', 'repair');
    assert.deepEqual([await serves(moved), await serves(tree)], [false, false]);
  });

  it('Trees of a bare repository share approvals', async () => {
    const bare = path.join(stage.outside, 'bare.git');
    git(stage.outside, 'clone', '--quiet', '--bare', cli.folder, bare);
    const trees = ['one', 'two'].map((name) => path.join(stage.outside, name));
    for (const [index, folder] of trees.entries())
      git(bare, 'worktree', 'add', '--quiet', '-b', `b${index}`, folder);
    await approveIn(trees[0] ?? '');
    assert.deepEqual([await serves(trees[0] ?? ''), await serves(trees[1] ?? '')], [true, true]);
    assert.equal(await serves(cli.folder), false);
  });
});
