/**
 * REST beside MCP (G7, S1i) on a real host: lists, added servers that wait for a person, and no
 * secrets.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { CommandLine } from '../../support/core/commandLine.js';
import { configText, fixture, rawWith } from '../../support/core/configText.js';
import { Serving } from '../../support/core/serving.js';

interface Upstream {
  readonly id: string;
  readonly state: string;
  readonly approval: string;
  readonly url: string | null;
  readonly tools: { readonly published: number; readonly offered: number };
  readonly problems: readonly { readonly code: string }[];
}

describe('REST of mcp-toolsets serve', () => {
  let cli: CommandLine;
  let serving: Serving;

  before(async () => {
    cli = await CommandLine.open();
    const alpha = fixture('plain', ['--tools', 'count,pid'], {
      env: { KEY: 'canary-of-env' },
      tools: { whitelist: ['count', 'nothing*'] },
      transform: [{ prefix: 'a_' }],
    });
    const text = configText({ alpha, beta: rawWith(['echo'], { enabled: false }) });
    writeFileSync(cli.file, `# by hand\n${text}`);
    serving = await Serving.begin(cli, ['alpha']);
  });

  after(async () => {
    await serving.end();
    await cli.close();
  });

  async function ask(
    where = '',
    init: RequestInit = {},
  ): Promise<{ status: number; body: string }> {
    const headers = {
      Authorization: `Bearer ${serving.token}`,
      'content-type': 'application/json',
    };
    const answer = await fetch(`${serving.base}/api/v1/users/mcp/upstreams${where}`, {
      ...init,
      headers,
    });
    return { status: answer.status, body: await answer.text() };
  }

  const upstreams = async (): Promise<Upstream[]> =>
    (JSON.parse((await ask()).body) as { upstreams: Upstream[] }).upstreams;
  const errorOf = ({ status, body }: { status: number; body: string }): [number, string] => [
    status,
    (JSON.parse(body) as { error: { code: string } }).error.code,
  ];

  it('REST lists servers in file order with state, address, tools and problems, and no value of env', async () => {
    const { body } = await ask();
    assert.ok(!body.includes('canary'));
    const [alpha, beta, ...rest] = await upstreams();
    assert.deepEqual(rest, []);
    assert.deepEqual([alpha?.id, alpha?.state, alpha?.approval], ['alpha', 'running', 'given']);
    assert.equal(alpha?.url, `${serving.base}/mcp/alpha`);
    assert.deepEqual(alpha?.tools, { published: 1, offered: 2 });
    assert.ok(alpha?.problems.some(({ code }) => code === 'pattern-matches-nothing'));
    assert.deepEqual([beta?.id, beta?.state, beta?.url], ['beta', 'disabled', null]);
    const { tools } = JSON.parse((await ask('/alpha/tools')).body) as {
      tools: Record<string, unknown>[];
    };
    assert.deepEqual(
      tools.map(({ name, originalName, inputSchema }) => [name, originalName, typeof inputSchema]),
      [['a_count', 'count', 'object']],
    );
    assert.deepEqual(errorOf(await ask('/beta/tools')), [409, 'not-served']);
  });

  it('REST adds a server to the file, and the server waits without running', async () => {
    const entry = fixture('plain', ['--name', 'gamma', '--tools', 'add']);
    const { status, body } = await ask('', {
      method: 'POST',
      body: JSON.stringify({ id: 'gamma', ...entry }),
    });
    assert.equal(status, 201, body);
    const { upstream } = JSON.parse(body) as { upstream: Upstream };
    assert.deepEqual(
      [upstream.id, upstream.state, upstream.approval],
      ['gamma', 'pending', 'pending'],
    );
    assert.match(
      readFileSync(cli.file, 'utf8'),
      /^# by hand\n[^]*\n {2}gamma:\n {4}transport: stdio\n/,
    );
    assert.deepEqual(errorOf(await ask('/gamma/tools')), [409, 'approval-pending']);
    await serving.until('gamma waits for approval');
    assert.ok(!cli.processes().some(({ command }) => command.includes('--name gamma')));
    assert.deepEqual(
      (await upstreams()).map(({ id }) => id),
      ['alpha', 'beta', 'gamma'],
    );
  });
});
