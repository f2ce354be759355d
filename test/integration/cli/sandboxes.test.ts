/**
 * `connect` in real sandboxes (G6g): it works without a socket, says in one line what the sandbox
 * does not allow, and shares an engine only with clients of the same sandbox.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { textOf } from '../../support/core/answerText.js';
import { CommandLine } from '../../support/core/commandLine.js';
import { fixture } from '../../support/core/configText.js';
import {
  sandboxes,
  whyNot,
  type Sandbox,
  type SandboxPlaces,
} from '../../support/core/sandboxes.js';
import { within } from '../../support/core/within.js';
import { untilNone } from '../../support/processes.js';

describe('mcp-toolsets connect in a sandbox', () => {
  let cli: CommandLine;
  let places: SandboxPlaces;
  const clients: Client[] = [];

  beforeEach(async () => {
    cli = await CommandLine.open({ alpha: fixture('raw', ['--tools', 'count,pid']) });
    // The files of the sandbox are neither in the home nor in the workspace.
    const beside = path.dirname(cli.folder);
    places = { writable: [cli.folder], file: path.join(beside, 'filter') };
    mkdirSync(cli.home, { recursive: true });
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    await cli.stopEngines();
    await untilNone(() => cli.processes(), 10_000);
    await cli.close();
  });

  const errors = (): string => path.join(path.dirname(cli.folder), 'stderr');

  /** Programs in a sandbox get pipes, because some may not ask what a socket is. */
  async function connect(sandbox?: Sandbox): Promise<Client> {
    const { command, args, env } = cli.commandOf('connect', 'alpha');
    const words = [...(sandbox?.words(places) ?? []), command, ...args];
    const piped = 'file=$1; shift; cat | "$@" 2>"$file" | cat';
    const client = new Client({ name: 'independent', version: '1' });
    clients.push(client);
    const transport = new StdioClientTransport({
      command: 'sh',
      args: ['-c', piped, 'sh', errors(), ...words],
      cwd: cli.folder,
      env: env as Record<string, string>,
    });
    await within(client.connect(transport), 'the connection');
    return client;
  }

  const count = async (client: Client): Promise<string> =>
    textOf(await client.callTool({ name: 'count', arguments: {} }));

  const said = (): string[] => readFileSync(errors(), 'utf8').split('\n').filter(Boolean);

  const limited: readonly (readonly [Sandbox, RegExp])[] = [
    [
      sandboxes.network,
      /does not allow listening on this machine \(E[A-Z]+\), so .* of its own\.$/,
    ],
    [
      sandboxes.bubblewrapWithoutLoopback,
      /does not allow listening on this machine \(E[A-Z]+\), so/,
    ],
    [
      sandboxes.readOnly,
      /does not allow writing files in \S+ \(EROFS\), so .* are not recorded\.$/,
    ],
    [sandboxes.filter, /does not allow listening on this machine \(EPERM\), so/],
    [
      sandboxes.all,
      /does not allow writing .* \(EROFS\) or listening .* \(EPERM\), so .* not recorded\.$/,
    ],
  ];

  for (const [sandbox, line] of limited) {
    it(`\`connect\` serves alone, and says why in one line: ${sandbox.title}`, async function () {
      const why = await whyNot(sandbox, places);
      if (why !== undefined) return this.skip();
      const client = await connect(sandbox);
      assert.deepEqual([await count(client), await count(client)], ['1', '2']);
      await client.close();
      await untilNone(() => cli.processes(), 10_000);
      assert.equal(said().length, 1, said().join('\n'));
      assert.match(said()[0] ?? '', line);
    });
  }

  it('A client in a sandbox and one outside share no engine, `status` says why, and `stop` ends only the engine that it can see', async function () {
    const why = await whyNot(sandboxes.processes, places);
    if (why !== undefined) return this.skip();
    const outside = await connect();
    const inside = await connect(sandboxes.processes);
    assert.deepEqual([await count(outside), await count(inside)], ['1', '1']);
    const engines = cli.processes().filter(({ command }) => command.includes('cli.js engine'));
    assert.equal(engines.length, 2);
    const status = await cli.finishBeside(cli.begin('status'));
    assert.match(status.stdout, /Served by an engine .* for independent/);
    assert.match(
      status.stdout,
      /Elsewhere, an engine .* differs in: mount namespace, process namespace.*\. So no client from here joins it\./,
    );
    const stopped = await cli.finishBeside(cli.begin('stop'));
    assert.match(stopped.stdout, /^The engine \(version \S+, process \d+\) has ended\. .*\n$/);
    assert.match(stopped.stderr, /^Elsewhere, an engine .* ends it only from there\.\n$/);
    assert.equal(await count(inside), '2');
    await inside.close();
  });
});
