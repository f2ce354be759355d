/**
 * The main job in the real editor: the file becomes tools, an edit changes them, a mistake is a
 * problem.
 */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import {
  entry,
  invoke,
  problems,
  readConfig,
  removeConfig,
  replaceConfig,
  servers,
  until,
  untilProblems,
  untilTools,
  writeConfig,
} from '../../support/editor/product.ts';

const start = [
  'mcp_alpha_echo',
  'mcp_alpha_pid',
  'mcp_alpha_count',
  'mcp_alpha_quiet',
  'mcp_beta_echo',
  'mcp_beta_add',
];

describe('curation', () => {
  let original: string;

  before(async () => {
    original = await readConfig();
    await untilTools(start);
  });

  afterEach(async () => {
    await writeConfig(original);
    await untilTools(start);
    await untilProblems([]);
  });

  it('Tools appear without a click, a chat message or a reload (G1, G5)', () => {
    const set = vscode.lm.tools.find((tool) => tool.name === 'mcp_alpha_echo');
    assert.ok(set);
    assert.equal((set.inputSchema as { type?: string }).type, 'object');
  });

  it('`lm.invokeTool` runs a tool', async () => {
    assert.equal(await invoke('mcp_beta_echo', { text: 'hello' }), 'hello');
    assert.equal(await invoke('mcp_beta_add', { a: 2, b: 3 }), '5');
  });

  it('A change of a filter or transform changes the tools without a restart (R2)', async () => {
    const pid = await invoke('mcp_alpha_pid');
    await writeConfig(
      original.replace(
        "[{ prefix: 'alpha_' }]",
        '[{ suffix: _v2 }]\n    tools: { whitelist: [pid] }',
      ),
    );
    await untilTools(['mcp_alpha_pid_v2', 'mcp_beta_echo', 'mcp_beta_add']);
    assert.equal(await invoke('mcp_alpha_pid_v2'), pid);
  });

  it('A file replaced by a rename is followed', async () => {
    await replaceConfig(original.replace('beta:', 'gamma:'));
    await untilTools(start.map((id) => id.replace('beta', 'gamma')));
  });

  it('A deleted and restored file is followed', async () => {
    await removeConfig();
    await untilTools([]);
    await until(servers, (all) => all.length === 0, 'no server’s process');
    await writeConfig(original);
    await untilTools(start);
  });

  it('A call finishes after the removal of its server (R4)', async () => {
    const call = invoke('mcp_alpha_quiet', { ms: 3000 });
    // An answer to a second call on the same instance proves that the first has reached the server.
    await invoke('mcp_alpha_pid');
    await writeConfig(
      `version: 1\nservers:\n  beta: ${entry('raw.mjs', ['--tools', 'echo,add'])}\n`,
    );
    await untilTools(['mcp_beta_echo', 'mcp_beta_add']);
    assert.equal(await call, 'done');
  });

  it('A cancelled token cancels the call at the server (X6)', async () => {
    const source = new vscode.CancellationTokenSource();
    const call = invoke('mcp_alpha_quiet', { ms: 60_000 }, source.token);
    await invoke('mcp_alpha_pid');
    source.cancel();
    await assert.rejects(Promise.resolve(call));
  });

  describe('mistakes in the file', () => {
    const keep = (text: string): string => `${original.trimEnd()}\n${text}`;

    it('A YAML mistake refuses the file, at its place, and every server runs on', async () => {
      await writeConfig(original.replace('servers:', 'servers: {'));
      const [problem] = await until(problems, (all) => all.length > 0, 'a problem');
      assert.equal(problem?.code, 'yaml-syntax');
      assert.equal(problem.severity, 'Error');
      assert.equal(await invoke('mcp_beta_echo', { text: 'still' }), 'still');
    });

    it('A mistake in a command is a problem at the command, and costs only its server', async () => {
      await writeConfig(
        keep('  broken:\n    transport: stdio\n    command: no-such-command-anywhere\n'),
      );
      const [problem] = await untilProblems(['command-not-found no-such-command-anywhere']);
      assert.match(problem?.message ?? '', /PATH/);
      await untilTools(start);
    });

    it("A mistake that ends a server at once is a problem with the server's last output", async () => {
      await writeConfig(keep(`  broken: ${entry('exits.mjs')}\n`));
      const [problem] = await untilProblems(['server-exited broken']);
      assert.match(problem?.message ?? '', /exit/i);
      await untilTools(start);
    });

    it('A mistake in a new definition keeps the last-known-good server (R3)', async () => {
      const pid = await invoke('mcp_alpha_pid');
      await writeConfig(original.replace('command: node', 'command: nodee'));
      await untilProblems(['command-not-found nodee']);
      assert.equal(await invoke('mcp_alpha_pid'), pid);
    });

    it('A mistake in an environment variable’s name is a problem at that node (C2)', async () => {
      await writeConfig(
        keep(
          '  broken: { transport: stdio, command: node, env: { T: { env: NOT_SET_ANYWHERE } } }\n',
        ),
      );
      const [problem] = await until(problems, (all) => all.length > 0, 'a problem');
      assert.equal(problem?.code, 'env-unset');
      assert.match(problem.text, /NOT_SET_ANYWHERE/);
      await untilTools(start);
    });

    it('`transport: sse` is a problem at the value and names the right value (C3)', async () => {
      await writeConfig(keep('  broken: { transport: sse, url: "http://127.0.0.1:9/sse" }\n'));
      const [problem] = await untilProblems(['transport-sse sse']);
      assert.match(problem?.message ?? '', /streamable_http/);
    });

    it('A misspelt key is a warning that names the key (C3)', async () => {
      await writeConfig(original.replace('truely-stateless', 'truly-stateless'));
      const [problem] = await untilProblems(['unknown-key truly-stateless']);
      assert.equal(problem?.severity, 'Warning');
      assert.match(problem.message, /truely-stateless/);
    });

    it('A mistake in a name drops only this tool (N4)', async () => {
      await writeConfig(
        keep(`  odd: ${entry('raw.mjs', ['--tools', `fine,bad.name,${'x'.repeat(65)}`])}\n`),
      );
      await untilTools([...start, 'mcp_odd_fine']);
      await untilProblems(['tool-name-invalid odd', 'tool-name-invalid odd']);
    });

    it('A name of two toolsets is a warning on the later one, with the place of the first (N5)', async () => {
      await writeConfig(keep(`  gamma: ${entry('raw.mjs', ['--tools', 'add,own'])}\n`));
      await untilTools([...start, 'mcp_gamma_own']);
      await untilProblems(['name-taken gamma']);
      const [diagnostic] = vscode.languages
        .getDiagnostics()
        .flatMap(([, all]) => all)
        .filter(({ source }) => source === 'MCP Toolsets');
      const related = diagnostic?.relatedInformation?.[0];
      assert.equal(
        related?.location.range.start.line,
        (await readConfig()).split('\n').indexOf('  beta:'),
      );
    });

    it('A mistake in a pattern is a warning on the pattern (N2)', async () => {
      await writeConfig(keep("    tools: { blacklist: ['ad*', 'nothing_*'] }\n"));
      await untilTools(start.filter((id) => id !== 'mcp_beta_add'));
      await untilProblems(["pattern-matches-nothing 'nothing_*'", 'filtered-tools blacklist']);
    });
  });
});
