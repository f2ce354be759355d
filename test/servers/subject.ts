/**
 * A real server under comparison: its start, its answers to a bare client, and its differences by
 * each road.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Era } from '../../src/core/protocol/versions.js';
import type { Entry } from '../support/core/configText.js';
import { startNode, type HttpServer } from '../support/core/httpServers.js';
import { freePort } from '../support/freePort.js';
import {
  expectedAnswer,
  expectedTools,
  isOfAllServers,
  nameOf,
  withoutToken,
  type RoadName,
} from './expected.js';
import { Peer, type Answer, type Fields, type Launch } from './peer.js';
import { scriptOf, seed, type Ask, type RealServer } from './servers.js';

/** The request for each list, and the key of its entries. */
const lists = {
  tools: { method: 'tools/list', key: 'name' },
  prompts: { method: 'prompts/list', key: 'name' },
  resources: { method: 'resources/list', key: 'uri' },
  resourceTemplates: { method: 'resources/templates/list', key: 'uriTemplate' },
} as const;
type ListName = keyof typeof lists;
const listNames = Object.keys(lists) as ListName[];

/** The lists and answers of the server to a bare client. */
interface Bare {
  readonly instructions: string | undefined;
  readonly lists: Readonly<Record<ListName, readonly Fields[]>>;
  readonly answers: ReadonlyMap<Ask, Answer>;
}

export interface Difference {
  readonly server: string;
  readonly road: string;
  /** The list, or the request. */
  readonly what: string;
  readonly expected: string;
  readonly seen: string;
}

const serverInfo = 'io.modelcontextprotocol/serverInfo';

export class Subject {
  readonly differences: Difference[] = [];
  readonly roads = new Set<string>();
  calls = 0;
  http: (HttpServer & { readonly url: string }) | undefined;
  private port: number | undefined;
  private readonly bareOf = new Map<Era, Bare>();

  private constructor(
    readonly server: RealServer,
    readonly asks: readonly Ask[],
    private readonly place: string,
    private readonly launch: Launch,
  ) {}

  /** @param place the folder for the folders of all servers, and the root of their clients */
  static async of(server: RealServer, place: string): Promise<Subject> {
    const cwd = path.join(place, server.id);
    const args = [await scriptOf(server), ...(server.args?.(cwd) ?? [])];
    const env = { ...process.env, ...server.env?.(cwd) };
    delete env['NODE_OPTIONS'];
    return new Subject(server, server.asks(cwd), place, {
      command: process.execPath,
      args,
      cwd,
      env,
    });
  }

  get entry(): Entry {
    const { prefix, env } = this.server;
    const { command, args, cwd } = this.launch;
    const rest = {
      ...(prefix !== undefined && { transform: [{ prefix }] }),
      timeouts: { connect: '60s' },
    };
    if (this.http) return { transport: 'streamable_http', url: this.http.url, ...rest };
    return { transport: 'stdio', command, args, cwd, env: env?.(cwd) ?? {}, ...rest };
  }

  /** The first call of each conversation. Its result has a note, so it is not compared (L3). */
  get opening(): Ask {
    return this.asks[0] ?? assert.fail();
  }

  /** A call with the same answer in every state of the server. */
  get steady(): Ask {
    return (
      this.asks.find(({ method, depends }) => method === 'tools/call' && !depends) ?? assert.fail()
    );
  }

  /** Fills the folder of the server with the same files each time. */
  seed(): void {
    seed(this.launch.cwd);
  }

  /** Starts an HTTP server, on the same port each time. */
  async begin(): Promise<void> {
    this.port ??= await freePort();
    const { args = [], env } = this.server.port?.(String(this.port)) ?? {};
    const started = startNode(
      [...this.launch.args, ...args],
      { ...this.launch.env, ...env },
      this.launch.cwd,
    );
    await started.line(/ (http:\S+\/mcp)/);
    this.http = { ...started.server, url: `http://127.0.0.1:${this.port}/mcp` };
  }

  /** @param isPlain without capabilities, as the command line */
  async askDirectly(era: Era, isPlain = false): Promise<Bare> {
    this.seed();
    if (this.server.port && !this.http) await this.begin();
    const peer = await Peer.open(era, this.http ?? this.launch, { root: this.place, isPlain });
    await peer.request(this.opening.method, this.opening.params);
    if (!isPlain) await this.untilRoots(peer);
    const found = await listsOf(peer);
    const answers = new Map<Ask, Answer>();
    for (const ask of this.asks) answers.set(ask, await peer.request(ask.method, ask.params));
    await peer.close();
    const bare = { instructions: peer.instructions, lists: found, answers };
    if (!isPlain) this.bareOf.set(era, bare);
    return bare;
  }

  /**
   * Resolves when the server has the roots of the client. It asks for them itself, so its first
   * answers may come before.
   */
  async untilRoots(peer: Peer, road?: RoadName): Promise<void> {
    if (!this.server.needsRoots) return;
    const { method, params } = this.steady;
    const ask = (): Promise<Answer> =>
      road === undefined ? peer.request(method, params) : this.ask(peer, this.steady, road);
    const root = JSON.stringify(this.place).slice(1, -1);
    for (
      const limit = Date.now() + 60_000;
      !JSON.stringify(await ask()).includes(root);
      await pause(50)
    )
      if (Date.now() > limit) throw new Error(`${this.server.id} does not know the roots`);
  }

  bare(era: Era): Bare {
    return this.bareOf.get(era) ?? assert.fail(`${this.server.id} did not answer the bare client`);
  }

  /** Runs a part of the comparison. Its failure is a difference. */
  async guarded(road: string, run: () => Promise<void>): Promise<void> {
    this.roads.add(road);
    try {
      await run();
    } catch (error) {
      this.note(road, 'runs to its end', '', String(error));
    }
  }

  async compare(peer: Peer, era: Era, road: RoadName): Promise<void> {
    this.seed();
    const opening = await this.ask(peer, this.opening, road);
    await this.untilRoots(peer, road);
    this.same(
      road,
      'note of the first result',
      true,
      JSON.stringify(opening).includes('[MCP Toolsets]'),
    );
    await this.compareLists(peer, era, road);
    await this.compareAnswers(peer, era, road);
  }

  private async compareLists(peer: Peer, era: Era, road: RoadName): Promise<void> {
    const bare = this.bare(era);
    const all = await listsOf(peer);
    const isAlone = road === 'toolset' || road === 'editor';
    if (isAlone)
      this.same(road, 'instructions', true, peer.instructions?.startsWith(bare.instructions ?? ''));
    for (const name of listNames) {
      const { key } = lists[name];
      const expected =
        name === 'tools' ? expectedTools(this.server, bare.lists.tools, road) : bare.lists[name];
      const own = new Set(expected.map((entry) => entry[key]));
      const found = all[name].filter((entry) => own.has(entry[key]));
      this.same(road, name, expected, found);
      if (!isAlone) continue;
      // Without `mcp_admin`, a client has the release tool here (L2a).
      const release =
        name === 'tools' && road === 'toolset' ? [`mcp_release_${this.server.id}`] : [];
      const added = all[name].filter((entry) => !found.includes(entry)).map((entry) => entry[key]);
      this.same(road, `entries added to ${name}`, release, added);
    }
  }

  async compareAnswers(peer: Peer, era: Era, on: RoadName | 'two conversations'): Promise<void> {
    const road = on === 'two conversations' ? 'toolset' : on;
    const bare = this.bare(era);
    for (const ask of this.asks) {
      if (road !== on && ask.depends) continue;
      const seen = await this.ask(peer, ask, road);
      // The gateway itself refuses a name in none of its lists.
      if (!isListed(bare, ask)) this.same(on, titleOf(ask), -32602, seen.error?.code);
      else {
        const answer = await expectedAnswer(
          this.server,
          bare.lists.tools,
          ask,
          bare.answers.get(ask) ?? {},
          road,
        );
        this.sameAnswer(on, ask, answer, seen);
      }
    }
  }

  /** Sends a request like a client of this road. */
  ask(peer: Peer, { method, params }: Ask, road: RoadName): Promise<Answer> {
    if (method !== 'tools/call') return peer.request(method, params);
    const meta = road === 'editor' ? { _meta: { 'vscode.conversationId': 'one' } } : {};
    return peer.request(method, {
      ...params,
      name: nameOf(this.server, params['name'], road),
      ...meta,
    });
  }

  sameAnswer(road: string, ask: Ask, expected: Answer, seen: Answer): void {
    this.calls += 1;
    if (expected.error && isOfAllServers(seen)) return;
    const [bare, other] = [apartFromServer(expected), apartFromServer(seen)];
    if (bare.hasServer) this.same(road, 'serverInfo of results', true, other.hasServer);
    const text = (answer: Answer): string => {
      const json = withoutToken(JSON.stringify(answer));
      return ask.varies ? json.replaceAll(ask.varies, '…') : json;
    };
    if (text(bare.rest) !== text(other.rest))
      this.note(road, titleOf(ask), text(bare.rest), text(other.rest));
  }

  same(road: string, what: string, expected: unknown, seen: unknown): void {
    const [one, other] = [JSON.stringify(expected), JSON.stringify(seen)];
    if (one !== other) this.note(road, what, one, other);
  }

  /** Keeps the text around the first difference. */
  private note(road: string, what: string, expected: string, seen = ''): void {
    let at = 0;
    while (at < expected.length && expected[at] === seen[at]) at += 1;
    const cut = (text: string): string =>
      `${at > 60 ? '…' : ''}${text.slice(Math.max(0, at - 60), at + 240)}`;
    this.differences.push({
      server: this.server.id,
      road,
      what,
      expected: cut(expected),
      seen: cut(seen),
    });
  }
}

async function listsOf(peer: Peer): Promise<Bare['lists']> {
  const found = new Map<ListName, readonly Fields[]>();
  for (const name of listNames) found.set(name, await peer.list(lists[name].method, name));
  return Object.fromEntries(found) as Bare['lists'];
}

/** True unless the name is in no list of the server. */
export function isListed(bare: Bare, { method, params }: Ask): boolean {
  const list = { 'tools/call': bare.lists.tools, 'prompts/get': bare.lists.prompts }[
    method as 'tools/call'
  ];
  return list === undefined || list.some(({ name }) => name === params['name']);
}

const titleOf = ({ method, params }: Ask): string =>
  `${method} ${String(params['name'] ?? params['uri'] ?? '')}`;

/**
 * Each server names itself in the results of 2026-07-28, and the gateway is a server with another
 * name.
 */
function apartFromServer({ result, ...rest }: Answer): { rest: Answer; hasServer: boolean } {
  const meta = (result?.['_meta'] ?? {}) as Fields;
  if (!result || meta[serverInfo] === undefined)
    return { rest: { ...rest, ...(result && { result }) }, hasServer: false };
  const others = Object.entries(meta).filter(([key]) => key !== serverInfo);
  const fields = Object.entries(result).filter(([key]) => key !== '_meta');
  const named = others.length > 0 ? [['_meta', Object.fromEntries(others)], ...fields] : fields;
  return { rest: { ...rest, result: Object.fromEntries(named) as Fields }, hasServer: true };
}
