/**
 * No command prints a secret of the configuration (E4). Some servers work, and some fail and quote
 * their secrets. Output is text, JSON, or text with traffic. Answers of tools are printed
 * unchanged.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { CommandLine } from '../../support/core/commandLine.js';
import { fixture, http } from '../../support/core/configText.js';

const canary = (name: string): string => `canary-${name}-5ca1ab1e`;
const canaries = /canary-[a-z]+-5ca1ab1e/g;

describe('secrets on the command line (E4)', () => {
  let cli: CommandLine;

  before(async () => {
    cli = await CommandLine.open();
    Object.assign(cli.env, { HOST_SECRET: canary('host'), KEPT: canary('kept') });
    const given = {
      env: {
        LITERAL: canary('literal'),
        HOST: { env: 'HOST_SECRET' },
        KEPT: { secret: 'KEPT' },
        PRINTED: { command: [process.execPath, 'print.mjs'] },
      },
      envFile: '.env',
    };
    const says = ['literal', 'host', 'kept', 'printed', 'file'].map(canary).join(' and ');
    cli.save({
      works: fixture('raw', ['--pass', canary('argument')], given),
      features: fixture('features', [], { ...given, transform: [{ prefix: 'f_' }] }),
      exits: fixture(
        'exits',
        ['--stderr', `not ${says}`, '--stdout', says, '--pass', canary('option')],
        given,
      ),
      far: http(`http://me:${canary('password')}@127.0.0.1:9/mcp?api_key=${canary('query')}`, {
        headers: { Authorization: `Bearer ${canary('bearer')}`, 'X-Api-Key': canary('header') },
      }),
      wrong: { transport: 'stdio', command: 'node', env: { TOKEN: [canary('list')] } },
    });
    writeFileSync(
      path.join(cli.folder, 'print.mjs'),
      `console.log(${JSON.stringify(canary('printed'))})`,
    );
    writeFileSync(path.join(cli.folder, '.env'), `FILE_TOKEN=${canary('file')}\n`);
    const server = {
      command: 'node',
      args: ['--token', canary('imported')],
      env: { API_KEY: canary('key') },
    };
    writeFileSync(
      path.join(cli.folder, 'claude.json'),
      JSON.stringify({ mcpServers: { other: server } }),
    );
  });

  after(() => cli.close());

  const commands: readonly (readonly string[])[] = [
    ['check'],
    ['status'],
    ['tools'],
    ['resources'],
    ['prompts'],
    ['entries', 'claude-code'],
    ['import', 'claude.json', '--format', 'claude-code'],
    ['call', 'pid'],
    ['call', 'no-such-tool'],
    ['read', 'note://one'],
    ['secret', 'list'],
  ];
  for (const args of commands) {
    // The output with `--debug` contains the output without it.
    for (const more of [['--debug'], ['--json']]) {
      const all = [...args, ...more];
      it(`\`${all.join(' ')}\` prints no secret`, async () => {
        const { stdout, stderr } = await cli.run(...all);
        assert.notEqual(stdout + stderr, '');
        assert.deepEqual([...new Set((stdout + stderr).match(canaries))], []);
      });
    }
  }

  it("Secrets in a server's texts are masked, and a tool’s answer is not", async () => {
    const { stdout } = await cli.run('status');
    assert.match(stdout, /not •••/);
    const answer = await cli.run('call', 'env', '{"name":"PRINTED"}', '--debug');
    assert.equal(answer.stdout, `${canary('printed')}\n`);
    assert.deepEqual(answer.stderr.match(canaries), null);
  });
});
