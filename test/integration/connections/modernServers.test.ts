/** Rule X8: servers that speak only 2026-07-28, over stdio and over Streamable HTTP. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { fakeClient } from '../../support/fakes/fakeClient.js';
import type { Fields, ServerClient } from '../../../src/core/protocol/client.js';
import type { Launch } from '../../../src/core/config/model.js';
import type { Connection } from '../../../src/core/connections/connection.js';
import { within } from '../../support/core/within.js';
import { callTool, fixture, http, once, Rig, servers, stdio, textOf } from './rig.js';

type Ask = (method: string, params: Fields | undefined, signal: AbortSignal) => Promise<Fields>;

const able: Fields = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: { listChanged: true },
};

function clientWith(ask: Ask, own: Partial<ServerClient> = {}): ServerClient {
  return fakeClient({ capabilities: able, ask, ...own });
}

/** Fills the only field of a form with the message of the form. */
const echoing: Ask = (_method, params) => {
  const { message, requestedSchema } = params as {
    message: string;
    requestedSchema?: { properties: object };
  };
  const [field = 'answer'] = Object.keys(requestedSchema?.properties ?? {});
  return Promise.resolve({ action: 'accept', content: { [field]: message } });
};

for (const transport of ['stdio', 'http'] as const) {
  describe(`a server of the modern era over ${transport} (X8)`, function () {
    this.timeout(60_000);
    let rig: Rig;
    beforeEach(() => (rig = new Rig()));
    afterEach(() => rig.end());
    const launched = async (...args: string[]): Promise<Launch> => {
      if (transport === 'stdio') return fixture('modern', ...args);
      return http((await rig.listen('modern', '--http', ...args)).url);
    };
    const connect = async (): Promise<Connection> => (await rig.start(await launched())).connection;

    it('a modern server is recognized by its refusal of initialize, and describes itself', async () => {
      const { connection, listing } = await rig.start(await launched());
      assert.deepEqual(connection.serverInfo, { name: 'modern', version: '1.0.0' });
      assert.equal(connection.protocolVersion, '2026-07-28');
      assert.equal(connection.instructions, 'Ask when in doubt.');
      assert.deepEqual(listing.prompts?.prompts, [
        { name: 'greet', arguments: [{ name: 'name' }] },
      ]);
      assert.deepEqual(
        listing.resources?.resources.map(({ uri }) => uri),
        ['note://one', 'note://asked'],
      );
      assert.equal(await textOf(connection, 'echo', { text: 'hello' }), 'hello');
    });

    it('a modern server gets server/discover first at its next start', async () => {
      rig.traces = true;
      const launch = await launched();
      await rig.start(launch);
      assert.match(await rig.logged('→ server/discover'), /2026-07-28/);
      const before = rig.lines.length;
      await rig.start(launch);
      const again = rig.lines.slice(before).filter(({ text }) => text.startsWith('→'));
      assert.match(again[0]?.text ?? '', /^→ server\/discover/);
      assert(!again.some(({ text }) => text.startsWith('→ initialize')));
    });

    it('every request has version, capabilities and client name, and its result has no fields for this connection only', async () => {
      const connection = await connect();
      const client = clientWith(echoing, {
        capabilities: { elicitation: {}, roots: { listChanged: true } },
        logLevel: 'info',
      });
      const outcome = await callTool(
        connection,
        'received',
        {},
        { client, meta: { 'example.com/own': 1 } },
      );
      assert(outcome.kind === 'result');
      assert.deepEqual(Object.keys(outcome.result), ['content']);
      const [content] = outcome.result.content;
      assert(content?.type === 'text');
      const { meta, envelope } = JSON.parse(content.text) as { meta: Fields; envelope: Fields };
      assert.equal(meta['example.com/own'], 1);
      assert.deepEqual(envelope, {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'mcp-toolsets', version: '9.9.9' },
        'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} }, roots: {} },
        'io.modelcontextprotocol/logLevel': 'info',
      });
    });

    it('a modern server reports errors, tool errors, progress and log messages', async () => {
      const connection = await connect();
      const failed = await callTool(connection, 'fails');
      assert.deepEqual(failed, {
        kind: 'result',
        result: { content: [{ type: 'text', text: 'it failed' }], isError: true },
      });
      const raised = await callTool(connection, 'raises', { code: 77 });
      assert.deepEqual(raised, {
        kind: 'error',
        code: 77,
        message: 'it was raised',
        data: { why: 'asked for' },
      });
      const steps: unknown[] = [];
      await callTool(
        connection,
        'steps',
        { count: 3 },
        { onProgress: ({ message }) => steps.push(message) },
      );
      assert.deepEqual(steps, ['step 1', 'step 2', 'step 3']);
      const told: unknown[] = [];
      const client = clientWith(echoing, {
        logLevel: 'debug',
        tell: (_method, params) => told.push(params['data']),
      });
      await callTool(connection, 'log', { text: 'heard' }, { client });
      assert.deepEqual(told, ['heard']);
    });

    it('a modern server is notified of a cancelled call', async () => {
      const connection = await connect();
      const stop = new AbortController();
      const outcome = await callTool(
        connection,
        'hold',
        {},
        { signal: stop.signal, onProgress: () => stop.abort() },
      );
      assert.equal(outcome.kind, 'cancelled');
      // Over HTTP a closed stream cancels the call. Another request may arrive earlier.
      while ((await textOf(connection, 'cancelled')) === '0');
      assert.equal(await textOf(connection, 'cancelled'), '1');
    });

    it('a call asks its client for forms, URLs, sampling and roots', async () => {
      const connection = await connect();
      const asked: unknown[] = [];
      const client = clientWith((method, params, signal) => {
        asked.push([method, params?.['mode'], typeof params?.['elicitationId']]);
        if (method === 'roots/list') return Promise.resolve({ roots: [{ uri: 'file:///a' }] });
        if (method === 'elicitation/create') return echoing(method, params, signal);
        return Promise.resolve({
          role: 'assistant',
          model: 'm',
          content: { type: 'text', text: 'said' },
        });
      });
      const ask = async (tool: string, args: object = {}): Promise<unknown> =>
        JSON.parse(await textOf(connection, tool, args, { client }));
      assert.deepEqual(await ask('elicit', { message: 'Who?' }), {
        action: 'accept',
        content: { answer: 'Who?' },
      });
      assert.deepEqual(await ask('elicit_url'), { action: 'accept', content: { answer: 'Look' } });
      assert.equal(((await ask('sample', { prompt: 'Say' })) as { model: string }).model, 'm');
      assert.deepEqual(await ask('roots'), ['file:///a']);
      assert.deepEqual(asked, [
        ['elicitation/create', 'form', 'undefined'],
        ['elicitation/create', 'url', 'string'],
        ['sampling/createMessage', undefined, 'undefined'],
        ['roots/list', undefined, 'undefined'],
      ]);
    });

    it('a call may ask several times, and the server gets its request state back', async () => {
      const connection = await connect();
      assert.equal(
        await textOf(connection, 'twice', {}, { client: clientWith(echoing) }),
        'Which name? Which colour?',
      );
      assert.equal(await textOf(connection, 'waits', { rounds: 2 }), '2');
      const endless = await callTool(connection, 'endless', {}, { client: clientWith(echoing) });
      assert.deepEqual(endless, {
        kind: 'error',
        code: -32603,
        message: 'The server asked for more input more than 16 times.',
      });
    });

    it('a read of a resource may ask its client, and then its result is not cached', async () => {
      const connection = await connect();
      const read = async (uri: string): Promise<Fields> => {
        const outcome = await connection.request({
          method: 'resources/read',
          params: { uri },
          timeouts: { call: 10_000, callMax: 30_000 },
          signal: new AbortController().signal,
          client: clientWith(echoing),
        });
        assert(outcome.kind === 'result');
        return outcome.result;
      };
      assert.deepEqual(await read('note://asked'), {
        contents: [{ uri: 'note://asked', text: 'The word?' }],
      });
      const { ttlMs, cacheScope } = await read('note://one');
      assert.deepEqual([ttlMs, cacheScope], [5000, 'public']);
    });

    it('concurrent calls ask their own clients', async () => {
      const connection = await connect();
      const names = Array.from({ length: 20 }, (_, index) => `client ${index}`);
      const answers = await Promise.all(
        names.map((name) => {
          const client = clientWith(() =>
            Promise.resolve({ action: 'accept', content: { answer: name } }),
          );
          return textOf(connection, 'elicit', { message: name }, { client });
        }),
      );
      assert.deepEqual(
        answers.map(
          (answer) => (JSON.parse(answer) as { content: { answer: string } }).content.answer,
        ),
        names,
      );
    });

    it('a question to the client ends with its call, and nothing is sent again', async () => {
      const connection = await connect();
      const stop = new AbortController();
      let questionEnded: () => void = () => {};
      const ended = new Promise<void>((resolve) => (questionEnded = resolve));
      const client = clientWith((_method, _params, signal) => {
        signal.addEventListener('abort', questionEnded);
        stop.abort();
        return new Promise(() => {});
      });
      const outcome = await callTool(
        connection,
        'elicit',
        { message: 'Who?' },
        { client, signal: stop.signal },
      );
      assert.equal(outcome.kind, 'cancelled');
      await ended;
    });

    it('a call fails with the reason if the client cannot answer its question', async () => {
      const connection = await connect();
      const client = clientWith(echoing, { capabilities: {} });
      const refused = await callTool(connection, 'elicit', { message: 'Who?' }, { client });
      assert(refused.kind === 'error');
      assert.equal(refused.code, -32021);
      const failing = clientWith(() =>
        Promise.reject(Object.assign(new Error('nobody is there'), { code: -32001 })),
      );
      const failed = await callTool(connection, 'elicit', { message: 'Who?' }, { client: failing });
      assert(failed.kind === 'error');
      assert.match(failed.message, /nobody is there/);
    });

    it('a modern server notifies of changed lists', async () => {
      const connection = await connect();
      const changed = once(connection.onDidChangeOffer);
      await textOf(connection, 'add', { name: 'new_one' });
      assert.equal(await changed, 'tools');
      const listing = await connection.listTools({
        signal: new AbortController().signal,
        timeoutMs: 10_000,
      });
      assert(listing.tools.some(({ name }) => name === 'new_one'));
    });

    it('a modern server notifies of subscribed resources only', async () => {
      const connection = await connect();
      const subscription = async (
        what: 'subscribe' | 'unsubscribe',
        uri: string,
      ): Promise<void> => {
        const { signal } = new AbortController();
        const timeouts = { call: 10_000, callMax: 30_000 };
        const outcome = await connection.request({
          method: `resources/${what}`,
          params: { uri },
          timeouts,
          signal,
        });
        assert.equal(outcome.kind, 'result');
      };
      const updates = new Set<unknown>();
      const isTold = new Promise<void>((resolve) => {
        connection.onDidUpdateResource(({ uri }) => {
          updates.add(uri);
          if (uri === 'note://two') resolve();
        });
      });
      await Promise.all([
        subscription('subscribe', 'note://one'),
        subscription('subscribe', 'note://two'),
      ]);
      await textOf(connection, 'touch', { uri: 'note://one' });
      await textOf(connection, 'touch', { uri: 'note://three' });
      await subscription('unsubscribe', 'note://one');
      await textOf(connection, 'touch', { uri: 'note://two' });
      // Over HTTP the notification and the answer use different streams.
      await within(isTold, 'the update', () => [...updates].join());
      assert.deepEqual([...updates], ['note://one', 'note://two']);
    });

    it('the death of a modern server loses the call and is reported', async () => {
      const connection = await connect();
      const died = once(connection.onDidDie);
      const outcome = await callTool(connection, 'end');
      assert.equal(outcome.kind, 'lost');
      assert.match(
        await died,
        transport === 'stdio' ? /exited with code 3/ : /cannot be reached|refused/,
      );
    });
  });
}

describe('the era of a server (X8)', function () {
  this.timeout(60_000);
  let rig: Rig;
  beforeEach(() => (rig = new Rig()));
  afterEach(() => rig.end());

  it('a server that becomes legacy is initialized again, even if it exits on server/discover', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'era-'));
    const program = path.join(folder, 'server.mjs');
    const become = (name: string, before = ''): void => {
      const url = pathToFileURL(path.join(servers, name)).href;
      writeFileSync(
        program,
        `${before}\nawait import(${JSON.stringify(url)});\nprocess.stdin.resume();`,
      );
    };
    const strict = `
      const first = await new Promise((resolve) => process.stdin.once('data', resolve));
      if (!String(first).includes('"initialize"')) process.exit(9);
      process.stdin.pause();
      process.stdin.unshift(first);`;
    const launch = stdio(process.execPath, [program]);
    const versions: string[] = [];
    const start = async (): Promise<void> => {
      versions.push((await rig.start(launch)).connection.protocolVersion);
    };
    become('modern.mjs');
    await start();
    become('plain.mjs');
    await start();
    become('modern.mjs');
    await start();
    become('plain.mjs', strict);
    await start();
    await start();
    rmSync(folder, { recursive: true });
    assert.deepEqual(versions, [
      '2026-07-28',
      '2025-11-25',
      '2026-07-28',
      '2025-11-25',
      '2025-11-25',
    ]);
  });

  it('a server with only unknown versions is reported with its versions', async () => {
    const failure = await rig.failure(fixture('modern', '--speaks', '2031-01-01'));
    assert.equal(failure.code, 'server-protocol');
    assert.match(
      failure.message,
      /speaks protocol versions 2031-01-01, but MCP Toolsets speaks only 2026/,
    );
  });

  it('HTTP requests have method, original name and mirrored parameters in headers', async () => {
    const { url } = await rig.listen('modern', '--http');
    const { connection } = await rig.start(http(url));
    const region = async (args: object): Promise<unknown> =>
      JSON.parse(await textOf(connection, 'region', args));
    const common = {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'region',
    };
    assert.deepEqual(await region({ region: 'us-west1', deep: { shard: 42 } }), {
      ...common,
      'mcp-param-region': 'us-west1',
      'mcp-param-shard': '42',
    });
    const odd = ['größe', ' padded ', 'two\nlines', '=?base64?literal?='];
    for (const value of odd) {
      const encoded = `=?base64?${Buffer.from(value).toString('base64')}?=`;
      assert.deepEqual(await region({ region: value }), { ...common, 'mcp-param-region': encoded });
    }
    assert.deepEqual(await region({}), common);
  });

  it('a call that is refused for its headers is sent once more with the new headers of the tool', async () => {
    const { url } = await rig.listen('modern', '--http');
    rig.traces = true;
    const { connection } = await rig.start(http(url));
    const changes: unknown[] = [];
    connection.onDidChangeOffer((kind) => changes.push(kind));
    await textOf(connection, 'mirror', { header: 'Zone' });
    const zones = ['a', 'b', 'c'];
    const answers = await Promise.all(zones.map((zone) => textOf(connection, 'region', { zone })));
    assert.deepEqual(
      answers.map((answer) => (JSON.parse(answer) as Fields)['mcp-param-zone']),
      zones,
    );
    assert(changes.includes('tools'), 'the tool has changed, so it is listed again');
    const sent = rig.lines.filter(({ text }) => /^→ tools\/call .*"region"/.test(text));
    assert.equal(sent.length, 6);
    // This header name is invalid, so no request can have it.
    await textOf(connection, 'mirror', { header: 'Not a header' });
    const refused = await callTool(connection, 'region', { zone: 'd' });
    assert(refused.kind === 'error');
    assert.equal(refused.code, -32603);
    assert.match(refused.message, /refused the headers of the request: .*Mcp-Param-Not a header/);
  });

  it('a tool with wrong mirrored parameters is left out over HTTP, and reported', async () => {
    const { url } = await rig.listen('modern', '--http', '--mirrors-wrongly');
    const { listing } = await rig.start(http(url));
    assert(!listing.tools.some(({ name }) => name === 'region'));
    assert.deepEqual(listing.malformed, [
      {
        name: 'region',
        detail: 'has an `x-mcp-header` where it is not allowed: only `properties` may lead to it',
      },
    ]);
    const { listing: overStdio } = await rig.start(fixture('modern', '--mirrors-wrongly'));
    assert.deepEqual(overStdio.malformed, []);
    assert(overStdio.tools.some(({ name }) => name === 'region'));
  });

  it('a server of both eras is initialized as a legacy server', async () => {
    const { url } = await rig.listen('modern', '--http', '--both');
    for (const launch of [fixture('modern', '--both'), http(url)]) {
      const { connection } = await rig.start(launch);
      assert.equal(connection.protocolVersion, '2025-11-25');
      assert.equal(await textOf(connection, 'echo', { text: 'hello' }), 'hello');
    }
  });
});
