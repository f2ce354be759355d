/** `tools --use`, `calls --by tool` and the budget of tokens (H1d), by the built command line. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { CommandLine } from '../../support/core/commandLine.js';
import { rawWith } from '../../support/core/configText.js';
import { recordDays } from '../../support/core/recordedUse.js';

const all = ['echo', 'fail', 'count', 'exit'];

interface Use {
  readonly id: string;
  readonly since?: number;
  readonly judgedDays?: number;
  readonly unusedTokens: number;
  readonly tools: readonly {
    readonly tool: string;
    readonly original: string;
    readonly tokens: number;
    readonly calls: number;
    readonly unused: boolean;
  }[];
}

describe('the use of tools on the command line (H1d)', () => {
  let cli: CommandLine;

  beforeEach(async () => {
    cli = await CommandLine.open({ a: rawWith(all, { transform: [{ prefix: 'a_' }] }) });
    const { folder, home } = cli;
    await recordDays({ folder, home, toolset: 'a', tools: ['echo', 'count'], days: 90 });
  });

  afterEach(() => cli.close());

  const use = async (...args: string[]): Promise<Use[]> => {
    const { stdout, stderr } = await cli.run('tools', '--use', '--json', ...args);
    assert.notEqual(stdout, '', stderr);
    return JSON.parse(stdout) as Use[];
  };

  it('The tools without a call come first, with what they cost, and one edit keeps them out', async () => {
    const before = readFileSync(cli.file, 'utf8');
    const [found] = await use();
    const shownTools = found?.tools ?? [];
    assert.deepEqual(
      shownTools.map(({ calls, unused }) => [calls, unused]),
      [
        [0, true],
        [0, true],
        [91, false],
        [91, false],
      ],
    );
    const [first, second] = shownTools;
    assert.ok((first?.tokens ?? 0) >= (second?.tokens ?? 0), 'the most expensive one comes first');
    assert.equal(found?.judgedDays, 30);
    const unused = found?.tools.filter((tool) => tool.unused) ?? [];
    assert.equal(
      found?.unusedTokens,
      unused.reduce((sum, { tokens }) => sum + tokens, 0),
    );
    const shown = await cli.run('tools', '--use');
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /^a +a_exit +~\d+ +0 \(unused\) +0$/m);
    assert.match(
      shown.stdout,
      /^a: used 2 of 4\. The others were never called in 30 days, and cost ~\d+ tokens/m,
    );
    assert.match(shown.stderr, /Nothing is written yet\. Add --write/);
    assert.equal(readFileSync(cli.file, 'utf8'), before);

    const written = await cli.run('tools', '--use', '--write');
    assert.equal(written.code, 0, written.stderr);
    assert.match(readFileSync(cli.file, 'utf8'), /blacklist: ?\[?\n? *-? ?(exit|fail)/);
    const [now] = await use();
    assert.deepEqual(
      now?.tools.map(({ original }) => original),
      ['echo', 'count'],
    );
    const again = await cli.run('tools', '--use', '--write');
    assert.deepEqual([again.code, again.stderr], [0, '']);
  });

  it('With --local, only the person’s own file changes, and the folder’s file stays', async () => {
    const before = readFileSync(cli.file, 'utf8');
    const local = path.join(path.dirname(cli.file), 'mcp.local.yaml');
    assert.equal((await cli.run('tools', '--use', '--local')).code, 0);
    assert.ok(!existsSync(local));
    assert.equal((await cli.run('tools', '--use', '--local', '--write')).code, 0);
    assert.match(readFileSync(local, 'utf8'), /blacklist/);
    assert.equal(readFileSync(cli.file, 'utf8'), before);
    assert.deepEqual(
      (await use())[0]?.tools.map(({ original }) => original),
      ['echo', 'count'],
    );
  });

  it('A server that was renamed keeps its counts, because its program is the same', async () => {
    await cli.run('call', 'a_exit', '{"code":0}');
    await cli.run('call', 'a_count');
    const text = readFileSync(cli.file, 'utf8');
    writeFileSync(cli.file, text.replace(/^( +)"?a"?:/m, '$1renamed:'));
    const [found] = await use();
    const calls = (name: string) => found?.tools.find(({ original }) => original === name)?.calls;
    assert.deepEqual(
      [found?.id, calls('exit'), calls('count'), calls('fail')],
      ['renamed', 1, 1, 0],
    );
  });

  it('Nothing is written while it is too early to call a tool unused', async () => {
    const early = await CommandLine.open({ b: rawWith(all) });
    try {
      const { folder, home } = early;
      await recordDays({ folder, home, toolset: 'b', tools: ['echo'], days: 5 });
      const { code, stdout, stderr } = await early.run('tools', '--use', '--write');
      assert.deepEqual([code, stderr], [0, '']);
      assert.match(
        stdout,
        /^b: counted since \S+\. No tool is called unused before 7 days and 20/m,
      );
    } finally {
      await early.close();
    }
  });

  it('`calls --by tool` starts no server and has the calls of each tool, also of a removed server', async () => {
    cli.save({ other: rawWith(['echo']) });
    const { code, stdout } = await cli.run('calls', '--by', 'tool');
    assert.equal(code, 0);
    assert.match(stdout, /^a +echo +91 +0 +\d{4}-\d\d-\d\d \d\d:\d\d/m);
    assert.equal((await cli.run('calls', '--by', 'agent')).code, 2);
    for (const option of ['--agent=codex', '--since=1d', '--failed', '--last=5', '--follow']) {
      const refused = await cli.run('calls', '--by', 'tool', option);
      assert.equal(refused.code, 2, option);
      const [name = ''] = option.split('=');
      assert.match(refused.stderr, new RegExp(`counts all calls, so it takes no ${name}\\.`));
    }
    assert.equal((await cli.run('calls', 'export', 'x.jsonl', '--by', 'tool')).code, 2);
    assert.equal((await cli.run('tools', '--write')).code, 2);
  });

  it('`check --start --max-tokens` fails above the budget and names the toolsets by size', async () => {
    cli.save({ small: rawWith(['echo'], { tools: { whitelist: ['echo'] } }), large: rawWith(all) });
    const over = await cli.run('check', '--start', '--max-tokens', '10');
    assert.equal(over.code, 1);
    assert.doesNotMatch(over.stdout, /No problems/);
    assert.match(
      over.stderr,
      /cost ~\d+ tokens .*, over the budget of 10: mcp_admin ~\d+, large ~\d+, small ~\d+/,
    );
    const within = await cli.run('check', '--start', '--max-tokens', '100000');
    assert.deepEqual([within.code, within.stderr], [0, '']);
    for (const wrong of [
      ['--max-tokens', '10'],
      ['--start', '--max-tokens', 'x'],
    ])
      assert.equal((await cli.run('check', ...wrong)).code, 2, wrong.join(' '));
  });
});
