/**
 * Commands without a home folder (S1g): nothing of ours goes to the working directory, and the
 * message says why.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ApprovalStage } from '../../support/core/approvalStage.js';
import type { CommandLine } from '../../support/core/commandLine.js';

describe('the command line without a home folder', () => {
  let stage: ApprovalStage;
  let cli: CommandLine;

  beforeEach(async () => {
    stage = await ApprovalStage.open();
    ({ cli } = stage);
    cli.save({ a: stage.server('a') });
    cli.approves = false;
  });

  afterEach(() => stage.close());

  const here = (): string[] =>
    readdirSync(cli.folder, { recursive: true, encoding: 'utf8' }).map((name) =>
      name.replaceAll('\\', '/'),
    );

  for (const home of ['', '.'])
    for (const args of [
      ['approve', '--yes'],
      ['check', '--start', '--approve'],
      ['status', '--approve'],
      ['tools', '--approve'],
      ['call', 'x', '--approve'],
      ['serve', '--approve'],
      ['connect', 'a'],
      ['engine'],
      ['stop'],
      ['entries', 'cursor', '--write'],
      ['calls'],
    ])
      it(`HOME=${JSON.stringify(home)}: \`${args.join(' ')}\` ends with a line, starts nothing and writes nothing`, async () => {
        cli.env['HOME'] = cli.env['USERPROFILE'] = home;
        const before = here();
        const { code, stderr } = await cli.run(...args);
        assert.equal(code, 1);
        assert.match(stderr, /HOME names no folder by an absolute path/);
        assert.deepEqual([here(), stage.ran], [before, []]);
      });

  it('`check` goes on without a home folder, and no file of the folder counts as the person’s own', async () => {
    cli.env['HOME'] = cli.env['USERPROFILE'] = '';
    writeFileSync(path.join(cli.folder, '.minds', 'permissions.json'), 'not JSON');
    const { code, stderr } = await cli.run('check');
    assert.equal(code, 0);
    assert.match(stderr, /nothing is approved/);
  });

  it('a file of approvals in the working directory approves nothing if HOME is empty', async () => {
    cli.approveAll();
    const text = JSON.stringify({ version: 1, approvals: stage.stored });
    mkdirSync(path.join(cli.folder, '.minds'), { recursive: true });
    writeFileSync(path.join(cli.folder, '.minds', 'approvals.json'), text, { mode: 0o600 });
    cli.env['HOME'] = cli.env['USERPROFILE'] = '';
    const { code } = await cli.run('check', '--start');
    assert.deepEqual([code, stage.ran], [1, []]);
  });
});
