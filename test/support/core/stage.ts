/**
 * A workspace with a config file, and the core over it in the product's form: real connector, real
 * processes, and on demand the gateway. Its end proves that nothing is left: no process with the
 * run's mark, no listening socket, no live store, no file in the temporary folder.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Approvals } from '../../../src/core/approval/approvals.js';
import type { OfferLedger } from '../../../src/core/approval/offerLedger.js';
import { adminId } from '../../../src/core/catalogue/admin.js';
import { systemClock, type Clock } from '../../../src/core/base/clock.js';
import { DisposableStore } from '../../../src/core/base/disposables.js';
import { nextEvent } from '../../../src/core/base/events.js';
import { needsAttention, type Problem } from '../../../src/core/base/problem.js';
import type { ExpectedClient } from '../../../src/core/protocol/client.js';
import type { SignInStore } from '../../../src/core/connections/http/oauth/contract.js';
import { watchFile, type WatchedFile } from '../../../src/core/files/watchedFile.js';
import {
  createGateway,
  type Gateway,
  type GatewayDeps,
  type GatewayOptions,
} from '../../../src/core/gateway/http/gateway.js';
import type { Core } from '../../../src/core/assembly/assemble.js';
import type { PermissionDeps } from '../../../src/core/calling/permission.js';
import type { Host } from '../../../src/core/calling/hostContract.js';
import type { ToolOutcome, ToolsetCall } from '../../../src/core/protocol/request.js';
import type {
  InstanceStatus,
  ServerStatus,
  StatusSnapshot,
} from '../../../src/core/reconcile/status.js';
import { hadConversations } from './hadConversations.js';
import { OfferFiles } from '../../../src/core/remembered/offerFiles.js';
import type { Catalogue, Toolset } from '../../../src/core/tools/catalogue.js';
import { withoutNpm } from '../../../src/core/processes/environment.js';
import { guardianScript } from './bundles.js';
import { CapturedLogs } from './capturedLogs.js';
import { testCore } from './testCore.js';
import { configText, type Servers } from './configText.js';
import { startedByTest } from './leftovers.js';
import { startEverything, startHttpFixture, type HttpServer } from './httpServers.js';
import { processesWith, supported, type TestProcess } from '../processes.js';
import { patientClock, untilSo, within } from './within.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

/**
 * A variable in the environment of everything a stage starts. It is not the variable of the whole
 * run, which its children carry too.
 */
export const runVariable = 'MCP_TOOLSETS_TEST_STAGE';

export interface StageOptions {
  /** Logs JSON-RPC traffic. */
  readonly trace?: boolean;
  readonly drainLimitMs?: number;
  readonly maxInstances?: number;
  readonly clock?: Clock;
  readonly startsAtOnce?: number;
  readonly expectedClient?: ExpectedClient;
  readonly env?: Readonly<Record<string, string>>;
  /** Servers that may start (S1). Absent: all. */
  readonly approvals?: Approvals;
  /** Storage of sign-ins. Absent: no sign-ins. */
  readonly secrets?: SignInStore;
  /** Permissions of agents for tools (S4). Absent: everything. */
  readonly toolPermissions?: PermissionDeps;
  /** Reviews offers changed since their approval (S3). Absent: no review. */
  readonly offerReview?: OfferLedger;
  /** Number of conversations of each server in this workspace (P9). Absent: no count. */
  readonly conversations?: Readonly<Record<string, number>>;
  /** Keeps the lists of servers in `listed`, and `nextWindow` finds them there. */
  readonly remembers?: boolean;
}

export interface CallOptions {
  readonly conversation?: string;
  readonly signal?: AbortSignal;
  readonly onProgress?: NonNullable<ToolsetCall['onProgress']>;
}

/** Each open stage, with the end of its entry among the leftovers. */
const open = new Map<Stage, () => void>();

export async function startStage(options: StageOptions = {}): Promise<Stage> {
  const stage = new Stage(options, await guardianScript());
  open.set(
    stage,
    startedByTest(`a stage in ${stage.folder}`, () => stage.dispose()),
  );
  if (options.remembers) await stage.nextWindow();
  return stage;
}

/** For `afterEach`: ends everything of the test and proves that nothing is left. */
export async function endStages(): Promise<void> {
  const failures: unknown[] = [];
  for (const stage of [...open.keys()])
    await stage.dispose().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

export class Stage {
  readonly mark = randomBytes(8).toString('hex');
  readonly folder: string;
  readonly file: string;
  /** The storage of the lists of servers. */
  readonly listed: string;
  readonly logs = new CapturedLogs();
  /** The environment of the host, which children inherit. Changes apply from the next edit on. */
  readonly env: Record<string, string | undefined>;
  /** The secrets entered by the person, by name. Changes apply from the next edit on. */
  readonly entered = new Map<string, string>();
  core: Core;
  private kept: OfferFiles | undefined;
  private readonly root = mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-stage-'));
  private readonly temporary = path.join(this.root, 'tmp');
  private readonly storesBefore = DisposableStore.liveNames();
  private readonly listeningBefore = listeningSockets();
  private readonly httpServers: HttpServer[] = [];
  private readonly ends: (() => Promise<void>)[] = [];
  private gateway_: Promise<Gateway> | undefined;
  private watched: WatchedFile | undefined;

  constructor(
    private readonly options: StageOptions,
    private readonly guardian: string,
  ) {
    this.folder = path.join(this.root, 'workspace');
    this.file = path.join(this.folder, '.minds', 'mcp.yaml');
    this.listed = path.join(this.root, 'listed');
    for (const folder of [this.temporary, path.dirname(this.file)])
      mkdirSync(folder, { recursive: true });
    // The tests may run by npm themselves (X1b).
    this.env = {
      ...withoutNpm(process.env),
      TMPDIR: this.temporary,
      [runVariable]: this.mark,
      ...options.env,
    };
    delete this.env['NODE_OPTIONS'];
    this.core = this.open();
  }

  get host(): Host {
    return this.core.host;
  }

  /** Ends the core and makes another one over the same files, like a reload of a window. */
  async nextWindow(): Promise<void> {
    assert.equal(this.gateway_, undefined, 'a gateway is of one window');
    await within(this.core.dispose(), 'the end of the core');
    await this.untilStored();
    const onFailure = (error: unknown): void => assert.fail(String(error));
    this.kept = await OfferFiles.open(this.listed, onFailure);
    this.core = this.open();
  }

  /** Resolves when the current lists of servers are stored. */
  async untilStored(): Promise<void> {
    await this.kept?.settled();
  }

  private open(): Core {
    const { trace, approvals, secrets, toolPermissions, offerReview } = this.options;
    const {
      conversations: stored,
      drainLimitMs,
      maxInstances,
      startsAtOnce,
      expectedClient,
    } = this.options;
    return testCore({
      clock: this.options.clock ?? patientClock,
      log: this.logs.sink(),
      serverLog: (server) => this.logs.sink(server),
      env: this.env,
      trace: () => trace === true,
      guardianScript: this.guardian,
      ...(this.kept && { kept: this.kept }),
      ...(stored && { conversations: hadConversations(stored) }),
      ...(offerReview && { offerReview }),
      readSources: async () => await this.watched?.readNow(),
      random: Math.random,
      ...(approvals && { approvals }),
      secret: (name) => this.entered.get(name),
      ...(secrets && { secrets }),
      ...(toolPermissions && { toolPermissions }),
      ...(drainLimitMs !== undefined && { drainLimitMs }),
      ...(maxInstances !== undefined && { maxInstances: () => maxInstances }),
      ...(startsAtOnce !== undefined && { startsAtOnce }),
      ...(expectedClient && { expectedClient: () => expectedClient }),
    });
  }

  /** Writes the file and gives it to the host. Resolves when every server has started or failed. */
  async edit(next: Servers | string | undefined): Promise<void> {
    this.save(next);
    const text = next === undefined ? undefined : readFileSync(this.file, 'utf8');
    const applied = this.host.setSources([{ file: this.file, folder: this.folder, text }]);
    await within(applied, 'the end of the reload', () => this.describe());
  }

  /** Writes or removes the file. `follow` brings it to the host. */
  save(next: Servers | string | undefined): void {
    if (next === undefined) rmSync(this.file, { force: true });
    else writeFileSync(this.file, typeof next === 'string' ? next : configText(next));
  }

  /** Gives the host each changed file from now on, as in the product. */
  follow(): void {
    const watched = watchFile(this.file, { clock: systemClock, pollMs: 50, debounceMs: 50 });
    this.watched = watched;
    watched.onDidChange((content) => {
      const text = content.kind === 'text' ? content.text : undefined;
      void this.host.setSources([{ file: this.file, folder: this.folder, text }]);
    });
  }

  server(id: string): ServerStatus {
    const found = this.host.snapshot.servers.find((server) => server.id === id);
    assert.ok(found, `no server ${id} in the snapshot`);
    return found;
  }

  instances(id: string): readonly InstanceStatus[] {
    return this.server(id).instances;
  }

  /** Returns the process id of the server's only instance. */
  pid(id: string): number {
    const [instance, ...others] = this.instances(id);
    if (instance?.pid === undefined || others.length > 0)
      assert.fail(`${id} has not one process\n${this.describe()}`);
    return instance.pid;
  }

  /** The toolsets of servers, without the built-in one. */
  toolsets(): readonly Toolset[] {
    return withoutAdmin(this.host.catalogue);
  }

  /** `toolset/tool` of everything published by servers, in order. */
  published(): string[] {
    return this.toolsets().flatMap(({ id, tools }) =>
      tools.map((tool) => `${id}/${tool.published}`),
    );
  }

  publishedBy(toolset: string): string[] {
    const found = this.host.catalogue.toolsets.find(({ id }) => id === toolset);
    return found?.tools.map((tool) => tool.published) ?? [];
  }

  /** `code "text of the file at its place"` of errors and warnings. */
  problems(): string[] {
    const text = readFileSync(this.file, 'utf8');
    return this.host.snapshot.problems
      .filter(needsAttention)
      .map((problem) => `${problem.code} ${JSON.stringify(textAt(problem, text))}`);
  }

  problem(code: string): Problem {
    const found = this.host.snapshot.problems.find((problem) => problem.code === code);
    return found ?? assert.fail(`no problem ${code}\n${this.describe()}`);
  }

  async until(
    accept: (snapshot: StatusSnapshot) => boolean,
    what = 'a state',
  ): Promise<StatusSnapshot> {
    const { host } = this;
    if (accept(host.snapshot)) return host.snapshot;
    return await within(nextEvent(host.onDidChange, accept), what, () => this.describe());
  }

  untilState(id: string, kind: ServerStatus['state']['kind']): Promise<StatusSnapshot> {
    return this.until(
      ({ servers }) => servers.find((server) => server.id === id)?.state.kind === kind,
      `${id} to be ${kind}`,
    );
  }

  outcome(
    toolset: string,
    tool: string,
    args: Record<string, unknown> = {},
    options: CallOptions = {},
  ): Promise<ToolOutcome> {
    const { conversation = 'd1', signal = new AbortController().signal, onProgress } = options;
    const call = this.host.call({
      policy: policies.agent,
      toolset,
      tool,
      arguments: args,
      conversation,
      signal,
      ...(onProgress && { onProgress }),
    });
    return within(call, `the outcome of ${toolset}/${tool}`, () => this.describe());
  }

  /** The result of a call. Any other outcome fails the test. */
  async result(...call: Parameters<Stage['outcome']>): Promise<CallToolResult> {
    const outcome = await this.outcome(...call);
    // The description is as long as the logs, so it is made only for a failure.
    if (outcome.kind !== 'result')
      assert.fail(`no result: ${JSON.stringify(outcome)}\n${this.describe()}`);
    return outcome.result;
  }

  /** The text of a result without an error. */
  async text(...call: Parameters<Stage['outcome']>): Promise<string> {
    const result = await this.result(...call);
    assert.notEqual(result.isError, true, textOf(result));
    return textOf(result);
  }

  /** The text of an error result. */
  async failure(...call: Parameters<Stage['outcome']>): Promise<string> {
    const result = await this.result(...call);
    assert.equal(result.isError, true, textOf(result));
    return textOf(result);
  }

  /** @param more has an effect on the first call only */
  gateway({
    delivery,
    ...options
  }: Pick<GatewayDeps, 'delivery'> & Partial<GatewayOptions> = {}): Promise<Gateway> {
    this.gateway_ ??= (async () => {
      const { backend, log } = this.core;
      const clock = this.options.clock ?? systemClock;
      const gateway = createGateway(
        { backend, clock, log, ...(delivery && { delivery }) },
        { version: '0.0.0-test', ...options },
      );
      await gateway.start();
      return gateway;
    })();
    return this.gateway_;
  }

  async http(name: 'http' | 'legacy-sse' | 'oauth', ...args: string[]): Promise<HttpServer> {
    return this.keep(await startHttpFixture(name, args, this.env));
  }

  async everything(mode: 'streamableHttp' | 'sse'): Promise<HttpServer> {
    return this.keep(await startEverything(mode, this.env));
  }

  /** For resources opened by the test itself. They end first. */
  onDispose(end: () => Promise<void>): void {
    this.ends.push(end);
  }

  /** The processes of the host, the guardian included. */
  processes(): TestProcess[] {
    const own = new Set(this.httpServers.map(({ pid }) => pid));
    return everyProcessOf(this.mark).filter(({ pid }) => !own.has(pid));
  }

  async dispose(): Promise<void> {
    open.get(this)?.();
    if (!open.delete(this)) return;
    let leftBehind: string[];
    try {
      this.watched?.dispose();
      // A part that cannot end does not keep the others alive.
      const ends = await Promise.allSettled(this.ends.map((end) => end()));
      const gateway = await this.gateway_?.catch(() => undefined);
      const ended = Promise.all([this.core.dispose(), gateway?.dispose()]);
      await within(ended, 'the end of the core', () => this.describe());
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
      await this.untilStored();
      assert.deepEqual(this.processes(), [], 'processes are left');
    } finally {
      await Promise.all(this.httpServers.map((server) => server.stop()));
      for (const { pid } of everyProcessOf(this.mark)) killIfThere(pid);
      leftBehind = readdirSync(this.temporary);
      rmSync(this.root, { recursive: true });
    }
    assert.deepEqual(
      DisposableStore.liveNames().filter((name) => !this.storesBefore.includes(name)),
      [],
      'stores are live',
    );
    // On Windows, the handle of a listener outlives the listener by some turns of the event loop.
    await untilSo(
      () => listeningSockets() <= this.listeningBefore,
      'the end of a listening socket',
    );
    assert.deepEqual(leftBehind, [], 'temporary files are left');
  }

  /** For the message of a failure. */
  describe(): string {
    const { servers, problems } = this.host.snapshot;
    const states = servers.map(({ id, state }) => `${id} ${JSON.stringify(state)}`);
    const said = problems.map(({ code, message }) => `${code}: ${message}`);
    return [
      ...states,
      ...said,
      `published ${this.published().slice(0, 50).join(' ')}`,
      this.logs.text(),
    ].join('\n');
  }

  private keep(server: HttpServer): HttpServer {
    this.httpServers.push(server);
    return server;
  }
}

export function withoutAdmin(catalogue: Catalogue): readonly Toolset[] {
  return catalogue.toolsets.filter(({ id }) => id !== adminId);
}

/** Empty if the system does not list processes. */
export function everyProcessOf(mark: string): TestProcess[] {
  return supported ? processesWith(runVariable, mark) : [];
}

export function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}

export function textOf(result: CallToolResult): string {
  return result.content
    .map((part) => (part.type === 'text' ? part.text : `(${part.type})`))
    .join('\n');
}

function textAt({ place: { range } }: Problem, text: string): string {
  const lines = text.split('\n').slice(range.start.line, range.end.line + 1);
  const last = lines.length - 1;
  return lines
    .map((line, index) =>
      line.slice(
        index === 0 ? range.start.character : 0,
        index === last ? range.end.character : undefined,
      ),
    )
    .join('\n');
}

function listeningSockets(): number {
  return process
    .getActiveResourcesInfo()
    .filter((name) => name === 'TCPServerWrap' || name === 'PipeServerWrap').length;
}
