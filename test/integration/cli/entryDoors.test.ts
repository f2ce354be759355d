/** An entry in a file of a repository weakens nothing by its options (G6f, S4). */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { launcherPath } from '../../../src/core/base/paths.js';
import { writeLauncher } from '../../../src/core/files/launcherFile.js';
import { ApprovalStage } from '../../support/core/approvalStage.js';
import type { CommandLine, Output } from '../../support/core/commandLine.js';
import { configText } from '../../support/core/configText.js';
import { itNotHere } from '../../support/notHere.js';

const asRootIt = itNotHere(
  process.getuid?.() !== 0,
  'Only root can give a folder to another user.',
);

describe('the options of an entry for `connect`', () => {
  let stage: ApprovalStage;
  let cli: CommandLine;
  let other: string;

  beforeEach(async () => {
    stage = await ApprovalStage.open();
    ({ cli } = stage);
    other = path.join(stage.outside, 'other');
    mkdirSync(path.join(other, '.minds'), { recursive: true });
    mkdirSync(path.join(cli.folder, '.git'));
    const servers = configText({ a: stage.server('a') });
    cli.save(servers);
    writeFileSync(path.join(other, '.minds', 'mcp.yaml'), servers);
    await stage.approve('-C', other);
    await stage.approve();
  });

  afterEach(() => stage.close());

  /** Starts a command line of Node in the repository, without a client. */
  function entry(...args: string[]): Promise<Output> {
    const child = spawn(process.execPath, args, { cwd: cli.folder, env: cli.env });
    child.stdin.end();
    return cli.finishBeside(child);
  }

  for (const option of ['-C', '--token-file'])
    it(`in a repository, \`connect ${option}\` of a folder outside it is refused`, async () => {
      const [script = ''] = cli.commandOf('connect').args;
      const { code, stderr } = await entry(script, 'connect', 'a', option, other);
      assert.equal(code, 2);
      assert.match(
        stderr,
        /In a repository, `connect` takes no --(?:folder|token-file) outside it/,
      );
      assert.deepEqual(stage.ran, []);
    });

  it('the launcher takes -C if the entry names its path, and not if it is required', async () => {
    const [script = ''] = cli.commandOf('connect').args;
    await writeLauncher(cli.home, script);
    const required = `require(${JSON.stringify(launcherPath(cli.home))})`;
    assert.equal((await entry('-e', required, 'connect', 'a', '-C', other)).code, 2);
    assert.equal((await entry(launcherPath(cli.home), 'connect', 'a', '-C', other)).code, 0);
  });

  it('a person may use -C in every other command', async () => {
    assert.equal((await cli.run('check', '-C', other)).code, 0);
  });

  it('`connect --allow` does not allow a tool that the person denies', async () => {
    mkdirSync(path.join(cli.home, '.minds'), { recursive: true });
    writeFileSync(path.join(cli.home, '.minds', 'permissions.json'), '{"a_echo":"deny"}');
    const client = await stage.connect('a', '--allow', 'a_echo', '--allow', '*', '--ask', 'echo');
    assert.deepEqual(await stage.names(client), []);
    const { isError } = await client
      .callTool({ name: 'a_echo', arguments: {} })
      .catch(() => ({ isError: true }));
    assert.equal(isError, true);
  });

  asRootIt(
    'a folder that another user made where the person’s was inherits no approval, and a line says why',
    async () => {
      assert.deepEqual(await stage.namesFor('a'), ['a_echo']);
      stage.forgetRuns();
      chownSync(cli.folder, 65534, 65534);
      assert.deepEqual(await stage.namesFor('a'), []);
      const { code, stderr } = await cli.finishBeside(cli.begin('approve', '--yes'));
      assert.equal(code, 1);
      assert.match(stderr, /holds for this run only: .*another user owns that folder/);
      assert.deepEqual(stage.ran, []);
    },
  );
});
