/**
 * Servers that an agent starts repeatedly by `connect` (S1). An unseen change since the approval
 * never runs.
 */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { textOf } from '../../support/core/answerText.js';
import { ApprovalStage } from '../../support/core/approvalStage.js';
import type { CommandLine } from '../../support/core/commandLine.js';
import { http, type Entry } from '../../support/core/configText.js';
import { within } from '../../support/core/within.js';

describe('connect and approvals (S1)', () => {
  let stage: ApprovalStage;
  let cli: CommandLine;

  beforeEach(async () => {
    stage = await ApprovalStage.open();
    ({ cli } = stage);
  });

  afterEach(() => stage.close());

  it('`connect` starts no waiting server, says so, and starts it after approval', async () => {
    cli.save({ a: stage.server('a'), b: stage.server('b') });
    const [one, all] = [await stage.connect('a'), await stage.connect()];
    assert.deepEqual([await stage.names(one), await stage.names(all), stage.ran], [[], [], []]);
    const how = (id: string): string =>
      `approve its start (by \`mcp-toolsets approve ${id} -C ${realpathSync(cli.folder)}\` at a terminal, or in the editor)`;
    const instructions = one.getInstructions() ?? '';
    assert.ok(instructions.includes(`waiting for a person to ${how('a')}`), instructions);
    const status = textOf(await all.callTool({ name: 'mcp_status' }));
    assert.ok(status.includes(`b: waits for the person to ${how('b')}`), status);
    const changed = new Promise<void>((resolve) => {
      one.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
    });
    await stage.approve('a');
    await within(changed, 'list_changed');
    assert.deepEqual([await stage.names(one), stage.ran], [['a_echo'], ['a']]);
    assert.deepEqual(stage.storedNames, ['a']);
  });

  it('`connect NAME` offers only this server, and starts only this server if it serves its client alone', async () => {
    cli.save({ a: stage.server('a'), b: stage.server('b') });
    await stage.approve();
    assert.deepEqual(await stage.namesFor('b', '--hold-changed'), ['b_echo']);
    assert.deepEqual(stage.ran, ['b']);
    assert.deepEqual(await stage.namesFor('b'), ['b_echo']);
  });

  it('A revoked approval applies to `connect` too, during its run and later', async () => {
    cli.save({ a: stage.server('a') });
    await stage.approve();
    const client = await stage.connect('a');
    assert.deepEqual(await stage.names(client), ['a_echo']);
    const changed = new Promise<void>((resolve) => {
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
    });
    await stage.revoke();
    await within(changed, 'list_changed');
    assert.deepEqual(await stage.names(client), []);
    assert.deepEqual(await stage.namesFor('a'), []);
  });

  describe('approved means shown', () => {
    let listener: Server;
    let url: string;
    const asked: string[] = [];

    beforeEach(async () => {
      asked.length = 0;
      listener = createServer((request, response) => {
        asked.push(JSON.stringify(request.headers));
        response.writeHead(404).end();
      });
      await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
      url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`;
      cli.env['STORED'] = 'canary-0123456789';
      writeFileSync(path.join(cli.folder, '.env'), 'OF_FILE=1\n');
      mkdirSync(path.join(cli.folder, 'sub'));
    });

    afterEach(async () => {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
    });

    const base = (): Record<string, Entry> => ({
      a: stage.server('a', { envFile: '.env' }),
      web: http(url),
    });
    const edits: [string, () => Record<string, Entry>][] = [
      ['an argument', () => ({ ...base(), a: stage.server('evil', { envFile: '.env' }) })],
      [
        'a variable',
        () => ({
          ...base(),
          a: stage.server('a', { envFile: '.env', env: { NODE_OPTIONS: '--no-warnings' } }),
        }),
      ],
      [
        'a stored secret in a variable',
        () => ({
          ...base(),
          a: stage.server('a', { envFile: '.env', env: { X: { env: 'STORED' } } }),
        }),
      ],
      [
        'another folder of a server',
        () => ({ ...base(), a: stage.server('a', { envFile: '.env', cwd: 'sub' }) }),
      ],
      [
        'a file of variables',
        () => {
          writeFileSync(path.join(cli.folder, '.env'), 'OF_FILE=2\n');
          return base();
        },
      ],
      ['an added server', () => ({ ...base(), evil: stage.server('evil') })],
      [
        'a header with a stored secret',
        () => ({ ...base(), web: http(url, { headers: { 'X-Sent': { secret: 'STORED' } } }) }),
      ],
      ['an address', () => ({ ...base(), web: http(`${url}/elsewhere`) })],
    ];
    for (const [what, edited] of edits) {
      it(`A pulled change waits at each start of \`connect\`: ${what}`, async () => {
        cli.save(base());
        await stage.approve();
        assert.deepEqual(await stage.namesFor('a'), ['a_echo']);
        stage.forgetRuns();
        cli.save(edited());
        for (let start = 0; start < 2; start++) {
          const client = await stage.connect();
          const status = textOf(await client.callTool({ name: 'mcp_status' }));
          assert.equal(status.match(/waits for the person to approve/g)?.length, 1, status);
          if (status.includes('a: waits')) assert.deepEqual(stage.ran, []);
          await stage.end();
        }
        assert.ok(!stage.ran.includes('evil'));
        assert.ok(!asked.some((headers) => headers.includes('canary')));
      });
    }
  });

  it('A folder counts as the same through every link, but a copy and a changed link count as others', async () => {
    cli.save({ a: stage.server('a') });
    await stage.approve();
    const waits = async (folder: string): Promise<boolean> =>
      (await cli.run('approve', '-C', folder)).code === 1;
    const [link, copy] = [path.join(stage.outside, 'link'), path.join(stage.outside, 'copy')];
    symlinkSync(cli.folder, link, 'junction');
    cpSync(cli.folder, copy, { recursive: true });
    assert.deepEqual([await waits(link), await waits(copy)], [false, true]);
    rmSync(link);
    symlinkSync(copy, link, 'junction');
    assert.equal(await waits(link), true);
    await stage.approve('-C', link);
    assert.equal(await waits(copy), false);
    assert.deepEqual(
      stage.stored.map(({ source }) => source),
      [cli.folder, copy].map((folder) => path.join(realpathSync(folder), '.minds', 'mcp.yaml')),
    );
  });

  it('A folder that contains the approvals brings none, because they would come with the folder', async () => {
    cli.save({ a: stage.server('a') });
    await stage.approve();
    // The same approvals as part of the folder, for example in a home folder with a repository.
    const home = path.join(cli.folder, 'home');
    mkdirSync(path.join(home, '.minds'), { recursive: true });
    cpSync(cli.approvalsFile, path.join(home, '.minds', 'approvals.json'));
    cli.useHome(home);
    assert.deepEqual(await stage.namesFor('a'), []);
    const { code, stderr } = await cli.finishBeside(cli.begin('approve', '--yes'));
    assert.equal(code, 1);
    assert.match(stderr, /holds for this run only: .* lies in the folder of the config file/);
    assert.deepEqual(stage.ran, []);
  });
});
