/**
 * Secrets do not get into logs, problems and status (E4). Servers quote them in stderr, stray
 * output, log messages, errors, exits and HTTP bodies, with traced traffic.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { fixture, http, type Entry } from '../../support/core/configText.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

const canary = (name: string): string => `canary-${name}-5ca1ab1e`;
const canaryPattern = /canary-[a-z]+-5ca1ab1e/g;

describe('core: secrets', () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await startStage({
      trace: true,
      env: { HOST_SECRET: canary('host'), HOST_TOKEN: canary('token') },
    });
  });

  afterEach(endStages);

  /** Each secret in a forbidden place. */
  function leaks(): Record<string, string[]> {
    const seen = { logs: stage.logs.text(), snapshot: JSON.stringify(stage.host.snapshot) };
    return Object.fromEntries(
      Object.entries(seen)
        .map(([where, text]): [string, string[]] => [
          where,
          [...new Set(text.match(canaryPattern) ?? [])],
        ])
        .filter(([, found]) => found.length > 0),
    );
  }

  it('Values of env, written or from the host, stay hidden if a server prints them everywhere', async () => {
    const env = {
      LITERAL: canary('literal'),
      HOST: { env: 'HOST_SECRET' },
      QUOTED: `"${canary('quoted')}"\\`,
    };
    await stage.edit({ a: fixture('raw', [], { env }) });
    for (const name of ['LITERAL', 'HOST', 'QUOTED']) {
      const value = await stage.text('a', 'env', { name });
      assert.match(value, /canary-/, 'the agent gets what the tool says');
      for (const [tool, args] of [
        ['stderr', { text: `token ${value} is wrong` }],
        ['log', { level: 'error', text: `token ${value} is wrong` }],
        ['fail', { text: value }],
        ['throw', { text: value, data: { value } }],
      ] as const) {
        await stage.outcome('a', tool, args);
      }
    }
    await stage.logs.until(({ message }) => message.includes('[stderr] token'), 'stderr');
    assert.match(stage.logs.text('a'), /→ tools\/call/, 'the traffic is traced');
    assert.deepEqual(leaks(), {});
  });

  it('A secret that is cut in the middle stays hidden', async () => {
    await stage.edit({ a: fixture('raw', [], { env: { SECRET: canary('cut') } }) });
    const text = `${canary('cut')} `.repeat(1000);
    await stage.text('a', 'stderr', { text });
    await stage.text('a', 'log', { text });
    await stage.logs.until(({ message }) => message.startsWith('[stderr] '), 'stderr');
    assert.doesNotMatch(stage.logs.text(), /canary/);
  });

  it('Values of env stay hidden in the messages of a server that fails to start or dies', async () => {
    const env = { SECRET: canary('exit'), HOST: { env: 'HOST_SECRET' } };
    const says = ['--stderr', `cannot log in with ${canary('exit')} and ${canary('host')}`];
    const started: Record<string, Entry> = {
      exits: fixture('exits', [...says, '--stdout', `hello ${canary('exit')}`], { env }),
      refuses: {
        transport: 'stdio',
        command: process.execPath,
        args: ['-e', 'console.error(`bad token ${process.env.SECRET}`); process.exitCode = 1'],
        env,
      },
      silent: fixture('never-initialises', says, { env, timeouts: { connect: '2s' } }),
      crashes: fixture('crashes-on-call', says, { env }),
    };
    await stage.edit(started);
    const text = await stage.failure('crashes', 'crash');
    await stage.until(
      ({ problems }) => problems.some(({ code }) => code === 'connection-lost'),
      'its end',
    );
    assert.deepEqual(leaks(), {});
    assert.doesNotMatch(text, canaryPattern, 'nor does the agent read them in what the host says');
    assert.match(stage.problem('server-exited').message, /cannot log in with •••|bad token •••/);
  });

  it('Secrets among the arguments of a command stay hidden as values of env', async () => {
    const env = { SECRET: canary('argument') };
    await stage.edit({ a: fixture('exits', ['--token', canary('argument')], { env }) });
    assert.deepEqual(leaks(), {});
  });

  it('Secrets among the arguments of a command stay hidden without another mention', async () => {
    const secrets = [
      '--pass',
      canary('pass'),
      `postgres://me:p@${canary('address')}@h/db`,
      '-u',
      `me:${canary('user')}`,
    ];
    await stage.edit({
      works: fixture('raw', secrets),
      exits: fixture('exits', [...secrets, '--stderr', `it is not ${canary('pass')}`]),
    });
    const status = await stage.outcome('mcp_admin', 'mcp_status', {});
    assert.match(stage.logs.text('works'), /Started .*--pass •••/);
    assert.match(stage.problem('server-exited').message, /--pass •••[^]*it is not •••/);
    assert.doesNotMatch(JSON.stringify(status), canaryPattern);
    assert.deepEqual(leaks(), {});
  });

  it('A key of several lines stays hidden if it is printed line by line', async () => {
    const lines = ['first', 'second', 'third'].map(canary);
    const key = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----'].join('\n');
    await stage.edit({
      a: fixture('raw', [], { env: { KEY: key, ESCAPED: key.replaceAll('\n', '\\n') } }),
    });
    await stage.text('a', 'stderr', { text: key });
    for (const line of lines) await stage.outcome('a', 'log', { level: 'error', text: line });
    await stage.logs.until(({ message }) => message.includes('END PRIVATE KEY'), 'the last line');
    assert.deepEqual(leaks(), {});
  });

  it('The rest of a cut line stays hidden', async () => {
    await stage.edit({ a: fixture('raw', [], { env: { SECRET: canary('cut') } }) });
    // Any cut of the line falls into one of them.
    await stage.text('a', 'stderr', { text: canary('cut').repeat(3000) });
    await stage.logs.until(({ message }) => message.includes('is left out'), 'the cut');
    await stage.text('a', 'stderr', { text: 'the next line' });
    await stage.logs.until(({ message }) => message.includes('the next line'), 'the next line');
    assert.doesNotMatch(stage.logs.text('a').replace(/→ .*|← .*/g, ''), /canary|5ca1|b1e-/);
  });

  it('Child processes do not inherit our own token', async () => {
    stage = await startStage({ env: { MCP_TOOLSETS_TOKEN: canary('own') } });
    await stage.edit({ a: fixture('raw') });
    assert.doesNotMatch(
      JSON.stringify(await stage.outcome('a', 'env', { name: 'MCP_TOOLSETS_TOKEN' })),
      /canary/,
    );
  });

  describe('secrets of HTTP servers', () => {
    let server: Server;
    let base: string;

    /** Answers every request with its own headers and address. */
    beforeEach(async () => {
      server = createServer((request, response) => {
        const said = JSON.stringify({
          error: `refused: ${request.url} ${JSON.stringify(request.headers)}`,
        });
        response.writeHead(
          Number(new URL(request.url ?? '', 'http://here').searchParams.get('status')),
          {
            'content-type': 'application/json',
            location:
              'http://user:canary-location-5ca1ab1e@127.0.0.1:9/?token=canary-location-5ca1ab1e',
          },
        );
        response.end(said);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      base = `127.0.0.1:${(server.address() as { port: number }).port}`;
    });

    afterEach(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });

    for (const status of [401, 403, 404, 500, 307]) {
      it(`Headers, address and session stay hidden in answers of status ${status}`, async () => {
        const headers = {
          Authorization: { prefix: 'Bearer ', env: 'HOST_TOKEN' },
          'X-Api-Key': canary('header'),
          Cookie: `session=${canary('cookie')}`,
        };
        const url = `http://user:${canary('password')}@${base}/mcp?status=${status}&api_key=${canary('query')}`;
        await stage.edit({ a: http(url, { headers, sessionId: canary('session') }) });
        assert.equal(stage.host.snapshot.problems.length, 1);
        assert.deepEqual(leaks(), {});
        // Quotes only the token, without the word before it.
        const bare = ['token', 'basic', 'cookie'].map(canary).join('&');
        const basic = {
          'X-Basic': `Basic ${Buffer.from(`user:${canary('basic')}`).toString('base64')}`,
        };
        await stage.edit({
          a: http(`http://${base}/${bare}?status=${status}`, { headers: { ...headers, ...basic } }),
        });
        assert.deepEqual(leaks(), {});
      });
    }

    it('Secrets stay hidden in addresses that are refused before any request', async () => {
      await stage.edit({
        wrong: http(`htp://user:${canary('scheme')}@host/?token=${canary('scheme')}`),
        unreachable: http(
          `http://user:${canary('port')}@127.0.0.1:9/mcp?access_token=${canary('port')}`,
        ),
      });
      assert.deepEqual(leaks(), {});
    });
  });

  it('Headers and sessions stay hidden in the traffic of a working server', async () => {
    const { url } = await stage.http('http', '--require-token', canary('token'));
    const headers = {
      Authorization: { prefix: 'Bearer ', env: 'HOST_TOKEN' },
      'X-Api-Key': canary('header'),
    };
    await stage.edit({ a: http(`${url}?api_key=${canary('query')}`, { headers }) });
    assert.match(await stage.text('a', 'headers'), canaryPattern);
    const session = await stage.text('a', 'session');
    await stage.text('a', 'requests');
    await stage.host.restart('a');
    assert.deepEqual(leaks(), {});
    assert.ok(!JSON.stringify(stage.host.snapshot).includes(session));
  });

  it('Secrets of a replaced or removed definition stay hidden in its late output', async () => {
    const env = (name: string): Entry => ({ env: { SECRET: canary(name) } });
    await stage.edit({ a: fixture('raw', [], env('before')) });
    const call = stage.outcome('a', 'slow', { ms: 500, steps: 5 }, { conversation: 'slow' });
    await stage.edit({
      a: fixture('exits', ['--stderr', `${canary('after')} ${canary('before')}`], env('after')),
    });
    await stage.edit({});
    await call;
    assert.deepEqual(leaks(), {});
  });

  it('The token of the gateway stays hidden', async () => {
    await stage.edit({ a: fixture('raw') });
    const gateway = await stage.gateway();
    const { url, headers } = gateway.endpoint('a', 'agent');
    await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{}',
    });
    const token = Object.values(headers).join().replace('Bearer ', '');
    assert.ok(token.length > 20 && !stage.logs.text().includes(token));
  });
});
