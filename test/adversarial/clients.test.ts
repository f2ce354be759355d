/**
 * A client that damages its messages to the gateway. It sends bodies, headers and bytes by the ten
 * thousand, from a seed. Each request is answered, a good client beside it is served as ever, and
 * the loop and the heap stay within bounds.
 *
 *     MCP_TOOLSETS_SEED=1 npx mocha --node-option import=tsx test/adversarial/clients.test.ts
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { damagedText, mutated, randomOf, type Draw } from '../fixtures/servers/shared/mutate.mjs';
import { fixture } from '../support/core/configText.js';
import { keepResults } from '../support/core/keptResults.js';
import { SessionClient } from '../support/core/sessionClient.js';
import { endStages, startStage, type Stage } from '../support/core/stage.js';
import { within } from '../support/core/within.js';
import { roundsOf, seedOf } from '../unit/stress/random.js';
import { assertBounded, assertKeepsSecrets } from './bounds.js';

const messages = roundsOf(50_000);
/** Few at a time, because making them also holds up the loop of this process. */
const inTurn = 25;

type Headers = Record<string, string>;

/** The messages of clients, each once in its right form. */
const bodies: readonly object[] = [
  {
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: { roots: {} },
      clientInfo: { name: 'c', version: '1' },
    },
  },
  { method: 'ping' },
  { method: 'tools/list', params: { cursor: 'x' } },
  {
    method: 'tools/call',
    params: { name: 'echo', arguments: { text: 'a' }, _meta: { progressToken: 1 } },
  },
  { method: 'tools/call', params: { name: 'content', arguments: {} } },
  { method: 'prompts/list' },
  { method: 'prompts/get', params: { name: 'p', arguments: { a: 'b' } } },
  { method: 'resources/list' },
  { method: 'resources/read', params: { uri: 'test://one' } },
  { method: 'resources/subscribe', params: { uri: 'test://one' } },
  {
    method: 'completion/complete',
    params: { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } },
  },
  { method: 'logging/setLevel', params: { level: 'debug' } },
].map((message, id) => ({ jsonrpc: '2.0', id, ...message }));
const notices: readonly object[] = [
  { method: 'notifications/initialized' },
  { method: 'notifications/cancelled', params: { requestId: 3, reason: 'none' } },
  { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
  { method: 'notifications/roots/list_changed' },
].map((message) => ({ jsonrpc: '2.0', ...message }));
const answers: readonly object[] = [
  { jsonrpc: '2.0', id: 1, result: { roots: [{ uri: 'file:///work' }] } },
  { jsonrpc: '2.0', id: 2, error: { code: -1, message: 'no' } },
];
const all = [...bodies, ...bodies, ...notices, ...answers];

/** The messages of clients of 2026-07-28, without a session. */
const modernBodies: readonly {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
}[] = [
  { method: 'server/discover' },
  { method: 'tools/list' },
  {
    method: 'tools/call',
    params: { name: 'echo', arguments: { text: 'a', 'mcp-toolsets/conversation': 'x' } },
  },
  {
    method: 'tools/call',
    params: {
      name: 'echo',
      arguments: {},
      requestState: 'a.b',
      inputResponses: { a: { action: 'accept', content: {} } },
    },
  },
  { method: 'prompts/get', params: { name: 'p', arguments: { a: 'b' } } },
  { method: 'resources/read', params: { uri: 'test://one' } },
  {
    method: 'completion/complete',
    params: { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } },
  },
  {
    method: 'subscriptions/listen',
    params: { notifications: { toolsListChanged: true, resourceSubscriptions: ['test://one'] } },
  },
];
const modern = modernBodies.map(({ method, params }, id) => ({
  jsonrpc: '2.0',
  id,
  method,
  params: {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {
        elicitation: { form: {} },
        sampling: {},
        roots: {},
      },
    },
  },
}));

const headerDamage: readonly ((headers: Headers, random: Draw) => void)[] = [
  (headers) => delete headers['content-type'],
  (headers) => (headers['content-type'] = 'text/plain; charset=utf-16'),
  (headers) => delete headers['accept'],
  (headers) => (headers['accept'] = 'text/html;q=0.1, */*;q=x'),
  (headers) => delete headers['mcp-session-id'],
  (headers) => (headers['mcp-session-id'] = 'x'.repeat(5_000)),
  (headers) => (headers['mcp-protocol-version'] = '9999-99-99'),
  (headers, random) =>
    (headers['last-event-id'] = `${Math.floor(random() * 99)}-${'9'.repeat(30)}`),
  (headers) => (headers['content-encoding'] = 'gzip'),
  (headers) => (headers['authorization'] = 'Bearer wrong'),
  (headers) => (headers['origin'] = 'http://evil.example'),
  (headers) => (headers['mcp-method'] = 'tools/call'),
];

function modernHeaders(message: object): Headers {
  const { method, params } = message as (typeof modern)[number];
  const { name, uri } = params as { name?: unknown; uri?: unknown };
  const target = typeof name === 'string' ? name : uri;
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof target === 'string' && { 'mcp-name': target }),
  };
}

// The title has the seed, so each report of a failure has it.
const seed = seedOf('MCP_TOOLSETS_SEED');
describe(`a client that damages its messages, MCP_TOOLSETS_SEED=${seed}`, function () {
  this.timeout(1_800_000);
  const canary = `sk-live-${randomBytes(16).toString('hex')}`;
  let stage: Stage;
  let agent: Agent;

  beforeEach(async () => {
    agent = new Agent({ keepAlive: true, maxSockets: 8 });
    stage = await startStage({ env: { THE_CANARY: canary } });
    stage.onDispose(() => Promise.resolve(agent.destroy()));
    await stage.edit({
      a: fixture('raw', [], { 'truely-stateless': true, env: { CANARY: { env: 'THE_CANARY' } } }),
    });
  });

  afterEach(endStages);

  /**
   * The status of the complete answer, or of a stream once it has begun. Undefined: the connection
   * was ended.
   */
  function send(
    url: URL,
    method: string,
    headers: Headers,
    body?: Buffer,
  ): Promise<number | undefined> {
    return new Promise((resolve) => {
      const sent = request(url, { method, headers, agent }, (response) => {
        const { statusCode } = response;
        const isStream = method === 'GET' || body?.includes('subscriptions/listen') === true;
        if (isStream && statusCode === 200) {
          response.destroy();
          return resolve(statusCode);
        }
        response.resume();
        response.on('close', () => resolve(statusCode));
      });
      sent.on('error', () => resolve(undefined));
      sent.end(body);
    });
  }

  it(`A damaging client is answered ${messages} times`, async () => {
    const random = randomOf(seed);
    const { delivery, settled } = keepResults(stage);
    const gateway = await stage.gateway({ delivery });
    const { url, headers: own } = gateway.endpoint('a', 'agent');
    const good = await SessionClient.open(stage, 'a');
    const goodIsServed = async (): Promise<void> => {
      for (let turn = 0; turn < 2; turn++)
        assert.equal(await good.text('echo', { text: String(turn) }), String(turn));
    };
    const json = {
      ...own,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const statuses = new Map<number | undefined, number>();

    /** A session of the evil client, so that its messages pass the first check. */
    const open = async (): Promise<string> => {
      const answer = await fetch(url, {
        method: 'POST',
        headers: json,
        body: JSON.stringify(bodies[0]),
      });
      await answer.text();
      return (
        answer.headers.get('mcp-session-id') ??
        assert.fail(`initialize was answered ${answer.status}`)
      );
    };
    let session = await open();
    let opening: Promise<void> | undefined;
    const openAnother = (lost: string): Promise<void> | undefined => {
      if (lost !== session) return opening;
      opening ??= open().then((opened) => {
        session = opened;
        opening = undefined;
      });
      return opening;
    };
    const attack = async (): Promise<void> => {
      const mine = session;
      const isModern = random() < 0.4;
      const kinds: readonly object[] = isModern ? modern : all;
      const message = kinds[Math.floor(random() * kinds.length)] ?? {};
      const headers: Headers = isModern
        ? { ...json, ...modernHeaders(message) }
        : { ...json, 'mcp-session-id': mine, 'mcp-protocol-version': '2025-11-25' };
      let body = Buffer.from(
        JSON.stringify(random() < 0.9 ? mutated(message, random) : message) ?? '',
      );
      if (random() < 0.1) body = Buffer.from(damagedText(body.toString(), random));
      if (random() < 0.05) body[Math.floor(random() * body.length)] = 0xff;
      if (random() < 0.1)
        headerDamage[Math.floor(random() * headerDamage.length)]?.(headers, random);
      const method =
        random() < 0.99
          ? 'POST'
          : (['GET', 'DELETE', 'PUT', 'HEAD'][Math.floor(random() * 4)] ?? 'GET');
      const address = new URL(url);
      if (isModern && random() < 0.5)
        address.pathname += `/c/${'a'.repeat(22 + Math.floor(random() * 3))}`;
      if (random() < 0.02)
        address.pathname += ['/', '/..', '/%2e%2e/x', '%00', '?a=b#c'][Math.floor(random() * 5)];
      const status = await send(address, method, headers, method === 'POST' ? body : undefined);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (method === 'DELETE' || status === 404) await openAnother(mine);
    };

    await assertBounded(async () => {
      for (let sent = 0; sent < messages; sent += inTurn) {
        const turn = Array.from({ length: inTurn }, () => attack());
        await within(Promise.all([...turn, goodIsServed()]), 'the answers', () => stage.describe());
      }
    });
    const seen = JSON.stringify([...statuses]);
    // Most requests pass the first check, or nothing was tried.
    const answered = [...statuses.values()].reduce((sum, count) => sum + count, 0);
    assert.ok((statuses.get(200) ?? 0) > answered * 0.3, seen);
    assert.ok((statuses.get(undefined) ?? 0) < answered * 0.02, seen);
    assert.ok(![...statuses.keys()].some((status) => status !== undefined && status >= 500), seen);
    await settled();
    const token = String(own['Authorization'] ?? own['authorization']).replace('Bearer ', '');
    await assertKeepsSecrets(stage, [canary, token], /[\\/]a[\\/]content[\\/].*\.png$/);
  });
});
