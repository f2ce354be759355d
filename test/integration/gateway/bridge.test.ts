/**
 * `connect` between a client and gateways that come and go (G6), with the backend of the test.
 */
import assert from 'node:assert/strict';
import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemClock } from '../../../src/core/base/clock.js';
import { Bridge } from '../../../src/core/bridge/bridge.js';
import type { LostCall } from '../../../src/core/calls/lostCall.js';
import { createGateway, type Gateway } from '../../../src/core/gateway/http/gateway.js';
import { within } from '../../support/core/within.js';
import { collect } from '../../support/heap.js';
import { FakeBackend, MemoryLog, textOutcome } from '../../unit/gateway/fakes.js';

interface Said {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: { readonly content?: readonly { readonly text: string }[] };
  readonly error?: { readonly code: number; readonly message: string };
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
};
const lostText =
  /result unknown\. The call of .{1,2}go.{1,2} was not answered: the program that serves the toolsets ended\. It may or may not have taken effect, and it was not sent again\./;
const versions = { legacy: '2025-11-25', modern: '2026-07-28', batches: '2025-03-26' } as const;

describe('the bridge between a client over stdio and the gateway', () => {
  const log = new MemoryLog();
  let backend: FakeBackend;
  let gateway: Gateway;
  let token: string;
  let client: JoinedClient | undefined;
  let lost: LostCall[];

  function join(input: PassThrough, output: Writable): Promise<void> {
    const find = (): Promise<{ url: string; token: string }> =>
      Promise.resolve({ url: `http://127.0.0.1:${gateway.port}/mcp/play`, token });
    const bridge = new Bridge({
      input,
      output,
      find,
      onLost: (call) => void lost.push(call),
      clock: systemClock,
      version: '1',
      log,
    });
    return bridge.run(new AbortController().signal);
  }

  /** A client of the bridge: it writes and reads lines. */
  class JoinedClient {
    readonly heard: Said[] = [];
    private readonly input = new PassThrough();
    private readonly output = new PassThrough();
    private readonly listeners = new Set<() => void>();
    private readonly running: Promise<void>;

    constructor(private readonly kind: keyof typeof versions) {
      let rest = '';
      this.output.on('data', (chunk: Buffer) => {
        const lines = (rest + chunk.toString()).split('\n');
        rest = lines.pop() ?? '';
        this.heard.push(...lines.map((line) => JSON.parse(line) as Said));
        for (const listener of this.listeners) listener();
      });
      this.running = join(this.input, this.output);
    }

    async begin(): Promise<this> {
      if (this.kind === 'modern') return this;
      const clientInfo = { name: 'x', version: '1' };
      await this.ask(1, 'initialize', {
        protocolVersion: versions[this.kind],
        capabilities: {},
        clientInfo,
      });
      this.write({ jsonrpc: '2.0', method: 'notifications/initialized' });
      return this;
    }

    write(message: unknown): void {
      this.input.write(`${JSON.stringify(message)}\n`);
    }

    request(id: number, method: string, params: object = {}): object {
      return {
        jsonrpc: '2.0',
        id,
        method,
        params: this.kind === 'modern' ? { ...params, _meta: meta } : params,
      };
    }

    ask(id: number, method: string, params: object = {}): Promise<Said> {
      this.write(this.request(id, method, params));
      return this.hears((said) => said.id === id && said.method === undefined);
    }

    async call(id: number): Promise<string | undefined> {
      const { result, error } = await this.ask(id, 'tools/call', { name: 'go', arguments: { id } });
      return result?.content?.[0]?.text ?? error?.message;
    }

    hears(wanted: (said: Said) => boolean): Promise<Said> {
      const found = new Promise<Said>((resolve) => {
        const look = (): void => {
          const said = this.heard.find(wanted);
          if (!said) return;
          this.listeners.delete(look);
          resolve(said);
        };
        this.listeners.add(look);
        look();
      });
      return within(found, 'what the client waits for');
    }

    async end(): Promise<void> {
      this.input.end();
      await this.running;
    }
  }

  async function open(port: number): Promise<void> {
    backend = new FakeBackend();
    backend.set('play', ['go']);
    gateway = createGateway(
      { backend, log, clock: systemClock },
      { version: '1', stable: { port, token } },
    );
    await gateway.start();
  }

  const sockets = new Set<Socket>();
  const clientSockets = channel('net.client.socket');
  const note = (message: unknown): void => void sockets.add((message as { socket: Socket }).socket);

  /** Resolves when all present sockets of the bridge are closed. */
  async function untilClosed(end: () => Promise<void>): Promise<void> {
    const open = [...sockets].filter((socket) => !socket.closed);
    const closed = open.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    await end();
    await within(Promise.all(closed), 'the end of the sockets');
  }

  /** A message on a dying socket may have been delivered. */
  const endGateway = (): Promise<void> => untilClosed(() => gateway.dispose());

  /** The sockets of the gateway break, as they do when its process is killed. */
  const killGateway = (): Promise<void> =>
    untilClosed(async () => {
      for (const socket of served) socket.resetAndDestroy();
      await gateway.dispose();
    });

  const answerAll = (): void => {
    backend.answering = ({ arguments: given }) => textOutcome(`did ${JSON.stringify(given)}`);
  };

  const served = new Set<Socket>();
  const streams: Socket[] = [];
  let onStream = (): void => {};
  const requests = channel('http.server.request.start');
  const noteRequest = (message: unknown): void => {
    const { request, socket } = message as { request: { method: string }; socket: Socket };
    served.add(socket);
    if (request.method !== 'GET') return;
    streams.push(socket);
    onStream();
  };

  /** Resolves with the next stream that a client holds open. */
  async function heldStream(use: (stream: Socket) => void): Promise<void> {
    const next = new Promise<void>((resolve) => (onStream = resolve));
    if (streams.length === 0) await within(next, 'a stream of the client');
    const [stream] = streams.splice(0);
    if (stream) use(stream);
  }

  before(() => {
    clientSockets.subscribe(note);
    requests.subscribe(noteRequest);
  });
  after(() => {
    clientSockets.unsubscribe(note);
    requests.unsubscribe(noteRequest);
  });

  beforeEach(async () => {
    token = 'a'.repeat(43);
    lost = [];
    streams.length = 0;
    await open(0);
  });

  afterEach(async () => {
    await client?.end();
    client = undefined;
    await gateway.dispose();
  });

  for (const kind of ['modern', 'legacy'] as const) {
    for (const what of ['is on another port', 'has another token'] as const) {
      it(`each request right after the gateway ${what} is answered: ${versions[kind]}`, async () => {
        answerAll();
        client = await new JoinedClient(kind).begin();
        assert.equal(await client.call(2), 'did {"id":2}');
        const { port = 0 } = gateway;
        await endGateway();
        if (what === 'has another token') token = 'b'.repeat(43);
        await open(what === 'has another token' ? port : 0);
        answerAll();
        const joined = client;
        const ids = [10, 11, 12, 13];
        assert.deepEqual(
          await Promise.all(ids.map((id) => joined.call(id))),
          ids.map((id) => `did {"id":${id}}`),
        );
      });
    }

    it(`a call in flight at the end of its gateway is answered, and not sent again (X4): ${versions[kind]}`, async () => {
      client = await new JoinedClient(kind).begin();
      const running = client.call(2);
      await backend.nextCall();
      await endGateway();
      await open(0);
      answerAll();
      assert.match((await running) ?? '', lostText);
      assert.equal(await client.call(3), 'did {"id":3}');
      assert.deepEqual(lost, [], 'the gateway has recorded it');
    });

    it(`a call whose gateway dies is a result, unknown and not sent again, and only its client can record it (X4): ${versions[kind]}`, async () => {
      const joined = (client = await new JoinedClient(kind).begin());
      const running = joined.ask(2, 'tools/call', { name: 'go', arguments: { id: 2 } });
      await backend.nextCall();
      await killGateway();
      await open(0);
      answerAll();
      const { result } = (await running) as { result: Record<string, unknown> };
      assert.equal(result['isError'], true);
      assert.equal(result['resultType'], kind === 'modern' ? 'complete' : undefined);
      assert.match(JSON.stringify(result['content']), lostText);
      assert.equal(await joined.call(3), 'did {"id":3}');
      assert.deepEqual(
        lost.map(({ tool, agent, arguments: given }) => ({ tool, agent, given })),
        [{ tool: 'go', agent: 'x', given: { id: 2 } }],
      );
      const prefix = kind === 'modern' ? 'mcp-address:' : 'mcp-session:';
      assert.match(lost[0]?.conversation ?? '', new RegExp(`^${prefix}.{8}`));
    });

    it(`a break of its stream takes nothing from a living client, which opens it again (L2a): ${versions[kind]}`, async () => {
      answerAll();
      const joined = (client = await new JoinedClient(kind).begin());
      assert.equal(await joined.call(2), 'did {"id":2}');
      await heldStream((socket) => socket.resetAndDestroy());
      await heldStream(() => {});
      assert.equal(await joined.call(3), 'did {"id":3}');
    });

    it(`a call of a removed toolset finishes, and the next request is refused (R4): ${versions[kind]}`, async () => {
      client = await new JoinedClient(kind).begin();
      const running = client.call(2);
      const held = await backend.nextCall();
      backend.remove('play');
      const { result, error } = await client.ask(3, 'tools/list');
      assert.ok(error ? error.message === 'There is no toolset "play".' : result);
      assert.equal(held.call.signal.aborted, false);
      held.answer(textOutcome('done'));
      assert.equal(await running, 'done');
    });

    it(`a call that outlives the toolset can still be cancelled: ${versions[kind]}`, async () => {
      client = await new JoinedClient(kind).begin();
      void client.call(2).catch(() => undefined);
      const { call } = await backend.nextCall();
      const aborted = new Promise<void>((resolve) =>
        call.signal.addEventListener('abort', () => resolve()),
      );
      backend.remove('play');
      await client.ask(3, 'tools/list');
      client.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } });
      await within(aborted, 'the cancellation');
      assert.ok(client.heard.every(({ id }) => id !== 2));
    });
  }

  for (const where of ['another port', 'the same port, and its session is revived'] as const)
    for (const [what, tools, isTold] of [
      ['the same list', ['go'], false],
      ['another list', ['go', 'on'], true],
    ] as const)
      it(`a client hears of a change at the next gateway on ${where} if it has read a list that differs: ${what} (N6)`, async () => {
        const joined = (client = await new JoinedClient('legacy').begin());
        // The first change shows that the stream of the client is open.
        const isChange = ({ method }: Said): boolean =>
          method === 'notifications/tools/list_changed';
        backend.set('play', ['go', 'more']);
        await joined.hears(isChange);
        backend.set('play', ['go']);
        await joined.ask(2, 'tools/list');
        const before = joined.heard.length;
        const { port = 0 } = gateway;
        await endGateway();
        const isRevived = where !== 'another port';
        await open(isRevived ? port : 0);
        backend.set('play', [...tools]);
        answerAll();
        // The stream of the client revives its session before the next message.
        if (!isRevived) assert.equal(await joined.call(3), 'did {"id":3}');
        // The client has not read this list, so it is always reported.
        await joined.hears(({ method }) => method === 'notifications/resources/list_changed');
        const since = (): Said[] => joined.heard.slice(before).filter(isChange);
        if (isTold) await joined.hears(() => since().length > 0);
        // The bridge has compared the lists before it passes on another one.
        await joined.ask(4, 'tools/list');
        assert.equal(since().length, isTold ? 1 : 0);
      });

  it('a call goes on at the old gateway after the client has found another, and can be cancelled there', async () => {
    client = await new JoinedClient('modern').begin();
    const running = client.call(2);
    const first = { backend, gateway };
    const held = await backend.nextCall();
    void client.ask(3, 'tools/call', { name: 'go' }).catch(() => undefined);
    const { call } = await backend.nextCall();
    const aborted = new Promise<void>((resolve) =>
      call.signal.addEventListener('abort', () => resolve()),
    );
    // Both go on, and the first reports the missing toolset.
    await open(0);
    answerAll();
    first.backend.remove('play');
    try {
      assert.equal(await client.call(4), 'did {"id":4}');
      client.write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } });
      await within(aborted, 'the cancellation');
      assert.equal(held.call.signal.aborted, false);
      held.answer(textOutcome('done'));
      assert.equal(await running, 'done');
    } finally {
      await first.gateway.dispose();
    }
  });

  it('the end of the bridge leaves no call behind, and writes nothing', async () => {
    const joined = await new JoinedClient('modern').begin();
    joined.write(joined.request(2, 'tools/call', { name: 'go' }));
    const { call } = await backend.nextCall();
    const aborted = new Promise<void>((resolve) =>
      call.signal.addEventListener('abort', () => resolve()),
    );
    await joined.end();
    await within(aborted, 'the end of the call');
    assert.deepEqual(joined.heard, []);
  });

  it('the end of the bridge ends the stream of its conversation, also after a garbage collection (L2a)', async () => {
    answerAll();
    const joined = await new JoinedClient('modern').begin();
    for (const id of [2, 3, 4]) assert.equal(await joined.call(id), `did {"id":${id}}`);
    collect();
    await untilClosed(() => joined.end());
  });

  it('messages to a client that does not read are kept in bounds, and the answer is kept (S2)', async () => {
    const input = new PassThrough();
    const output = new Writable({ write: () => {} });
    const answered = new Promise<void>((resolve) => {
      const write = output.write.bind(output) as (line: string) => boolean;
      output.write = (line: string): boolean => {
        if ((JSON.parse(line) as Said).id === 2) resolve();
        return write(line);
      };
    });
    const running = join(input, output);
    const params = { name: 'go', _meta: { ...meta, 'io.modelcontextprotocol/logLevel': 'info' } };
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params })}\n`);
    const held = await backend.nextCall();
    for (let count = 0; count < 4_000; count++) {
      held.call.client?.tell('notifications/message', { level: 'info', data: 'x'.repeat(1_000) });
      if (count % 50 === 0) await nextTurn();
    }
    held.answer(textOutcome('done'));
    await within(answered, 'the answer');
    assert.ok(
      output.writableLength > 500_000 && output.writableLength < 1_500_000,
      `${output.writableLength}`,
    );
    input.end();
    await running;
  });

  it('an invalid line gets an error, and the next line is read', async () => {
    answerAll();
    client = await new JoinedClient('legacy').begin();
    for (const line of [null, 5, 'x', true, [], {}, { jsonrpc: '2.0', id: 9 }]) client.write(line);
    assert.equal(await client.call(2), 'did {"id":2}');
    assert.deepEqual(
      client.heard.slice(1, -1).map(({ id, error }) => [id, error?.code]),
      [...Array.from({ length: 6 }, () => [null, -32600]), [9, -32600]],
    );
  });

  it('the requests of a batch are answered, one by one; one of very many messages is refused (S2b)', async () => {
    answerAll();
    client = await new JoinedClient('batches').begin();
    client.write([
      client.request(2, 'tools/list'),
      null,
      client.request(3, 'ping'),
      [client.request(4, 'ping')],
    ]);
    for (const id of [2, 3]) assert.ok((await client.hears((said) => said.id === id)).result);
    client.write(Array.from({ length: 100_000 }, () => null));
    assert.equal(await client.call(5), 'did {"id":5}');
    assert.deepEqual(
      client.heard.filter(({ id }) => id === null).map(({ error }) => error?.code),
      [-32600, -32600, -32600],
    );
  });

  it('a method of strange characters is unknown, and ends nothing', async () => {
    client = await new JoinedClient('modern').begin();
    const running = client.call(2);
    const held = await backend.nextCall();
    const { error } = await client.ask(3, 'tools/ü\n');
    assert.ok(error);
    held.answer(textOutcome('done'));
    assert.equal(await running, 'done');
  });
});
