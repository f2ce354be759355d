/** Lost output ends no running command (H1), after the end of the terminal or on a full disk. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { addressNotes } from '../../support/core/addressNotes.js';
import { CommandLine } from '../../support/core/commandLine.js';
import { fixture } from '../../support/core/configText.js';
import { Terminal, terminalsMissing } from '../../support/core/terminal.js';
import { untilSo, within } from '../../support/core/within.js';
import { suiteNotHere } from '../../support/notHere.js';
import { untilNone } from '../../support/processes.js';

const lost = 'nothing_of_this_name';

describe('output that cannot be written', function () {
  suiteNotHere(this, terminalsMissing.here, terminalsMissing.reason);
  let cli: CommandLine;

  beforeEach(async () => {
    cli = await CommandLine.open({ a: fixture('raw', ['--tools', 'echo']) });
  });

  afterEach(() => cli.close());

  /** With an output on a full disk. */
  function onFullDisk(args: readonly string[], stderr?: 'pipe'): ChildProcess {
    const { command, args: words, env } = cli.commandOf(...args);
    const full = openSync('/dev/full', 'w');
    try {
      return spawn(command, words, {
        cwd: cli.folder,
        env,
        stdio: ['ignore', full, stderr ?? full],
      });
    } finally {
      closeSync(full);
    }
  }

  /** Makes `serve` print something, and checks that it still serves. */
  async function saysAndServes(): Promise<void> {
    const own = (name: string): string => readFileSync(path.join(cli.folder, name), 'utf8');
    const [note = ''] = addressNotes(path.join(cli.folder, 'own.token'));
    const { port } = JSON.parse(readFileSync(note, 'utf8')) as { port: number };
    const headers = { authorization: `Bearer ${own('own.token').trim()}` };
    const upstreams = async (): Promise<string> =>
      await (
        await fetch(`http://127.0.0.1:${port}/api/v1/users/mcp/upstreams`, { headers })
      ).text();
    cli.save({ a: fixture('raw', ['--tools', 'echo'], { tools: { whitelist: ['echo', lost] } }) });
    const isKnown = async (): Promise<void> => {
      while (!(await upstreams()).includes(lost)) await upstreams();
    };
    await within(isKnown(), 'the problem');
    // The first edit has printed by the time the second is applied.
    cli.save({ a: fixture('raw', ['--tools', 'echo'], { tools: { whitelist: ['echo'] } }) });
    const isGone = async (): Promise<void> => {
      while ((await upstreams()).includes(lost)) await upstreams();
    };
    await within(isGone(), 'its end');
  }

  const serve = ['serve', '--port', '0', '--token-file', 'own.token'] as const;

  it('`serve` goes on after its terminal has gone', async () => {
    const { command, args, env } = cli.commandOf(...serve);
    const terminal = new Terminal(
      { command: 'setsid', args: ['-w', command, ...args], env },
      cli.folder,
    );
    await terminal.until(/a {2}http\S+ {2}1 tool/);
    await terminal.close();
    await saysAndServes();
    const ours = cli.processes().filter(({ command: words }) => words.includes('cli.js serve'));
    for (const { pid } of ours) process.kill(pid, 'SIGTERM');
    await untilNone(() => cli.processes(), 10_000);
    assert.equal(ours.length, 1);
  });

  it('`serve` goes on with a full disk and ends well', async () => {
    const child = onFullDisk(serve);
    const closed = once(child, 'close');
    const tokenFile = path.join(cli.folder, 'own.token');
    await untilSo(() => addressNotes(tokenFile).length > 0, 'the address');
    await saysAndServes();
    child.kill('SIGTERM');
    assert.deepEqual(await within(closed, 'the end of serve'), [143, null]);
    await cli.leftNothing(child);
  });

  for (const args of [['check'], ['tools'], ['--help'], ['chekc']]) {
    it(`\`${args.join(' ')}\` on a full disk does not report success`, async () => {
      const wanted = args[0] === 'chekc' ? 2 : 1;
      assert.equal((await cli.finish(onFullDisk(args))).code, wanted);
      const { code, stderr } = await cli.finish(onFullDisk(args, 'pipe'));
      assert.equal(code, wanted);
      if (wanted === 1) assert.match(stderr, /^The output could not be written: ENOSPC[^\n]*\n$/);
    });
  }
});
