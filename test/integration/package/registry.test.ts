/**
 * The package as a colleague gets it (G6c): from a registry, by `npx`, on each supported Node,
 * in an empty home. The registry listens on loopback for this run.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { version } from '../../../package.json';
import { apart, CommandLine, type Output } from '../../support/core/commandLine.js';
import { configText, rawWith } from '../../support/core/configText.js';
import { work } from '../../support/core/within.js';
import { freePort } from '../../support/freePort.js';
import { suiteNotHere } from '../../support/notHere.js';
import { startedByTest } from '../../support/core/leftovers.js';
import { cacheFolder, commandIn, installPinned } from '../../support/pinnedPrograms.js';

const cache = cacheFolder('MCP_TOOLSETS_PROGRAMS', 'mcp-toolsets-programs');
const nodes = ['20.20.2', '22.23.3', '24.21.0'];
const registryProgram = { package: 'verdaccio', version: '6.10.4' };
const ofRegistry = { runsScripts: false, overrides: { 'node-fetch': '2.7.0' } };

describe('the package in a registry', function () {
  suiteNotHere(this, process.platform === 'win32', 'npm is a batch file on Windows');
  this.timeout(300_000);
  let root: string;
  let registry: ChildProcess | undefined;
  let address: string;
  let cli: CommandLine;
  let forget = (): void => undefined;

  before(async () => {
    root = realpathSync(mkdtempSync(path.join(tmpdir(), 'registry-')));
    cli = await CommandLine.open();
    const port = await freePort();
    address = `http://127.0.0.1:${port}/`;
    const config = path.join(root, 'config.yaml');
    const rights = { access: '$all', publish: '$all', unpublish: '$all' };
    const settings = {
      storage: path.join(root, 'storage'),
      auth: { htpasswd: { file: path.join(root, 'htpasswd'), max_users: 10 } },
      packages: { '**': rights },
      log: { type: 'stdout', format: 'json', level: 'warn' },
      web: { enable: false },
      middlewares: {},
    };
    // JSON is YAML.
    writeFileSync(config, JSON.stringify(settings));
    const script = commandIn(
      await installPinned(cache, 'verdaccio', registryProgram, ofRegistry),
      'verdaccio',
    );
    // It does not run on the oldest supported Node.
    registry = spawn(
      await nodeOf('24.21.0'),
      [script, '--config', config, '--listen', `127.0.0.1:${port}`],
      {
        env: { ...cli.env, HOME: root },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const running = registry;
    forget = startedByTest('the registry', () => void running.kill('SIGKILL'));
    let said = '';
    for (const stream of [registry.stdout, registry.stderr])
      stream?.on('data', (chunk) => (said += String(chunk)));
    // It prints its address before it listens.
    let isListening = false;
    await work('the start of the registry', async () => {
      while (!isListening && running.exitCode === null) {
        isListening = (await fetch(`${address}-/ping`).catch(() => undefined)) !== undefined;
        if (!isListening) await pause(20);
      }
    });
    assert.ok(isListening, said);
    const account = await fetch(`${address}-/user/org.couchdb.user:ada`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'ada', password: 'not-a-secret' }),
    });
    const { token } = (await account.json()) as { token: string };
    const settingsOfNpm = path.join(root, 'npmrc');
    writeFileSync(settingsOfNpm, `registry=${address}\n//127.0.0.1:${port}/:_authToken=${token}\n`);
    const packed = await cli.packed();
    const published = await run(
      root,
      path.dirname(process.execPath),
      'npm',
      'publish',
      packed,
      '--userconfig',
      settingsOfNpm,
    );
    assert.equal(published.code, 0, published.stderr);
  });

  after(async () => {
    if (registry !== undefined) {
      const ended = once(registry, 'close');
      registry.kill();
      await ended;
      forget();
    }
    await cli.close();
    rmSync(root, { recursive: true });
  });

  async function nodeOf(node: string): Promise<string> {
    const pin = { package: 'node', version: node };
    return commandIn(await installPinned(cache, 'node', pin), 'node');
  }

  const envOf = (home: string, bin: string): Record<string, string> => ({
    ...(cli.env as Record<string, string>),
    HOME: home,
    PATH: `${bin}${path.delimiter}${process.env['PATH']}`,
    npm_config_registry: address,
    npm_config_cache: path.join(home, '.npm'),
    npm_config_update_notifier: 'false',
  });

  async function run(
    home: string,
    bin: string,
    command: string,
    ...args: string[]
  ): Promise<Output> {
    return await cli.finishWork(
      spawn(command, args, { cwd: folderOf(home), env: envOf(home, bin), ...apart }),
    );
  }

  function folderOf(home: string): string {
    const folder = path.join(home, 'workspace');
    mkdirSync(path.join(folder, '.minds'), { recursive: true });
    return folder;
  }

  for (const node of nodes) {
    it(`The package writes its entry, and the entry starts it by npx, on Node ${node} in an empty home`, async () => {
      const bin = path.dirname(await nodeOf(node));
      const home = path.join(root, node);
      const folder = folderOf(home);
      writeFileSync(
        path.join(folder, '.minds', 'mcp.yaml'),
        configText({ alpha: rawWith(['echo']) }),
      );
      const which = await run(home, bin, 'node', '--version');
      assert.equal(which.stdout, `v${node}\n`);
      const ours = ['-y', `mcp-toolsets@${version}`];
      const written = await run(
        home,
        bin,
        'npx',
        ...ours,
        'entries',
        'claude-code',
        '--write',
        '--yes',
      );
      assert.equal(written.code, 0, written.stderr);
      const { mcpServers } = JSON.parse(readFileSync(path.join(folder, '.mcp.json'), 'utf8')) as {
        mcpServers: Record<string, { command: string; args: string[] }>;
      };
      const entry = mcpServers['toolsets'] ?? assert.fail('no entry');
      assert.deepEqual(
        [entry.command, ...entry.args],
        ['npx', '-y', `mcp-toolsets@${version}`, 'connect'],
      );
      const client = new Client({ name: 'agent', version: '1' });
      const launch = {
        command: entry.command,
        args: entry.args,
        cwd: folder,
        env: envOf(home, bin),
      };
      // npx installs the package.
      const timeout = 900_000;
      await work('npx', () => client.connect(new StdioClientTransport(launch), { timeout }));
      const { content } = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
      assert.match(JSON.stringify(content), /hello/);
      await client.close();
    });
  }
});
