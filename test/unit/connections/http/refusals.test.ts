/** Credentials that have ended, and servers that ask for a pause. The server is real. */
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { HttpReply } from '../../../../src/core/connections/http/exchange.js';
import { statusFailure } from '../../../../src/core/connections/http/answer.js';
import { HttpEndpoint, type FetchAgain } from '../../../../src/core/connections/http/endpoint.js';
import { pauseMs, refusesCredential } from '../../../../src/core/connections/http/refusals.js';
import { literal, type HttpLaunch, type Value } from '../../../../src/core/config/model.js';
import { FakeClock } from '../../../support/fakes/fakeClock.js';
import { status } from '../../../support/fakes/fakeEndpoint.js';

type Refusal = { readonly status: number; readonly headers?: object; readonly body?: string };

describe('a refused request over HTTP', () => {
  let server: Server;
  let endpoint: HttpEndpoint | undefined;
  let clock: FakeClock;
  /** The values of `Authorization` in the requests. */
  let seen: (string | undefined)[];
  let answer: (headers: IncomingHttpHeaders) => Refusal;

  beforeEach(async () => {
    endpoint = undefined;
    seen = [];
    clock = new FakeClock();
    server = createServer((request, response) => {
      seen.push(request.headers.authorization);
      const { status: code, headers, body = '' } = answer(request.headers);
      request.resume().on('end', () => response.writeHead(code, { ...headers }).end(body));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });

  afterEach(() => {
    endpoint?.dispose();
    server.closeAllConnections();
    server.close();
  });

  const printed = (value: string): Value => ({
    kind: 'reference',
    source: { kind: 'command', argv: ['vault', 'read'], cwd: '/ws' },
    prefix: '',
    suffix: '',
    fallback: undefined,
    value,
  });

  const launchWith = (value: Value): HttpLaunch => ({
    transport: 'streamable_http',
    url: literal(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`),
    headers: new Map([['Authorization', value]]),
    sessionId: '',
  });

  function post(value: Value, fetchAgain?: FetchAgain, limitMs?: number): Promise<HttpReply> {
    endpoint ??= new HttpEndpoint(launchWith(value), '9', undefined, { clock, fetchAgain });
    const { signal } = new AbortController();
    return endpoint.post('{}', 'call', { signal, limitMs });
  }

  const only =
    (valid: string, refusal: Refusal) =>
    ({ authorization }: IncomingHttpHeaders): Refusal =>
      authorization === valid ? { status: 200 } : refusal;

  for (const refusal of [
    { status: 401 },
    { status: 403, headers: { 'www-authenticate': 'Bearer error="invalid_token"' } },
    { status: 403, body: 'The access token expired' },
    {
      status: 403,
      headers: { 'content-type': 'application/json' },
      body: '{"error":"invalid_token"}',
    },
  ])
    it(`a program prints its value again after ${JSON.stringify(refusal)} (C2c)`, async () => {
      answer = only('new', refusal);
      let runs = 0;
      const again: FetchAgain = () =>
        Promise.resolve(launchWith(printed(`new${'!'.repeat(runs++)}`)));
      const replies = await Promise.all([post(printed('old'), again), post(printed('old'), again)]);
      assert.deepEqual(
        replies.map((reply) => reply.status),
        [200, 200],
      );
      assert.equal((await post(printed('old'), again)).status, 200);
      assert.ok(runs <= 2, `${runs} runs`);
    });

  it('a refused value is fetched again once, and the failure names its program (C2c)', async () => {
    answer = () => ({ status: 401, body: 'go away' });
    let runs = 0;
    const reply = await post(printed('old'), () => {
      runs++;
      return Promise.resolve(launchWith(printed('new')));
    });
    const { message } = await statusFailure(reply);
    assert.match(
      message,
      /HTTP 401: go away\. The header Authorization comes from the program vault, which was run again\.$/,
    );
    assert.deepEqual([runs, seen], [1, ['old', 'new']]);
  });

  it('a program for values that fails when it runs again is named with its failure (C2c)', async () => {
    answer = () => ({ status: 401 });
    const reply = await post(printed('old'), () => Promise.resolve('It exited with code 1.'));
    assert.match((await statusFailure(reply)).message, /run again\. It exited with code 1\.$/);
    assert.deepEqual(seen, ['old']);
  });

  describe('an address of a program that prints values (C2c)', () => {
    let paths: (string | undefined)[];
    const address = (query: string, port?: number): Value => {
      const { port: own } = server.address() as AddressInfo;
      return printed(`http://127.0.0.1:${port ?? own}/mcp?key=${query}`);
    };
    const launchTo = (url: Value, header = literal('x')): HttpLaunch => ({
      ...launchWith(header),
      url,
    });
    const send = (over: HttpEndpoint, url?: URL): Promise<HttpReply> =>
      over.post('{}', 'call', { signal: new AbortController().signal, ...(url && { url }) });
    const open = (launch: HttpLaunch, fetchAgain: FetchAgain): HttpEndpoint =>
      (endpoint = new HttpEndpoint(launch, '9', undefined, { clock, fetchAgain }));

    beforeEach(() => {
      paths = [];
      server.prependListener('request', ({ url }) => paths.push(url));
      answer = () => ({ status: paths.at(-1)?.endsWith('=new') ? 200 : 401 });
    });

    it('a refused address is fetched again once, and the next requests go there', async () => {
      const over = open(launchTo(address('old')), () => Promise.resolve(launchTo(address('new'))));
      assert.equal((await send(over, over.configured)).status, 200);
      assert.equal((await send(over)).status, 200);
      assert.equal(over.url.search, '?key=new');
      assert.deepEqual(
        paths.map((path) => path?.split('=')[1]),
        ['old', 'new', 'new'],
      );
    });

    it('an address and a header of programs are fetched together', async () => {
      answer = ({ authorization }) => ({
        status: paths.at(-1)?.endsWith('=new') && authorization === 'fresh' ? 200 : 401,
      });
      const fresh = launchTo(address('new'), printed('fresh'));
      const over = open(launchTo(address('old'), printed('stale')), () => Promise.resolve(fresh));
      const both = await Promise.all([send(over), send(over)]);
      assert.deepEqual(
        both.map(({ status: code }) => code),
        [200, 200],
      );
    });

    for (const [what, next, why] of [
      ['is refused too', () => address('old'), ''],
      [
        'is of another origin',
        () => address('new', 9),
        ' It printed an address of another origin.',
      ],
      ['is none', () => printed('nothing'), ' It printed no address.'],
    ] as const)
      it(`a new address that ${what} gets no further request, and the failure names its program`, async () => {
        let runs = 0;
        const over = open(launchTo(address('old')), () => {
          runs++;
          return Promise.resolve(launchTo(next()));
        });
        const { message } = await statusFailure(await send(over));
        assert.match(
          message,
          new RegExp(`The address comes from the program vault, which was run again\\.${why}$`),
        );
        assert.deepEqual([runs, paths.length], [1, why === '' ? 2 : 1]);
      });

    it('a request to another place of the server keeps its address', async () => {
      const over = open(launchTo(address('old')), () => Promise.resolve(launchTo(address('new'))));
      const other = new URL('/messages?session=1', over.url);
      assert.equal((await send(over, other)).status, 401);
      assert.deepEqual(paths, ['/messages?session=1', '/messages?session=1']);
    });
  });

  it('a value of the file and a refusal about rights run no program (C2c)', async () => {
    const never: FetchAgain = () => assert.fail('a program was run');
    answer = () => ({ status: 403, body: 'You lack the role admin.' });
    assert.equal((await post(printed('old'), never)).status, 403);
    endpoint = undefined;
    answer = () => ({ status: 401 });
    assert.equal((await post(literal('old'), never)).status, 401);
  });

  for (const after of ['2', 'in a second'])
    it(`a request waits for a short Retry-After: ${after} (X2)`, async () => {
      const date = new Date(clock.now() + 1000).toUTCString();
      const retry = after === '2' ? after : date;
      answer = () =>
        seen.length > 1 ? { status: 200 } : { status: 429, headers: { 'retry-after': retry } };
      const replied = post(literal('x'));
      while (clock.pending === 0) await new Promise(setImmediate);
      clock.advance(2000);
      assert.equal((await replied).status, 200);
    });

  for (const [name, seconds, limitMs, body] of [
    ['long', 120, undefined, 'slow down'],
    ['longer than the call may take', 8, 5000, 'slow down'],
    ['about an answer', 1, undefined, '{"jsonrpc":"2.0","id":0,"error":{"code":1,"message":"no"}}'],
  ] as const)
    it(`a Retry-After that is ${name} is said, not waited for (X2)`, async () => {
      answer = () => ({ status: 503, headers: { 'retry-after': `${seconds}` }, body });
      const { message } = await statusFailure(await post(literal('x'), undefined, limitMs));
      assert.match(message, new RegExp(`Ask again in ${seconds} s\\.$`));
      assert.equal(seen.length, 1);
    });

  it('a pause is in seconds or a date, and nothing else', () => {
    const pause = (after: string): number | undefined =>
      pauseMs({ ...status(429), headers: { 'retry-after': after } }, Date.UTC(2026, 0, 1));
    assert.equal(pause('3'), 3000);
    assert.equal(pause('Thu, 01 Jan 2026 00:00:07 GMT'), 7000);
    assert.equal(pause('Thu, 01 Jan 2015 00:00:07 GMT'), 0);
    assert.equal(pause('soon'), undefined);
    assert.equal(pauseMs(status(429), 0), undefined);
  });

  it('words decide whether 403 is about the credential', () => {
    const about = (text: string): boolean => refusesCredential({ text, reply: status(403) });
    for (const text of ['Token has expired', 'invalid token', 'The token is not valid: revoked'])
      assert.equal(about(text), true, text);
    for (const text of ['Forbidden', 'insufficient_scope', 'You lack the role of the owner'])
      assert.equal(about(text), false, text);
  });
});
