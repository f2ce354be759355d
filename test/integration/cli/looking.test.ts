/** `status`, `tools` and other commands that only look: beside `serve`, they start nothing (H1). */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { linesOf } from '../../../src/core/base/text.js';
import { CommandLine, type Output } from '../../support/core/commandLine.js';
import { fixture } from '../../support/core/configText.js';
import { Serving } from '../../support/core/serving.js';

/** They differ between two processes. */
const ofProcess = new Set(['instances', 'gateways', 'since', 'version']);

describe('commands that look at the servers', () => {
  let cli: CommandLine;
  let starts: string;
  const commands = [
    ['status'],
    ['status', '--json'],
    ['tools', 'files'],
    ['tools', '--json'],
    ['resources', '--json'],
    ['prompts', '--json'],
    ['explain', 'count', '--json'],
    ['explain', 'nothing'],
  ];

  beforeEach(async () => {
    cli = await CommandLine.open();
    starts = path.join(cli.folder, 'starts');
    save('count');
  });

  afterEach(() => cli.close());

  function save(without: string, more = {}): void {
    const files = ['--tools', 'echo,count', '--starts', starts];
    cli.save({
      files: fixture('raw', files, { tools: { blacklist: [without] } }),
      forms: fixture('features'),
      ...more,
    });
  }

  const begun = (): number =>
    existsSync(starts) ? linesOf(readFileSync(starts, 'utf8')).length : 0;

  const run = (...words: string[]): Promise<Output> => cli.finishBeside(cli.begin(...words));

  /** What a command shows of the servers, in whichever process they run. */
  function shown({ stdout, stderr, code }: Output): unknown {
    const isJson = /^[{[]/.test(stdout);
    const common = isJson
      ? JSON.parse(stdout, (key, value: unknown) => (ofProcess.has(key) ? undefined : value))
      : linesOf(stdout).filter((line) => !line.startsWith('Served by'));
    return { common: common as unknown, stderr, code };
  }

  it('Beside `serve`, they show its servers with the output of their own starts, and start none', async () => {
    const alone: unknown[] = [];
    for (const words of commands) alone.push(shown(await run(...words)));
    assert.equal(begun(), commands.length);
    assert.match((await run('calls')).stdout, /^No calls are recorded/, 'a look is no fact (H1b)');
    const serving = await Serving.begin(cli, ['files', 'forms']);
    try {
      const before = begun();
      const beside: unknown[] = [];
      for (const words of commands) beside.push(shown(await run(...words)));
      assert.deepEqual(beside, alone);
      assert.equal(begun(), before);
      save('echo');
      assert.match((await run('tools')).stdout, /\(echo\)/, 'an edit counts at once (R1)');
      assert.equal(begun(), before);
      assert.match((await run('tools', '--deny', 'count')).stdout, /\(count\)/);
      assert.equal(begun(), before + 1, '`serve` does not know the options (S4)');
    } finally {
      await serving.end();
    }
  });

  it('Beside `serve`, a server that waits for approval is named, and starts nowhere (S1i)', async () => {
    const serving = await Serving.begin(cli, ['files', 'forms']);
    try {
      cli.approves = false;
      save('count', { late: fixture('raw', ['--tools', 'echo', '--starts', starts]) });
      const before = begun();
      const { code, stdout, stderr } = await run('status');
      assert.equal(code, 1);
      assert.match(stdout, /^late .*waits for approval$/m);
      assert.match(stderr, /^late waits for approval\. Run `mcp-toolsets approve late`/m);
      assert.equal(begun(), before);
    } finally {
      await serving.end();
    }
  });
});
