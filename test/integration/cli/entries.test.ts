/**
 * `mcp-toolsets entries` (G6): one entry for every agent, which connects from a clone of the
 * folder.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CommandLine, type Output } from '../../support/core/commandLine.js';
import { rawWith } from '../../support/core/configText.js';
import { Serving } from '../../support/core/serving.js';

interface Entry {
  readonly command: string;
  readonly args: string[];
}

describe('mcp-toolsets entries', () => {
  let cli: CommandLine;
  let serving: Serving | undefined;
  const agentsFile = (): string => path.join(cli.folder, '.mcp.json');

  beforeEach(async () => {
    cli = await CommandLine.open({ alpha: rawWith(['pid']) });
  });

  afterEach(async () => {
    await serving?.end();
    serving = undefined;
    await cli.close();
  });

  function entryIn(name: string, file = agentsFile()): Entry {
    const { mcpServers } = JSON.parse(readFileSync(file, 'utf8')) as {
      mcpServers: Record<string, Entry>;
    };
    return mcpServers[name] ?? assert.fail(`no entry ${name}`);
  }

  /** Starts an entry of the agent's file in the folder, as an agent does. */
  async function startEntry(name: string, file = agentsFile()): Promise<Client> {
    const { command, args } = entryIn(name, file);
    const client = new Client({ name: 'agent', version: '1' });
    const env = cli.env as Record<string, string>;
    await client.connect(new StdioClientTransport({ command, args, cwd: cli.folder, env }));
    return client;
  }

  const pidOf = async (client: Client): Promise<number> => {
    const { content } = await client.callTool({ name: 'pid' });
    return Number((content as { text: string }[])[0]?.text);
  };

  it('`entries` shows its change to an agent’s file, and writes it and the launcher with --write', async () => {
    writeFileSync(agentsFile(), '{\n  "mcpServers": { "own": { "command": "x" } } // by hand\n}\n');
    const shown = await cli.run('entries', 'claude-code');
    assert.deepEqual([shown.code, shown.stdout.includes('connect')], [0, true]);
    assert.match(shown.stderr, /Nothing is written yet/);
    assert.ok(!readFileSync(agentsFile(), 'utf8').includes('connect'));
    assert.ok(!existsSync(path.join(cli.home, '.minds', 'bin')));
    const written = await cli.run('entries', 'claude-code', '--write');
    assert.equal(written.code, 0, written.stderr);
    const text = readFileSync(agentsFile(), 'utf8');
    assert.match(
      text,
      /^\{\n {2}"mcpServers": \{ "own": \{ "command": "x" \}, .* \} \/\/ by hand\n\}\n$/,
    );
    const { mcpServers } = JSON.parse(text.replace('// by hand', '')) as { mcpServers: object };
    assert.deepEqual(Object.keys(mcpServers), ['own', 'toolsets']);
    const unknown = await cli.run('entries', 'emacs');
    assert.deepEqual([unknown.code, unknown.stdout], [2, '']);
  });

  it('One entry offers the tools of all toolsets by one process, also of a toolset that is added later (G6k)', async () => {
    cli.save({ alpha: rawWith(['pid']), beta: rawWith(['echo']) });
    assert.equal((await cli.run('entries', 'claude-code', '--write', '--yes')).code, 0);
    const named = async (): Promise<string[]> => {
      cli.approveAll();
      const client = await startEntry('toolsets');
      const { tools } = await client.listTools();
      const connects = cli.processes().filter(({ command }) => / connect(?: |$)/.test(command));
      assert.equal(connects.length, 1);
      await client.close();
      return tools.map(({ name }) => name);
    };
    const before = await named();
    for (const name of ['pid', 'echo', 'mcp_status']) assert.ok(before.includes(name), name);
    cli.save({ alpha: rawWith(['pid']), beta: rawWith(['echo']), gamma: rawWith(['count']) });
    await cli.stopEngines();
    assert.ok((await named()).includes('count'));
  });

  it('Entries of single toolsets stay, and after the step of the report one entry is there', async () => {
    assert.equal((await cli.run('entries', 'claude-code', '--each', '--write')).code, 0);
    const each = readFileSync(agentsFile(), 'utf8');
    const kept = await cli.run('entries', 'claude-code', '--write');
    assert.equal(kept.code, 0);
    assert.equal(readFileSync(agentsFile(), 'utf8'), each);
    const [, names = '', command = ''] =
      /remove (.+) from \.mcp\.json\. Then run `mcp-toolsets (.+?)`/.exec(kept.stderr) ??
      assert.fail(kept.stderr);
    const { mcpServers } = JSON.parse(each) as { mcpServers: Record<string, unknown> };
    for (const [, name = ''] of names.matchAll(/`(\w+)`/g)) delete mcpServers[name];
    writeFileSync(agentsFile(), JSON.stringify({ mcpServers }));
    assert.equal((await cli.run(...command.split(' '))).code, 0);
    const now = JSON.parse(readFileSync(agentsFile(), 'utf8')) as typeof mcpServers;
    assert.deepEqual(Object.keys(now['mcpServers'] as object), ['toolsets']);
  });

  it('A committed entry starts in a fresh clone without `npm install`, and without the launcher it prints one line', async () => {
    assert.equal((await cli.run('entries', 'claude-code', '--write', '--yes')).code, 0);
    const client = await startEntry('toolsets');
    assert.ok((await client.listTools()).tools.length > 1);
    await client.close();
    await cli.stopEngines();
    const { args } = entryIn('toolsets');
    cli.useHome(path.join(cli.folder, '..', 'home-of-a-colleague'));
    const child = spawn(process.execPath, args, { cwd: cli.folder, env: cli.env });
    const { code, stdout, stderr } = await cli.finishBeside(child);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^MCP Toolsets cannot start: .+ run: mcp-toolsets (.+)\n$/);
    const [, command = ''] = /run: mcp-toolsets (.+)\n$/.exec(stderr) ?? [];
    const before = readFileSync(agentsFile(), 'utf8');
    assert.equal((await cli.run(...command.split(' '), '--yes')).code, 0);
    assert.equal(readFileSync(agentsFile(), 'utf8'), before, 'the step changes no committed file');
    const again = await startEntry('toolsets');
    assert.ok((await again.listTools()).tools.some(({ name }) => name === 'pid'));
    await again.close();
  });

  it('An entry serves the folder itself, and reaches `serve` of the folder if it runs', async () => {
    assert.equal((await cli.run('entries', 'claude-code', '--each', '--write', '--yes')).code, 0);
    const alone = await startEntry('alpha');
    const command = (): string[] => cli.processes().map((found) => found.command);
    assert.ok((await pidOf(alone)) > 0);
    assert.ok(command().some((line) => line.includes('raw.mjs')));
    await alone.close();
    await cli.stopEngines();
    serving = await Serving.begin(cli, ['alpha', 'mcp_admin']);
    const one = await startEntry('alpha');
    const all = await startEntry('mcp_admin');
    assert.ok((await pidOf(one)) > 0);
    await serving.until(/alpha/);
    const { content } = await all.callTool({ name: 'mcp_status' });
    assert.match(JSON.stringify(content), /alpha: running/);
    await one.close();
    await all.close();
  });

  /** Copies the build as a package without a record of npm. Resolves with its `cli.js`. */
  function packageIn(folder: string): string {
    const dist = path.dirname(cli.commandOf('entries').args[0] ?? '');
    const target = path.join(folder, 'node_modules', 'mcp-toolsets');
    cpSync(dist, path.join(target, 'dist'), { recursive: true });
    cpSync(path.join(dist, '..', 'package.json'), path.join(target, 'package.json'));
    return path.join(target, 'dist', 'cli.js');
  }

  const runIn = (script: string, ...args: string[]): Promise<Output> =>
    cli.finishBeside(spawn(process.execPath, [script, ...args], { cwd: cli.folder, env: cli.env }));

  it('A package that no registry has writes no `npx`, and entries of the home folder start its launcher (G6c)', async () => {
    cli.approveAll();
    const script = packageIn(path.join(cli.home, 'lib'));
    const planted = path.join(cli.folder, 'node_modules', 'mcp-toolsets');
    mkdirSync(planted, { recursive: true });
    writeFileSync(path.join(planted, 'package.json'), '{ "name": "mcp-toolsets", "bin": "x.js" }');
    for (const agent of ['claude-code', 'windsurf']) {
      const { code, stderr } = await runIn(script, 'entries', agent, '--write');
      assert.equal(code, 0, stderr);
    }
    const home = path.join(cli.home, '.codeium', 'windsurf', 'mcp_config.json');
    const [ofFolder, ofHome] = [agentsFile(), home].map((file) => readFileSync(file, 'utf8'));
    assert.doesNotMatch(`${ofFolder}${ofHome}`, /npx/);
    const { mcpServers } = JSON.parse(ofHome ?? '') as { mcpServers: Record<string, Entry> };
    const launcher = path.join(cli.home, '.minds', 'bin', 'mcp-toolsets.js');
    assert.deepEqual(mcpServers['toolsets'], {
      command: 'node',
      args: [launcher, 'connect', '-C', realpathSync(cli.folder)],
    });
    assert.ok(readFileSync(launcher, 'utf8').includes(JSON.stringify(realpathSync(script))));
    const client = await startEntry('toolsets', home);
    assert.ok((await pidOf(client)) > 0);
    await client.close();
  });

  it('A package in the folder is in no launcher, because the folder could replace it (G6e)', async () => {
    cli.approveAll();
    const script = packageIn(cli.folder);
    const refused = await runIn(script, 'entries', 'windsurf', '--write');
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assert.match(
      refused.stderr,
      /^Nothing was written: a repository could replace this command line.* install the package with `npm install --global`\./,
    );
    assert.ok(!existsSync(path.join(cli.home, '.minds', 'bin')));
    const other = packageIn(path.join(cli.home, 'lib'));
    assert.equal((await runIn(other, 'entries', 'windsurf', '--write')).code, 0);
    const launcher = readFileSync(path.join(cli.home, '.minds', 'bin', 'mcp-toolsets.js'), 'utf8');
    assert.equal((await runIn(script, 'entries', 'cursor', '--write')).code, 0);
    assert.equal(
      readFileSync(path.join(cli.home, '.minds', 'bin', 'mcp-toolsets.js'), 'utf8'),
      launcher,
    );
  });

  it('Two people get the same bytes for a file of the folder', async () => {
    const written = async (): Promise<string> => {
      const { code, stderr } = await cli.run('entries', 'claude-code', '--write');
      assert.equal(code, 0, stderr);
      return readFileSync(agentsFile(), 'utf8');
    };
    const first = await written();
    await cli.close();
    cli = await CommandLine.open({ alpha: rawWith(['pid']) });
    assert.equal(await written(), first);
    assert.ok(![cli.folder, cli.home, '127.0.0.1'].some((word) => first.includes(word)), first);
  });
});
