/** Rule X1: starting servers over stdio, and reading and writing their messages. */
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { posixIt } from '../../support/notHere.js';
import { callTool, fixture, repository, Rig, servers, stdio, textOf } from './rig.js';
import { literal } from '../../../src/core/config/model.js';

describe('servers over stdio', function () {
  this.timeout(60_000);
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.end());

  it('a connection has the description that the server gives', async () => {
    const { connection, listing } = await rig.start(
      fixture('plain', '--instructions', 'Use with care.'),
    );
    assert.deepEqual(connection.serverInfo, { name: 'plain', version: '1.0.0' });
    assert.equal(connection.instructions, 'Use with care.');
    assert.equal(connection.protocolVersion, '2025-11-25');
    assert.deepEqual(connection.capabilities, { tools: { listChanged: true }, logging: {} });
    assert.equal(String(connection.pid), await textOf(connection, 'pid'));
    assert(listing.tools.some(({ name }) => name === 'echo'));
    assert.deepEqual(listing.malformed, []);
  });

  it('initialize names this client, and declares no capabilities', async () => {
    rig.traces = true;
    await rig.start(fixture('raw'));
    const line = await rig.logged('→ initialize #0');
    assert.deepEqual(JSON.parse(line.slice(line.indexOf('{'))), {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'mcp-toolsets', version: '9.9.9' },
    });
  });

  it('a server starts without a shell, so arguments arrive unchanged', async () => {
    const odd = [
      'a b',
      '"quoted"',
      "it's",
      '$HOME',
      '*',
      '',
      'back\\slash',
      '&& exit',
      'größe 🌍',
      '--',
    ];
    const { connection } = await rig.start(fixture('raw', ...odd));
    assert.deepEqual(JSON.parse(await textOf(connection, 'args')), odd);
  });

  it('a server gets the environment of the host, its own variables and its folder', async () => {
    const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'cwd with spaces ')));
    rig.env['FROM_HOST'] = 'host';
    rig.env['REPLACED'] = 'host';
    const env = new Map([
      ['REPLACED', literal('launch')],
      [
        'OWN',
        {
          kind: 'reference' as const,
          source: { kind: 'env' as const, name: 'X' },
          prefix: '',
          suffix: '',
          fallback: undefined,
          value: 'copied',
        },
      ],
      ['EMPTY', literal('')],
    ]);
    const { connection } = await rig.start(
      stdio(process.execPath, [path.join(servers, 'raw.mjs')], { env, cwd: folder }),
    );
    assert.equal(await textOf(connection, 'cwd'), folder);
    for (const [name, value] of [
      ['FROM_HOST', 'host'],
      ['REPLACED', 'launch'],
      ['OWN', 'copied'],
      ['EMPTY', ''],
      ['PATH', process.env['PATH'] ?? ''],
      ['NEVER_SET', '(unset)'],
    ] as const) {
      assert.equal(await textOf(connection, 'env', { name }), value, name);
    }
    await connection.close();
    rmSync(folder, { recursive: true });
  });

  posixIt('programs have endings there: arguments.test.ts')(
    'a command is found on the PATH of its server, and relative to its folder',
    async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'bin-'));
      symlinkSync(process.execPath, path.join(folder, 'only-here'));
      writeFileSync(
        path.join(folder, 'script'),
        `#!/bin/sh\nexec "${process.execPath}" "${path.join(servers, 'raw.mjs')}"\n`,
        {
          mode: 0o755,
        },
      );
      const env = new Map([['PATH', literal(folder)]]);
      await rig.start(stdio('only-here', [path.join(servers, 'raw.mjs')], { env }));
      await rig.start(stdio('./script', [], { cwd: folder }));
      rmSync(folder, { recursive: true });
    },
  );

  it('text on stdout that is not JSON-RPC is skipped and logged (X1a)', async () => {
    const { connection } = await rig.start(fixture('noisy-stdout', '--long', '3000000'));
    assert.equal(await textOf(connection, 'echo', { text: 'ok' }), 'ok');
    const stray = rig.lines.filter(({ text }) => text.startsWith('[stdout]'));
    assert.equal(stray[0]?.text, '[stdout] not JSON-RPC: Starting the server…');
    assert.equal(stray.length, 4);
    assert(stray.every(({ text, level }) => level === 'warn' && text.length < 3000));
  });

  it('the log has stderr and log messages of the server', async () => {
    const { connection } = await rig.start(fixture('raw'));
    await callTool(connection, 'stderr', { text: 'über stderr' });
    assert.equal(await rig.logged('über'), '[stderr] über stderr');
    for (const [level, expected] of [
      ['debug', 'debug'],
      ['notice', 'info'],
      ['warning', 'warn'],
      ['critical', 'error'],
    ] as const) {
      await callTool(connection, 'log', { level, text: `at ${level}` });
      await rig.logged(`at ${level}`);
      assert.deepEqual(
        rig.lines.filter(({ text }) => text.includes(`at ${level}`)).map((line) => line.level),
        [expected],
      );
    }
  });

  it('pings are answered and other requests are refused, even before initialize', async () => {
    rig.traces = true;
    await rig.start(fixture('wrong-initialize', '--kind', 'chatty'));
    await rig.logged('[chatty] {"early":true}');
    assert.match(await rig.logged('#own-1 '), /← ping #own-1/);
    const texts = (): string[] => rig.lines.map(({ text }) => text);
    assert(texts().some((text) => /^→ ping #own-1 .*\{\}$/.test(text)));
    assert(texts().some((text) => /^→ roots\/list #own-2 .*-32601/.test(text)));
  });

  it('messages are traced only while tracing is on', async () => {
    const { connection } = await rig.start(fixture('raw'));
    await callTool(connection, 'echo', { text: 'unseen' });
    rig.traces = true;
    await callTool(connection, 'echo', { text: 'seen' });
    rig.traces = false;
    await callTool(connection, 'echo', { text: 'unseen' });
    const traced = rig.lines.filter(({ level }) => level === 'trace').map(({ text }) => text);
    assert.equal(traced.length, 2);
    assert.match(
      traced[0] ?? '',
      /^→ tools\/call #\d+ \{"name":"echo","arguments":\{"text":"seen"\}/,
    );
    assert.match(traced[1] ?? '', /^← tools\/call #\d+ \d+ ms \{"content":/);
  });

  it('large texts with characters of every width pass unchanged in both directions', async () => {
    const { connection } = await rig.start(fixture('raw'));
    const text = 'aä€🌍\u2028\u0000"\\\n'.repeat(300_000);
    assert.equal(await textOf(connection, 'echo', { text }), text);
    const answers = await Promise.all(
      [1, 2, 3].map((n) => textOf(connection, 'echo', { text: text.slice(n) })),
    );
    assert.deepEqual(
      answers.map(({ length }) => length),
      [1, 2, 3].map((n) => text.length - n),
    );
  });

  it('a line of more than 16 MiB fails only the call that it answers (S2f)', async () => {
    const { connection } = await rig.start(fixture('raw'));
    const outcome = await callTool(connection, 'large', { bytes: 17 * 1024 * 1024 });
    assert.equal(outcome.kind, 'lost');
    assert.match((outcome as { cause: string }).cause, /larger than 16 MiB/);
    assert.equal(await textOf(connection, 'echo', { text: 'still here' }), 'still here');
  });

  it('an endless line on stderr is logged in pieces, so memory stays bounded', async () => {
    const { connection } = await rig.start(fixture('raw'));
    await callTool(connection, 'stderr', { text: 'e'.repeat(200_000) });
    assert.equal(await textOf(connection, 'echo', { text: 'still here' }), 'still here');
    assert(
      rig.lines
        .filter(({ text }) => text.startsWith('[stderr] eee'))
        .every(({ text }) => text.length < 2100),
    );
  });

  for (const [name, args, tool] of [
    ['everything', ['stdio'], 'echo'],
    ['filesystem', [repository], 'list_allowed_directories'],
    ['memory', [], 'read_graph'],
  ] as const) {
    it(`calls to @modelcontextprotocol/server-${name} work over stdio`, async () => {
      const entry = path.join(
        repository,
        `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`,
      );
      const env = new Map([
        ['MEMORY_FILE_PATH', literal(path.join(tmpdir(), `memory-${rig.run}.json`))],
      ]);
      const { connection, listing } = await rig.start(
        stdio(process.execPath, [entry, ...args], { env }),
      );
      assert(listing.tools.some((offered) => offered.name === tool));
      assert.deepEqual(listing.malformed, []);
      assert.equal((await callTool(connection, tool, { message: 'hello' })).kind, 'result');
      await connection.close();
    });
  }
});
