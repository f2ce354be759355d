/**
 * Servers that do not start, all at once beside good ones (X3). Each is one problem at its
 * place and one failed server, and costs only itself. The golden files of the connections hold the
 * messages.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ProblemCode } from '../../../src/core/base/problemCatalogue.js';
import { fixturePath } from '../../support/core/bundles.js';
import { fixture, http, rawWith, type Entry } from '../../support/core/configText.js';
import { freePort } from '../../support/freePort.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';
import { inShell } from '../../support/shells.js';

interface Row {
  readonly id: string;
  readonly entry: Entry;
  readonly code: ProblemCode;
  /** The text of the file at the problem's place. Default: the server's key. */
  readonly at?: string;
  /** A text of this failure only. */
  readonly says: RegExp;
}

const onWindows = process.platform === 'win32';
const missing = 'no-such-command-in-a-shell';
const quickly = { timeouts: { connect: '4s' } };
const command = (name: string, ...args: string[]): Entry => ({
  transport: 'stdio',
  command: name,
  args,
});

describe('core: servers that do not start', () => {
  let stage: Stage;
  let rows: readonly Row[];

  before(async function () {
    this.timeout(120_000);
    stage = await startStage();
    const { folder } = stage;
    writeFileSync(path.join(folder, 'not-executable'), 'no program\n', { mode: 0o644 });
    mkdirSync(path.join(folder, 'a-folder'));
    const httpRow = async (
      id: string,
      args: string[],
      rest: Omit<Row, 'id' | 'entry'>,
      own: Entry = {},
    ): Promise<Row> => {
      const { url } = await stage.http('http', ...args);
      return { id, entry: http(url, own), at: url, ...rest };
    };
    const cacheOfNpx = path.join(folder, '.npm', '_npx', '9833c18b2d85bc59');
    const installed = path.join(cacheOfNpx, 'node_modules', 'a-server');
    mkdirSync(installed, { recursive: true });
    writeFileSync(path.join(installed, 'module.mjs'), "import 'a-dependency';\n");
    writeFileSync(path.join(installed, 'common.cjs'), "require('a-dependency');\n");
    const incomplete = {
      code: 'server-exited',
      says: /in \S+9833c18b2d85bc59 is incomplete/,
    } as const;
    const refused = `http://127.0.0.1:${await freePort()}/mcp`;
    const notThere = await stage.http('http');
    rows = [
      {
        id: 'no-such-command',
        entry: command('no-such-command-at-all'),
        code: 'command-not-found',
        at: 'no-such-command-at-all',
        says: /PATH/,
      },
      {
        id: 'no-such-file',
        entry: command('./no/such/file'),
        code: 'command-not-found',
        at: './no/such/file',
        says: /does not exist/,
      },
      {
        id: 'not-executable',
        entry: command('./not-executable'),
        code: 'command-not-executable',
        at: './not-executable',
        says: /not-executable/,
      },
      {
        id: 'a-folder',
        entry: command('./a-folder'),
        code: 'command-not-executable',
        at: './a-folder',
        says: /folder/,
      },
      {
        id: 'no-such-cwd',
        entry: rawWith(['echo'], { cwd: 'no-such-folder' }),
        code: 'cwd-missing',
        at: 'no-such-folder',
        says: /no-such-folder/,
      },
      {
        id: 'exits',
        entry: fixture('exits'),
        code: 'server-exited',
        says: /exited with code 3: fatal: no configuration found/,
      },
      {
        id: 'ends-well',
        entry: fixture('exits', ['--code', '0']),
        code: 'server-exited',
        says: /exited with code 0/,
      },
      {
        id: 'crashes',
        entry: fixture('exits', ['--signal', onWindows ? 'SIGKILL' : 'SIGSEGV']),
        code: 'server-exited',
        says: onWindows ? /exited with code 1\b/ : /SIGSEGV/,
      },
      {
        id: 'no-such-script',
        entry: command(process.execPath, 'no-such-script.mjs'),
        code: 'server-exited',
        says: /Node did not find/,
      },
      {
        id: 'half-installed',
        entry: command(process.execPath, path.join(installed, 'module.mjs')),
        ...incomplete,
      },
      {
        id: 'half-common',
        entry: command(process.execPath, path.join(installed, 'common.cjs')),
        ...incomplete,
      },
      {
        id: 'shell',
        entry: onWindows
          ? { transport: 'stdio', ...inShell([missing]) }
          : command('sh', '-c', missing),
        code: 'server-exited',
        says: onWindows ? /recogni[sz]e/ : /exited with code 127/,
      },
      {
        id: 'silent',
        entry: fixture('never-initialises', [], quickly),
        code: 'server-silent',
        says: /within 4 s/,
      },
      {
        id: 'noise',
        // Its first line must arrive within the limit, however busy the machine is.
        entry: fixture('noisy-stdout', ['--only'], { timeouts: { connect: '12s' } }),
        code: 'server-not-jsonrpc',
        says: /Starting the server/,
      },
      {
        id: 'wrong-version',
        entry: fixture('wrong-initialize', ['--kind', 'version']),
        code: 'server-protocol',
        says: /2099-01-01/,
      },
      {
        id: 'no-info',
        entry: fixture('wrong-initialize', ['--kind', 'no-info']),
        code: 'server-protocol',
        says: /serverInfo/,
      },
      {
        id: 'null-answer',
        entry: fixture('wrong-initialize', ['--kind', 'null']),
        code: 'server-protocol',
        says: /null/,
      },
      {
        id: 'refuses',
        entry: fixture('wrong-initialize', ['--kind', 'error']),
        code: 'server-protocol',
        says: /-32602: Unsupported client/,
      },
      {
        id: 'no-list',
        entry: fixture('odd-tools', ['--kind', 'not-a-list']),
        code: 'list-failed',
        says: /no list of tools/,
      },
      {
        id: 'null-list',
        entry: fixture('odd-tools', ['--kind', 'null-list']),
        code: 'list-failed',
        says: /null/,
      },
      {
        id: 'refused',
        entry: http(refused),
        code: 'http-unreachable',
        at: refused,
        says: /refused/i,
      },
      {
        id: 'no-such-host',
        entry: http('http://no-such-host.invalid/mcp'),
        code: 'http-unreachable',
        at: 'http://no-such-host.invalid/mcp',
        says: /no-such-host\.invalid/,
      },
      await httpRow('unauthorized', ['--status', '401'], {
        at: 'unauthorized',
        code: 'http-unauthorized',
        says: /401/,
      }),
      await httpRow('forbidden', ['--status', '403'], {
        at: 'forbidden',
        code: 'http-unauthorized',
        says: /403/,
      }),
      await httpRow(
        'wrong-token',
        ['--require-token', 'right'],
        { at: 'Authorization: Bearer wrong', code: 'http-unauthorized', says: /401/ },
        { headers: { Authorization: 'Bearer wrong' } },
      ),
      {
        id: 'not-found',
        entry: http(`${new URL(notThere.url).origin}/nothing`),
        code: 'http-not-found',
        at: `${new URL(notThere.url).origin}/nothing`,
        says: /404/,
      },
      await httpRow('status', ['--status', '500'], {
        at: 'status',
        code: 'http-status',
        says: /500[^]*refused with 500/,
      }),
      await httpRow('page', ['--html'], { code: 'http-not-mcp', says: /html/i }),
      await httpRow('self-signed', ['--tls', 'self-signed'], {
        code: 'http-tls',
        says: /certificate/i,
      }),
      await httpRow(
        'speechless',
        ['--silent'],
        { at: 'speechless', code: 'server-silent', says: /4 s/ },
        quickly,
      ),
      await httpRow('loop', ['--redirect', 'loop'], { code: 'http-status', says: /redirect/i }),
    ];
    const good: Record<string, Entry> = { good: rawWith(['echo']), also: rawWith(['count']) };
    const applied = stage.edit({
      good: good['good'] as Entry,
      ...Object.fromEntries(rows.map(({ id, entry }) => [id, entry])),
      also: good['also'] as Entry,
    });
    await stage.until(
      () => stage.published().join() === 'good/echo,also/count',
      'the good servers, before the bad are done',
    );
    assert.equal(stage.server('silent').state.kind, 'starting', 'they did not wait for it');
    await applied;
  });

  after(endStages);

  it('Each server that fails to start is one problem with its code at its place', () => {
    const text = stage.problems();
    const expected = rows.map(({ id, code, at }) => `${code} ${JSON.stringify(at ?? id)}`);
    assert.deepEqual(text.sort(), expected.sort());
    for (const { id, code, says } of rows) {
      const problem = stage.host.snapshot.problems.find(({ server }) => server === id);
      assert.ok(problem, id);
      assert.match(problem.message, says);
      assert.equal(problem.severity, 'error');
      assert.ok(problem.fix.length > 0);
      const { state } = stage.server(id);
      assert.equal(state.kind, code === 'cwd-missing' ? 'invalid' : 'failed', id);
      if (state.kind === 'failed')
        assert.deepEqual([`"${id}" ${state.reason}`, state.fix], [problem.message, problem.fix]);
    }
  });

  it('Good servers serve beside failed ones, and nothing of the failed ones is left', async () => {
    assert.deepEqual(stage.published(), ['good/echo', 'also/count']);
    assert.equal(await stage.text('good', 'echo', { text: 'hi' }), 'hi');
    const good = [stage.pid('good'), stage.pid('also')];
    const left = stage
      .processes()
      .filter(({ pid, command: line }) => !good.includes(pid) && !line.includes('guardian'));
    assert.deepEqual(left, []);
  });

  it('A call of a server that never started says so', async () => {
    const outcome = await stage.outcome('exits', 'echo');
    assert.match(
      JSON.stringify(outcome),
      /"echo\\" was not called\. The toolset \\"exits\\" has no tools now/,
    );
    assert.match(JSON.stringify(outcome), /"isError":true/);
  });

  it('Repaired servers have no problem, and the others are tried again', async () => {
    const repaired = rows.filter((_, index) => index % 4 === 0);
    const { id, entry } = rows.find(({ code }) => code === 'server-exited') as Row;
    await stage.edit({
      ...Object.fromEntries(
        repaired.map((row) => [row.id, rawWith([row.id.replaceAll('-', '_')])]),
      ),
      [id]: entry,
    });
    assert.deepEqual(stage.problems(), [`server-exited "${id}"`]);
    assert.deepEqual(
      stage.published(),
      repaired.map((row) => `${row.id}/${row.id.replaceAll('-', '_')}`),
    );
    const failures = stage.logs.lines.filter(
      ({ level, message }) => level === 'error' && message.startsWith(`${id}: `),
    );
    assert.equal(failures.length, 2);
  });
});

describe('core: odd servers that work', () => {
  afterEach(endStages);

  it('A server whose tools fail keeps its prompts and resources, and a good definition is not replaced by it', async () => {
    const failing = fixture('features', ['--tools-fail']);
    const own = await startStage();
    await own.edit({ s: failing });
    const toolsets = own.host.catalogue.toolsets.map(({ id, tools, prompts }) => [
      id,
      tools.length,
      prompts.length,
    ]);
    assert.deepEqual(toolsets[0], ['s', 0, 2]);
    const said = own.host.snapshot.problems.filter(({ code }) => code === 'list-failed');
    assert.match(
      said[0]?.message ?? '',
      /^"s" .*could not be listed.*ENOTFOUND.*Its prompts and resources are published\./s,
    );
    await own.edit({ s: fixture('features') });
    const good = own.published().length;
    assert.deepEqual(own.problems(), []);
    await own.edit({ s: failing });
    assert.equal(own.published().length, good, 'the last-known-good serves');
    assert.deepEqual(
      own.host.snapshot.problems.map(({ code }) => code),
      ['list-failed'],
    );
  });

  it('A port that another instance of the server has is explained by that instance (X3d)', async () => {
    const stage = await startStage();
    const port = await freePort();
    const open = path.join(stage.folder, 'port.mjs');
    writeFileSync(
      open,
      `import net from 'node:net';
await new Promise((resolve) => net.createServer().unref().on('error', (error) => {
  console.error(String(error));
  process.exit(1);
}).listen(${port}, '127.0.0.1', resolve));`,
    );
    const own = (env: Entry): Entry => ({
      ...command(process.execPath, '--import', pathToFileURL(open).href),
      ...env,
    });
    const entry = own({});
    (entry['args'] as string[]).push(fixturePath('raw'), '--tools', 'echo');
    await stage.edit({ a: entry });
    assert.equal(await stage.text('a', 'echo', { text: 'x' }, { conversation: 'd1' }), 'x');
    const said = await stage.failure('a', 'echo', { text: 'x' }, { conversation: 'd2' });
    assert.match(said, /EADDRINUSE[^]*Another instance of this server runs/);
    assert.match(said, /`stateless: true`/);
    await stage.edit({ a: { ...entry, env: { NEW: 'yes' }, 'truely-stateless': true } });
    const { message, fix } = stage.problem('server-exited');
    assert.match(message, /Another instance of this server runs/);
    assert.match(fix ?? '', /^Stop this server, then start it/);
  });

  it('Servers with an old protocol, early requests, noise, no tools or slowness serve', async () => {
    const stage = await startStage();
    const prefixed = (prefix: string): Entry => ({ transform: [{ prefix }] });
    await stage.edit({
      old: fixture('wrong-initialize', ['--kind', 'old'], prefixed('old_')),
      chatty: fixture('wrong-initialize', ['--kind', 'chatty'], prefixed('chatty_')),
      empty: fixture('wrong-initialize', ['--kind', 'no-tools']),
      noisy: fixture('noisy-stdout', ['--long', '300000', '--tools', 'echo'], prefixed('noisy_')),
      slow: fixture('slow-start', ['--delay', '300', '--tools', 'echo'], prefixed('slow_')),
      floods: {
        ...command(
          process.execPath,
          ...['--import', `data:text/javascript,process.stderr.write('a line\\n'.repeat(300000))`],
          ...[fixturePath('raw'), '--tools', 'echo'],
        ),
        ...prefixed('floods_'),
      },
    });
    assert.deepEqual(stage.problems(), ['list-empty "empty"']);
    const ids = ['old', 'chatty', 'noisy', 'slow', 'floods'];
    assert.deepEqual(
      stage.published(),
      ids.map((id) => `${id}/${id}_echo`),
    );
    assert.equal(stage.server('empty').state.kind, 'running');
    for (const id of ids) assert.equal(await stage.text(id, `${id}_echo`, { text: id }), id);
  });
});
