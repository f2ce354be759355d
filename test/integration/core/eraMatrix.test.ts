/**
 * Clients and servers of both eras in every mixture and over every transport (X8, G2, G4, G6). SDK
 * 1.x and 2.x are on either side of one gateway, and every toolset is renamed and leased. The
 * tables below make the cells. A lease needs two conversations. So in each mixture one client uses
 * HTTP, and one uses stdio through the bridge of `connect`. `cli/connect.test.ts` tests the bridge
 * as a program.
 *
 * Each mixture has a call. Of the other aspects it has some, and `isCell` chooses them: each aspect
 * meets each server over each transport, each client with each era of a server, and each client
 * over each transport of its own.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  Client as ModernSdk,
  StreamableHTTPClientTransport as ModernHttp,
} from '@modelcontextprotocol/client';
import { Client as LegacySdk } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { systemClock } from '../../../src/core/base/clock.js';
import { Emitter, nextEvent, type Event } from '../../../src/core/base/events.js';
import { Bridge } from '../../../src/core/bridge/bridge.js';
import { fixture, http, type Entry } from '../../support/core/configText.js';
import { startHttpFixture, type HttpServer } from '../../support/core/httpServers.js';
import { Pipe } from '../../support/core/pipe.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';
import { silentLog } from '../../support/fakes/silentLog.js';
import { within } from '../../support/core/within.js';

const eras = ['legacy', 'modern'] as const;
const transports = ['stdio', 'http', 'sse'] as const;
/** Transports of clients. */
const lines = ['http', 'stdio'] as const;
type Era = (typeof eras)[number];
type Transport = (typeof transports)[number];
type Line = (typeof lines)[number];

interface Options {
  readonly signal?: AbortSignal;
  readonly onStep?: (message: string | undefined) => void;
}

/** A client of the gateway, made with either SDK. */
interface Peer {
  /** @param tool its original name */
  call(
    tool: string,
    args?: Record<string, unknown>,
    options?: Options,
  ): Promise<{ text: string; isError: boolean }>;
  /** The original names of its listed tools. */
  names(): Promise<string[]>;
  readonly onDidHearOfChange: Event<void>;
  close(): Promise<void>;
}

interface Cell {
  readonly peer: Peer;
  /** The transport between the peer and the gateway. */
  readonly line: Line;
  /** The peer over the other transport. */
  readonly other: Peer;
  readonly stage: Stage;
  readonly id: string;
  edit(rest: Entry): Promise<void>;
  /** Restarts the process of the server if only the test can. */
  revive(): Promise<void>;
}

const sameText = async (peer: Peer, text: string): Promise<void> =>
  assert.deepEqual(await peer.call('echo', { text }), { text, isError: false });
const leased = ({ stage, id }: Pick<Cell, 'stage' | 'id'>): number =>
  stage.instances(id).filter(({ use }) => use.kind === 'leased').length;

/** Waits for the notification of the change, then for the changed list. */
async function changes(
  peer: Peer,
  change: () => Promise<unknown>,
  name: string,
  isThere: boolean,
): Promise<void> {
  const heard = nextEvent(peer.onDidHearOfChange, () => true);
  await change();
  await within(heard, 'the change of the list');
  while ((await peer.names()).includes(name) !== isThere) await new Promise(setImmediate);
}

/** In the order of their runs. */
const aspects: Readonly<Record<string, (cell: Cell) => Promise<void>>> = {
  call: ({ peer }) => sameText(peer, 'hello'),
  error: async ({ peer, id }) => {
    assert.deepEqual(await peer.call('fails'), { text: 'it failed', isError: true });
    await assert.rejects(peer.call('nothing'), new RegExp(`has no tool "${id}_nothing"`));
  },
  progress: async ({ peer }) => {
    const steps: unknown[] = [];
    await peer.call('steps', { count: 2 }, { onStep: (message) => steps.push(message) });
    assert.deepEqual(steps, ['step 1', 'step 2']);
  },
  cancel: async ({ peer }) => {
    const count = async (): Promise<number> => Number((await peer.call('cancelled')).text);
    const before = await count();
    const stop = new AbortController();
    await assert.rejects(
      peer.call('hold', {}, { signal: stop.signal, onStep: () => stop.abort() }),
    );
    while ((await count()) !== before + 1);
  },
  question: async ({ peer }) => {
    const { text } = await peer.call('elicit', { message: 'Who?' });
    assert.deepEqual(JSON.parse(text), { action: 'accept', content: { answer: 'Who?' } });
  },
  'change of tools': ({ peer, line }) =>
    changes(peer, () => peer.call('add', { name: `over_${line}` }), `over_${line}`, true),
  edit: async ({ peer, edit }) => {
    await changes(peer, () => edit({ tools: { blacklist: ['fails'] } }), 'fails', false);
    await changes(peer, () => edit({}), 'fails', true);
    await sameText(peer, 'after the edit');
  },
  lease: async (cell) => {
    await sameText(cell.peer, 'its own');
    await sameText(cell.other, 'the other');
    assert.equal(leased(cell), 2);
  },
  release: async (cell) => {
    const { peer, other, stage, id } = cell;
    await sameText(peer, 'its own');
    await sameText(other, 'the other');
    assert.match((await peer.call(`mcp_release_${id}`)).text, /has ended/);
    await stage.until(() => leased(cell) === 1, 'the end of what was given back');
    await sameText(peer, 'anew');
  },
  death: async ({ peer, revive }) => {
    const { text, isError } = await peer.call('end');
    assert(isError);
    assert.match(text, /result unknown/);
    await revive();
    // The next call also starts a server after the host gave up on it.
    await sameText(peer, 'after death');
  },
};

/** Combinations outside the protocol, with reasons. */
const impossible: readonly {
  readonly server: Era;
  readonly transport: Transport;
  readonly why: string;
}[] = [
  {
    server: 'modern',
    transport: 'sse',
    why: 'HTTP+SSE is of 2024-11-05: since 2026-07-28 a server has no stream to GET',
  },
];

/** Every server with every transport. */
const servers = eras.flatMap((server) => transports.map((transport) => ({ server, transport })));
type ServerKind = (typeof servers)[number];

const reasonOf = ({ server, transport }: ServerKind): string | undefined =>
  impossible.find((one) => one.server === server && one.transport === transport)?.why;
const possible = servers.filter((one) => reasonOf(one) === undefined);

/**
 * True if this mixture has a cell for the aspect. From one server to the next the client changes,
 * and from every second one its transport. From one aspect to the next both move on, so that none
 * stays with a server.
 */
function isCell(aspect: string, client: Era, server: ServerKind, line: Line): boolean {
  if (aspect === 'call') return true;
  const [row, column] = [Object.keys(aspects).indexOf(aspect), possible.indexOf(server)];
  const half = Math.floor(row / 2) + Math.floor(column / 2);
  return client === eras[(row + column) % 2] && line === lines[half % 2];
}

const elicitation = { elicitation: { form: {} } };
const accept = (message: string): { action: 'accept'; content: { answer: string } } => ({
  action: 'accept',
  content: { answer: message },
});
const read = (result: unknown): { text: string; isError: boolean } => {
  const { content, isError = false } = result as { content: { text: string }[]; isError?: boolean };
  return { text: content[0]?.text ?? '', isError };
};
const nameOf = (id: string, tool: string): string =>
  tool.startsWith('mcp_') ? tool : `${id}_${tool}`;
const withoutPrefix = (id: string, tools: readonly { name: string }[]): string[] =>
  tools.map(({ name }) => name.replace(`${id}_`, ''));

type Address = ReturnType<Awaited<ReturnType<Stage['gateway']>>['endpoint']>;

/** A client over stdio ends its conversation by closing its output. */
function piped({ url, headers }: Address): Pipe {
  const token = headers['Authorization']?.replace('Bearer ', '') ?? '';
  const find = (): Promise<{ url: string; token: string }> => Promise.resolve({ url, token });
  return new Pipe((input, output, signal) =>
    new Bridge({ input, output, find, clock: systemClock, log: silentLog, version: '1' }).run(
      signal,
    ),
  );
}

const open: Readonly<Record<Era, (stage: Stage, id: string, line: Line) => Promise<Peer>>> = {
  legacy: async (stage, id, line) => {
    const address = (await stage.gateway()).endpoint(id, 'agent');
    const client = new LegacySdk({ name: 'legacy', version: '1' }, { capabilities: elicitation });
    const changed = new Emitter<void>();
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => accept(params.message));
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.fire());
    const overHttp = new LegacyHttp(new URL(address.url), {
      requestInit: { headers: { ...address.headers } },
    });
    const transport = line === 'stdio' ? piped(address) : overHttp;
    await client.connect(transport as unknown as Parameters<LegacySdk['connect']>[0]);
    return {
      call: async (tool, args = {}, { signal, onStep } = {}) => {
        const options = {
          ...(signal && { signal }),
          ...(onStep && { onprogress: (step: { message?: string }) => onStep(step.message) }),
        };
        return read(
          await client.callTool(
            { name: nameOf(id, tool), arguments: args },
            undefined,
            options as object,
          ),
        );
      },
      names: async () => withoutPrefix(id, (await client.listTools()).tools),
      onDidHearOfChange: changed.event,
      close: async () => {
        if (line === 'http') await overHttp.terminateSession();
        await client.close();
      },
    };
  },
  modern: async (stage, id, line) => {
    const { url, headers } = (await stage.gateway()).endpoint(id, 'agent');
    const client = new ModernSdk(
      { name: 'modern', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } }, capabilities: elicitation },
    );
    const changed = new Emitter<void>();
    client.setRequestHandler('elicitation/create', ({ params }) => accept(params.message));
    client.setNotificationHandler('notifications/tools/list_changed', () => changed.fire());
    const own = new URL(`${url}/c/${randomBytes(16).toString('base64url')}`);
    await client.connect(
      line === 'stdio'
        ? piped({ url, headers })
        : new ModernHttp(own, { requestInit: { headers: { ...headers } } }),
    );
    await client.listen({ toolsListChanged: true });
    return {
      call: async (tool, args = {}, { signal, onStep } = {}) => {
        const options = {
          ...(signal && { signal }),
          ...(onStep && { onprogress: (step: { message?: string }) => onStep(step.message) }),
        };
        return read(
          await client.callTool({ name: nameOf(id, tool), arguments: args }, options as object),
        );
      },
      names: async () => withoutPrefix(id, (await client.listTools()).tools),
      onDidHearOfChange: changed.event,
      close: async () => {
        await client.close();
        if (line === 'http') await (await fetch(own, { method: 'DELETE', headers })).body?.cancel();
      },
    };
  },
};

describe('both eras in every mixture (X8)', function () {
  this.timeout(120_000);
  let stage: Stage;
  const listening = new Map<
    string,
    { readonly server: HttpServer; readonly begin: (port: string) => Promise<HttpServer> }
  >();
  const entries: Record<string, Entry> = {};
  const idOf = (server: Era, transport: Transport): string => `${server}_${transport}`;

  before(async () => {
    stage = await startStage();
    await Promise.all(
      possible.map(async ({ server, transport }) => {
        const id = idOf(server, transport);
        const rest = { transform: [{ prefix: `${id}_` }] };
        if (transport === 'stdio') {
          entries[id] = fixture(server, [], rest);
          return;
        }
        const args = server === 'modern' ? ['--http'] : ['--over', transport];
        const begin = (port: string): Promise<HttpServer> =>
          startHttpFixture(server, [...args, '--port', port], process.env);
        const started = await begin('0');
        listening.set(id, { server: started, begin });
        entries[id] = http(started.url, rest);
      }),
    );
    await stage.edit(entries);
  });
  after(async () => {
    await endStages();
    await Promise.all([...listening.values()].map(({ server }) => server.stop()));
  });

  it('HTTP+SSE has no cell for clients, because a client of 2024-11-05 uses stdio or Streamable HTTP', async () => {
    const { url, headers } = (await stage.gateway()).endpoint(idOf('legacy', 'stdio'), 'agent');
    const response = await fetch(url, { headers: { ...headers, accept: 'text/event-stream' } });
    await response.body?.cancel();
    assert.equal(response.status, 400);
  });

  it('Every aspect meets every server, every client with every era of a server, and every client over its transports', () => {
    for (const aspect of Object.keys(aspects)) {
      const cells = eras.flatMap((client) =>
        possible.flatMap((server) =>
          lines
            .filter((line) => isCell(aspect, client, server, line))
            .map((line) => ({ client, server, line })),
        ),
      );
      const kinds = (of: (cell: (typeof cells)[number]) => string): number =>
        new Set(cells.map(of)).size;
      assert.equal(
        kinds(({ server }) => idOf(server.server, server.transport)),
        possible.length,
      );
      assert.equal(
        kinds(({ client, server }) => `${client} ${server.server}`),
        4,
      );
      assert.equal(
        kinds(({ client, line }) => `${client} ${line}`),
        4,
      );
    }
  });

  for (const client of eras) {
    for (const kind of servers) {
      const { server, transport } = kind;
      describe(`a ${client} client and a ${server} server over ${transport}`, () => {
        const why = reasonOf(kind);
        if (why !== undefined) {
          it(`This mixture has no cells: ${why}`, async () => {
            const response = await fetch(listening.get(idOf(server, 'http'))?.server.url ?? '', {
              headers: { accept: 'text/event-stream' },
            });
            await response.body?.cancel();
            assert.equal(response.status, 405);
          });
          return;
        }
        const id = idOf(server, transport);
        let peers: Readonly<Record<Line, Peer>>;
        let rest: Pick<Cell, 'stage' | 'id' | 'edit' | 'revive'>;
        before(async () => {
          const [http, stdio] = await Promise.all(
            lines.map((line) => open[client](stage, id, line)),
          );
          assert(http && stdio);
          peers = { http, stdio };
          const edit = async (rest: Entry): Promise<void> =>
            stage.edit({ ...entries, [id]: { ...entries[id], ...rest } });
          const revive = async (): Promise<void> => {
            const had = listening.get(id);
            if (!had) return;
            await had.server.stop();
            listening.set(id, { ...had, server: await had.begin(new URL(had.server.url).port) });
          };
          rest = { stage, id, edit, revive };
        });
        after(async () => {
          await Promise.all(Object.values(peers).map((peer) => peer.close()));
          await stage.until(() => leased(rest) === 0, 'the end of what they held');
        });
        for (const [aspect, check] of Object.entries(aspects)) {
          for (const line of lines.filter((one) => isCell(aspect, client, kind, one))) {
            const other = line === 'http' ? 'stdio' : 'http';
            it(`${aspect}, from a client over ${line}`, () =>
              check({ ...rest, line, peer: peers[line], other: peers[other] }));
          }
        }
      });
    }
  }
});
