/**
 * The home folder as a workspace, under every spelling of its path (C5). The editor writes
 * `c:\`, the system `C:\`, and links may lead to either.
 */
import assert from 'node:assert/strict';
import { realpathSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { CommandLine } from '../../support/core/commandLine.js';
import { Serving } from '../../support/core/serving.js';
import { fixture } from '../../support/core/configText.js';

describe('spellings of the folder', () => {
  let cli: CommandLine;
  let spellings: string[];

  beforeEach(async () => {
    cli = await CommandLine.open({ a: fixture('raw', ['--tools', 'echo']) });
    const system = realpathSync.native(cli.folder);
    const link = path.join(system, 'link');
    symlinkSync(system, link, 'junction');
    const others =
      process.platform === 'win32'
        ? [system.toUpperCase(), system.replace(/^[A-Z]/, (drive) => drive.toLowerCase())]
        : [];
    spellings = [system, link, ...others];
  });
  afterEach(() => cli.close());

  it('Every spelling of the folder serves each server of the workspace once', async () => {
    for (const home of [spellings[0], spellings.at(-1)] as string[]) {
      cli.useHome(home);
      for (const folder of spellings) {
        // The home folder itself keeps no approvals.
        const { code, stdout, stderr } = await cli.run(
          'status',
          '--json',
          '--approve',
          '-C',
          folder,
        );
        const status = JSON.parse(stdout) as {
          servers: { id: string; state: { kind: string } }[];
          problems: unknown[];
        };
        const found = status.servers.map(({ id, state }) => `${id} ${state.kind}`);
        assert.deepEqual(
          { code, found, problems: status.problems },
          { code: 0, found: ['a running'], problems: [] },
          `${folder} at ${home}: ${stderr}`,
        );
      }
    }
  }).timeout(300_000);

  it('All spellings of the folder have one token file', async () => {
    cli.useHome(spellings[0] ?? '');
    const said = new Set<string>();
    for (const folder of spellings) {
      const serving = await Serving.begin(cli, ['a'], '--approve', '-C', folder);
      said.add(serving.token);
      await serving.end();
    }
    assert.equal(said.size, 1);
  });
});
