/**
 * Compares the answers of a server to the SDK's client directly with its answers by each road
 * through the product. Both sides are the JSON of the wire. Each method runs one road for all
 * servers. At its end, no process may be left.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { everyToolset } from '../../src/core/gateway/routes.js';
import type { Era } from '../../src/core/protocol/versions.js';
import { CommandLine } from '../support/core/commandLine.js';
import { endStages, startStage, type Stage, type StageOptions } from '../support/core/stage.js';
import { untilSo } from '../support/core/within.js';
import { expectedTools, nameOf } from './expected.js';
import { known } from './known.js';
import { Peer, usualCapabilities, type Address, type Fields } from './peer.js';
import { erasOf, type RealServer } from './servers.js';
import { isListed, Subject } from './subject.js';

/** The number of comparisons at once. A start is work for the processor. */
const atOnce = 3;

export class Comparison {
  readonly subjects: Subject[] = [];
  private readonly place = realpathSync(mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-servers-')));

  /** Asks the servers directly. */
  static async begin(servers: readonly RealServer[]): Promise<Comparison> {
    const comparison = new Comparison();
    for (const server of servers)
      comparison.subjects.push(await Subject.of(server, comparison.place));
    await comparison.forEach(async (subject) => {
      for (const era of erasOf(subject.server)) await subject.askDirectly(era);
    });
    return comparison;
  }

  /**
   * The endpoint of each toolset, and the endpoint of all of them, with a client of each era (G2).
   * Two conversations at once have an instance each (L1). The process of one ends in the middle of
   * its call: the call fails, the other conversation notices nothing, and the next call has a new
   * instance (X4).
   */
  async endpoints(): Promise<void> {
    await this.onStage({}, async (stage, subject) => {
      for (const road of ['toolset', 'all'] as const) {
        for (const era of erasOf(subject.server)) {
          const to = await addressOf(stage, road === 'all' ? everyToolset : subject.server.id, era);
          await subject.guarded(road, () => this.compare(subject, to, era, road));
          if (era === 'modern')
            await (await fetch(to.url, { method: 'DELETE', headers: to.headers })).body?.cancel();
        }
      }
      await subject.guarded('two conversations', () => this.compareTwo(subject, stage));
    });
  }

  /** As the editor: short names, readable results, and capabilities known beforehand (V1a). */
  async editor(): Promise<void> {
    const roots = [{ uri: pathToFileURL(this.place).href, name: 'root' }];
    const expectedClient = { capabilities: usualCapabilities, roots: () => roots };
    await this.onStage({ expectedClient }, async (stage, subject) => {
      const to = await addressOf(stage, subject.server.id, 'legacy', 'editor');
      await subject.guarded('editor', () => this.compare(subject, to, 'legacy', 'editor'));
    });
  }

  /** `mcp-toolsets connect`, a process for one client (G6). */
  async connect(): Promise<void> {
    const cli = await CommandLine.open(this.config());
    const { command, args, env } = cli.commandOf('connect');
    for (const era of ['legacy', 'modern'] as const) {
      const chosen = this.subjects.filter(({ server }) => erasOf(server).includes(era));
      if (chosen.length === 0) continue;
      const peer = await Peer.open(
        era,
        { command, args, cwd: cli.folder, env },
        { root: this.place },
      );
      await untilListed(peer, chosen);
      for (const subject of chosen)
        await subject.guarded('connect', () => subject.compare(peer, era, 'connect'));
      await peer.close();
      await cli.stopEngines();
      await cli.untilGone();
    }
    await cli.close();
  }

  /**
   * `tools`, `resources`, `prompts`, `call`, `read` and `prompt`, each in a process (H1).
   * @param only the servers; absent: all
   */
  async commandLine(only?: readonly string[]): Promise<void> {
    await this.forEach(async (subject) => {
      if (only && !only.includes(subject.server.id)) return;
      const cli = await CommandLine.open({ [subject.server.id]: subject.entry });
      await subject.guarded('command line', () => compareCommands(subject, cli));
      await cli.close();
    });
  }

  private async compare(
    subject: Subject,
    to: Address,
    era: Era,
    road: 'toolset' | 'all' | 'editor',
  ): Promise<void> {
    const peer = await Peer.open(era, to, { root: this.place });
    await subject.compare(peer, era, road);
    await peer.close();
  }

  private async compareTwo(subject: Subject, stage: Stage): Promise<void> {
    const { server, steady } = subject;
    const leased = (): ReturnType<Stage['instances']> =>
      stage.instances(server.id).filter(({ use }) => use.kind === 'leased');
    const open = async (): Promise<Peer> => {
      const peer = await Peer.open('legacy', await addressOf(stage, server.id, 'legacy'), {
        root: this.place,
      });
      await subject.ask(peer, subject.opening, 'toolset');
      await subject.untilRoots(peer, 'toolset');
      return peer;
    };
    await stage.until(
      () => leased().length === 0,
      'the end of the instances of ended conversations',
    );
    subject.seed();
    const one = await open();
    const [ofOne] = leased();
    const pid = subject.http?.pid ?? ofOne?.pid;
    const other = await open();
    subject.same('two conversations', 'instances', 2, leased().length);
    await Promise.all(
      [one, other].map((peer) => subject.compareAnswers(peer, 'legacy', 'two conversations')),
    );
    // Windows stops no process in the middle.
    if (process.platform !== 'win32' && pid !== undefined) {
      subject.roads.add('death');
      const expected = subject.bare('legacy').answers.get(steady) ?? {};
      process.kill(pid, 'SIGSTOP');
      const lost = subject.ask(one, steady, 'toolset');
      // The other instance may still be in use, and a death before the call is in flight costs no
      // call.
      const isInFlight = (): boolean =>
        leased().some(({ id, callsInFlight }) => id === ofOne?.id && callsInFlight > 0);
      await untilSo(isInFlight, 'the call in flight');
      process.kill(pid, 'SIGKILL');
      subject.same(
        'death',
        'the lost call',
        true,
        JSON.stringify(await lost).includes('result unknown'),
      );
      if (subject.http) await subject.begin();
      else
        subject.sameAnswer('death', steady, expected, await subject.ask(other, steady, 'toolset'));
      const next = await subject.ask(one, steady, 'toolset');
      subject.same(
        'death',
        'the note of the next result',
        true,
        JSON.stringify(next).includes('is gone'),
      );
      await subject.untilRoots(one, 'toolset');
      subject.sameAnswer('death', steady, expected, await subject.ask(one, steady, 'toolset'));
    }
    await Promise.all([one.close(), other.close()]);
  }

  /**
   * Returns the differences without a row in `known.ts`, and the rows there without a difference.
   */
  surprises(): string[] {
    const keyOf = (server: string, road: string, what: string): string =>
      `${server}, ${road}, ${what}`;
    const subjectOf = (id: string): Subject | undefined =>
      this.subjects.find(({ server }) => server.id === id);
    const rows = known
      .filter(({ beside }) => beside === undefined || subjectOf(beside))
      .flatMap(({ server, roads, what }) =>
        roads
          .filter((road) => subjectOf(server)?.roads.has(road))
          .flatMap((road) => what.map((each) => keyOf(server, road, each))),
      );
    const all = this.subjects.flatMap(({ differences }) => differences);
    const seen = new Map(all.map((each) => [keyOf(each.server, each.road, each.what), each]));
    const unknown = [...seen].filter(([key]) => !rows.includes(key));
    const gone = rows.filter((key) => !seen.has(key));
    return [
      ...unknown.map(
        ([key, each]) => `${key}\n  expected ${each.expected}\n  seen     ${each.seen}`,
      ),
      ...gone.map((key) => `${key}: no longer differs. Remove it from known.ts.`),
    ];
  }

  async close(): Promise<void> {
    await endStages();
    await Promise.all(this.subjects.map(({ http }) => http?.stop()));
    rmSync(this.place, { recursive: true, force: true });
  }

  private config(): Record<string, Subject['entry']> {
    return Object.fromEntries(this.subjects.map((subject) => [subject.server.id, subject.entry]));
  }

  private async onStage(
    options: StageOptions,
    run: (stage: Stage, subject: Subject) => Promise<void>,
  ): Promise<void> {
    const stage = await startStage({ maxInstances: 100, ...options });
    await stage.edit(this.config());
    for (const { server } of this.subjects)
      assert.equal(stage.server(server.id).state.kind, 'running');
    await this.forEach((subject) => run(stage, subject));
    await stage.dispose();
  }

  private async forEach(run: (subject: Subject) => Promise<void>): Promise<void> {
    const left = this.subjects.values();
    const next = async (): Promise<void> => {
      for (const subject of left) await run(subject);
    };
    await Promise.all(Array.from({ length: atOnce }, next));
  }
}

async function compareCommands(subject: Subject, cli: CommandLine): Promise<void> {
  const road = 'command line';
  const { server, asks } = subject;
  const bare = await subject.askDirectly('legacy', true);
  const run = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await cli.run(...args, '--json')).stdout);
  const [{ tools }] = (await run('tools')) as [{ tools: { published: string; tool: Fields }[] }];
  const published = tools.map(({ published: name, tool }) => ({ ...tool, name }));
  subject.same(road, 'tools', expectedTools(server, bare.lists.tools, road), published);
  if (bare.lists.resources.length > 0) {
    const [{ resources, templates }] = (await run('resources')) as [Fields];
    subject.same(road, 'resources', bare.lists.resources, resources);
    subject.same(road, 'resourceTemplates', bare.lists.resourceTemplates, templates);
  }
  if (bare.lists.prompts.length > 0) {
    const [{ prompts }] = (await run('prompts')) as [{ prompts: Fields[] }];
    const listed = prompts.map(({ originalName: _, ...prompt }) => prompt);
    subject.same(road, 'prompts', bare.lists.prompts, listed);
  }
  for (const ask of asks) {
    const answer = bare.answers.get(ask);
    // An error has no JSON, and a process for each call keeps no state.
    if (!answer?.result || ask.depends || !isListed(bare, ask)) continue;
    const { name, uri, arguments: given = {} } = ask.params;
    const args = {
      'tools/call': ['call', nameOf(server, name, road), JSON.stringify(given)],
      'prompts/get': ['prompt', String(name), JSON.stringify(given)],
      'resources/read': ['read', String(uri)],
      'completion/complete': undefined,
    }[ask.method];
    if (args) subject.sameAnswer(road, ask, answer, { result: (await run(...args)) as Fields });
  }
}

/** `connect` answers before its servers have started. */
async function untilListed(peer: Peer, subjects: readonly Subject[]): Promise<void> {
  const wanted = subjects.map(({ server, steady }) =>
    nameOf(server, steady.params['name'], 'connect'),
  );
  for (const limit = Date.now() + 120_000; ; await pause(50)) {
    const listed = new Set((await peer.list('tools/list', 'tools')).map(({ name }) => name));
    if (wanted.every((name) => listed.has(name))) return;
    if (Date.now() > limit) throw new Error(`connect does not list ${wanted.join(', ')}`);
  }
}

/** A client of 2026-07-28 names its conversation by the address (G3). */
async function addressOf(
  stage: Stage,
  id: string,
  era: Era,
  kind: 'editor' | 'agent' = 'agent',
): Promise<Required<Address>> {
  const { url, headers } = (await stage.gateway()).endpoint(id, kind);
  return {
    url: era === 'modern' ? `${url}/c/${randomBytes(16).toString('base64url')}` : url,
    headers,
  };
}
