/**
 * The servers of the config: the units behind them, their sign-ins, and the snapshot of all. A
 * snapshot has the facts of one moment. Units change in one swap, after which the catalogue is
 * published once.
 */
import { english } from '../base/language.js';
import { judgeLaunch, launchOf } from '../approval/approvals.js';
import { FolderLocks } from '../lock/folderLocks.js';
import { Throttle } from '../base/clock.js';
import type { Disposable } from '../base/disposables.js';
import { Emitter } from '../base/events.js';
import type { Problem } from '../base/problem.js';
import { problemOf } from '../base/problemOf.js';
import type { Servers } from '../calling/hostContract.js';
import { adminId, type AdminDeps } from '../catalogue/admin.js';
import { offerMemory, type Publication } from '../catalogue/publication.js';
import { withoutBarred } from '../catalogue/serverLists.js';
import {
  startOfFile,
  type ConfigModel,
  type ConfiguredServer,
  type Launch,
  type SourceText,
} from '../config/model.js';
import { secretsOf } from '../config/read/launchSecrets.js';
import { ConfigState, inPresentText } from '../config/read/merge.js';
import type { SignInBrowser, SignIns, SignInStatus } from '../connections/http/oauth/contract.js';
import type { ClientChange, ServerClient } from '../protocol/client.js';
import { type Releaser, ServerUnit, type UnitDeps } from '../reconcile/serverUnit.js';
import { lockProblems } from '../reconcile/problems.js';
import {
  type ServerStatus,
  type StatusSnapshot,
  problemsOf,
  statusOf,
} from '../reconcile/status.js';
import { EnvFiles } from './envFiles.js';
import type { HostDeps } from './hostDeps.js';

/** The milliseconds between two updates of the views during calls. */
const activityMs = 1000;

export class ConfiguredServers implements Servers, AdminDeps {
  private readonly config = new ConfigState();
  private readonly units = new Map<string, ServerUnit>();
  private readonly leaving = new Set<ServerUnit>();
  private servers: readonly ConfiguredServer[] = [];
  private shadowed: ConfigModel['shadowed'] = new Map();
  private limit: ConfigModel['limit'] | undefined;
  private sources: readonly SourceText[] = [];
  private configProblems: readonly Problem[] = [];
  private readonly knownSecrets = new Set<string>();
  private readonly waitForSignIn = new Set<string>();
  private refused: StatusSnapshot['refused'] = [];
  snapshot: StatusSnapshot = {
    version: 0,
    refused: [],
    servers: [],
    problems: [],
  };
  private changeAnnounced = false;
  private applying = false;
  private disposed = false;
  private readonly changeEmitter = new Emitter<StatusSnapshot>();
  private readonly parts: readonly (Disposable | undefined)[];
  private readonly activity: Throttle;
  private readonly envFiles: EnvFiles;
  private readonly locks = new FolderLocks();
  private readonly unitDeps: UnitDeps;

  readonly onDidChange = this.changeEmitter.event;

  constructor(
    private readonly deps: HostDeps,
    private readonly publication: Publication,
  ) {
    const { services, settings, consent, signIns, kept } = deps;
    const { approvals, offerReview } = consent;
    this.activity = new Throttle(services.clock, activityMs, () => this.announceChange());
    this.envFiles = new EnvFiles(services.clock, () => void this.reapply());
    const republish = (): void => this.republish();
    this.parts = [
      this.activity,
      this.envFiles,
      signIns?.onDidChange(() => this.followSignIns()),
      approvals?.onDidChange(() => this.reconsider()),
      offerReview?.onDidChange(republish),
    ];
    if (offerReview) offerReview.lockOf = this.locks.of;
    this.unitDeps = {
      services,
      memory: kept && offerMemory(kept, offerReview, services.redactor),
      onPublish: republish,
      onChange: () => this.announceChange(),
      judge: (definition) => judgeLaunch(definition, approvals),
      startsOnCall: ({ start }) => (start ?? settings.usualStart?.()) === 'call',
      filteredTools: settings.filteredTools,
      drainLimitMs: settings.drainLimitMs ?? 30_000,
    };
  }

  readonly unitOf = (server: string): ServerUnit | undefined => this.units.get(server);

  readonly onActivity = (): void => this.activity.ask();

  launchOf(server: string): ReturnType<Servers['launchOf']> {
    return launchOf(this.serverOf(server));
  }

  async reload(): Promise<void> {
    await this.deps.readSources?.();
    await this.reapply();
  }

  reapply(): Promise<void> {
    return this.setSources(this.sources);
  }

  async setSources(sources: readonly SourceText[]): Promise<void> {
    if (this.disposed) return;
    this.sources = sources;
    this.locks.apply(sources);
    this.read(sources);
    this.registerSecrets();
    this.inOneSwap(() => this.applyToUnits());
    await Promise.all([...this.units.values()].map((unit) => unit.settled()));
  }

  noteClient(client: ServerClient, change: ClientChange): void {
    for (const { facts } of this.everyUnit) {
      facts.serving?.pool.noteClient(client, change);
      for (const { pool } of facts.draining) pool.noteClient(client, change);
    }
  }

  noteListed(toolset: string | undefined, conversation: string | undefined): void {
    for (const [id, unit] of this.units)
      if (toolset === undefined || id === toolset) unit.serving?.noteListed(conversation);
  }

  async start(server: string): Promise<void> {
    this.readAgainIfWrong(server);
    await this.known(server).start();
  }

  async stop(server: string): Promise<void> {
    await this.known(server).stop();
  }

  isStopped(server: string): boolean {
    return this.known(server).facts.stoppedSince !== undefined;
  }

  async restart(
    server: string,
    by: Parameters<ServerUnit['restart']>[0] = 'a person',
  ): Promise<void> {
    this.readAgainIfWrong(server);
    await this.known(server).restart(by);
  }

  async release(server: string, conversation: string, by: Releaser = 'a person'): Promise<boolean> {
    return await this.known(server).release(conversation, by);
  }

  async signIn(server: string, browser: SignInBrowser, signal: AbortSignal): Promise<void> {
    const { signIns, launch, unit, isPending } = this.knownForSignIn(server);
    if (isPending) throw new Error(english`"${server}" waits for approval. Approve it first.`);
    try {
      await signIns.signIn(launch, browser, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      throw new Error(this.deps.services.redactor.redact((error as Error).message), {
        cause: error,
      });
    }
    await unit.start();
  }

  async signOut(server: string): Promise<void> {
    const { signIns, launch, unit } = this.knownForSignIn(server);
    await unit.stop();
    await signIns.signOut(launch);
  }

  async dispose(): Promise<void> {
    this.disposed = true;
    this.parts.forEach((part) => part?.dispose());
    await Promise.all(this.everyUnit.map((unit) => unit.dispose()));
    this.units.clear();
    this.changeEmitter.dispose();
    this.publication.dispose();
  }

  republish(): void {
    if (this.applying || this.disposed) return;
    this.publication.update(this.servers);
    this.announceChange();
  }

  takeSnapshot(): StatusSnapshot {
    const { publication, refused } = this;
    const found = [...publication.problems, ...this.problemsOfLimit()];
    const servers = this.servers.flatMap((server) => {
      const { id } = server;
      const facts = this.units.get(id)?.facts;
      if (!facts) return [];
      const signIn = this.signInOf(server);
      for (const problem of problemsOf(facts, signIn)) found.push(problem);
      const toolset = publication.toolset(id);
      const changedOffers = publication.changed(id);
      const shadows = this.shadowed.get(id);
      const status = statusOf({ server, facts, toolset, changedOffers, shadows, signIn });
      for (const problem of this.lockProblemsOf(server, status)) found.push(problem);
      return [status];
    });
    const refusedFiles = refused.map(({ file }) => file);
    const problems = [
      ...this.configProblems,
      ...this.locks.problems,
      ...inPresentText(found, refusedFiles),
    ];
    const builtIn = publication.toolset(adminId);
    return {
      version: publication.catalogue.version,
      refused,
      servers,
      problems,
      builtIn,
    };
  }

  /** A lock says nothing of a server that the layer of a person changes. */
  private lockProblemsOf(server: ConfiguredServer, status: ServerStatus): Problem[] {
    const launch = server.local ? undefined : launchOf(server);
    const lock = launch && this.locks.of(launch);
    const now = lock && status.toLock();
    if (!now || lock === 'unreadable') return [];
    return lockProblems({ server: server.id, places: server.places }, lock, now);
  }

  private problemsOfLimit(): Problem[] {
    const { evictedInVain: count, most } = this.deps.services.connector;
    const file = this.sources.find(({ text }) => text !== undefined)?.file;
    if (count === 0 || file === undefined) return [];
    const place = this.limit?.place ?? { file, range: startOfFile };
    return [problemOf('instances-evicted', place, { count, most, instead: String(2 * most) })];
  }

  private get everyUnit(): readonly ServerUnit[] {
    return [...this.units.values(), ...this.leaving];
  }

  private serverOf(id: string): ConfiguredServer | undefined {
    return this.servers.find((server) => server.id === id);
  }

  private read(sources: readonly SourceText[]): void {
    const { configDeps, services, settings } = this.deps;
    const applied = this.envFiles.whileReading((envFile) =>
      this.config.apply(sources, { ...configDeps, envFile }),
    );
    const since = services.clock.now();
    this.refused = applied.refused.map(
      (file) => this.refused.find((earlier) => earlier.file === file) ?? { file, since },
    );
    const lists = settings.serverLists?.() ?? { allowed: undefined, denied: undefined };
    const { servers, problems } = withoutBarred(applied.model.servers, lists);
    this.servers = servers.filter(({ id }) => (settings.only ?? id) === id);
    this.shadowed = applied.model.shadowed;
    this.limit = applied.model.limit;
    services.connector.setLimitOfFiles(this.limit?.most);
    this.configProblems = [...applied.problems, ...problems];
  }

  /** The launch hashes do not show that a reference now gives an earlier literal. */
  private registerSecrets(): void {
    const used = this.servers.flatMap((one) =>
      one.kind === 'valid' ? secretsOf(one.definition.launch) : [],
    );
    const secrets = [...new Set(used)].filter((value) => !this.knownSecrets.has(value));
    for (const value of secrets) this.knownSecrets.add(value);
    if (secrets.length > 0) this.deps.services.redactor.register(secrets);
  }

  private applyToUnits(): void {
    const wanted = new Set(this.servers.map(({ id }) => id));
    for (const [id, unit] of this.units) {
      if (wanted.has(id)) continue;
      this.units.delete(id);
      unit.apply(undefined);
      this.leaving.add(unit);
      void unit.gone().then(() => this.leaving.delete(unit));
    }
    for (const server of this.servers) {
      const unit = this.units.get(server.id) ?? new ServerUnit(server.id, this.unitDeps);
      this.units.set(server.id, unit);
      unit.apply(
        server,
        this.sources.some(({ file, typed }) => file === server.source && typed === server.id),
      );
    }
  }

  private reconsider(): void {
    this.inOneSwap(() => this.everyUnit.forEach((unit) => unit.reconsider()));
  }

  private inOneSwap(change: () => void): void {
    this.applying = true;
    change();
    this.applying = false;
    this.republish();
  }

  /**
   * A variable may be set by now, a folder made, or a program of the workspace installed. Other
   * starts are not awaited.
   */
  private readAgainIfWrong(server: string): void {
    const entry = this.serverOf(server);
    const { failure, serving } = this.units.get(server)?.facts ?? {};
    const codes = [failure, serving?.failure].map((each) => each?.start?.code);
    const isOfProgram = codes.includes('program-changed') || codes.includes('command-not-found');
    if (isOfProgram || (entry?.kind === 'invalid' && entry.enabled)) void this.reapply();
  }

  private known(server: string): ServerUnit {
    const unit = this.units.get(server);
    if (!unit) throw new Error(english`There is no server "${server}" in the configuration.`);
    return unit;
  }

  private signInOf(server: ConfiguredServer): SignInStatus {
    const status =
      server.kind === 'valid' ? this.deps.signIns?.statusOf(server.definition.launch) : undefined;
    if (status?.kind !== 'needed') return status ?? { kind: 'none' };
    return { ...status, why: this.deps.services.redactor.redact(status.why) };
  }

  /**
   * A server that waits for a sign-in starts after one in any process. A sign-out elsewhere ends its
   * connections.
   */
  private followSignIns(): void {
    for (const server of this.servers) {
      const { id } = server;
      const status = this.signInOf(server);
      const unit = this.units.get(id);
      const isStopped = unit?.facts.stoppedSince !== undefined;
      if (status.kind === 'needed') {
        const isNews = !this.waitForSignIn.has(id);
        this.waitForSignIn.add(id);
        if (isNews && status.isElsewhere && !isStopped)
          void unit?.restart('a person', english`a person signed out`);
      } else if (status.kind === 'signedIn' && this.waitForSignIn.delete(id)) {
        if (!isStopped) void unit?.start();
      }
    }
    this.announceChange();
  }

  private knownForSignIn(id: string): {
    signIns: SignIns;
    launch: Launch;
    unit: ServerUnit;
    isPending: boolean;
  } {
    const unit = this.known(id);
    const { signIns } = this.deps;
    const server = this.serverOf(id);
    if (!signIns) throw new Error(english`A sign-in cannot be stored here.`);
    if (server?.kind !== 'valid')
      throw new Error(english`The entry of "${id}" has an error; see Problems.`);
    const { definition } = server;
    return {
      signIns,
      launch: definition.launch,
      unit,
      isPending: this.unitDeps.judge(definition).kind === 'pending',
    };
  }

  private announceChange(): void {
    if (this.changeAnnounced || this.disposed) return;
    this.changeAnnounced = true;
    queueMicrotask(() => {
      this.changeAnnounced = false;
      if (this.disposed) return;
      this.snapshot = this.takeSnapshot();
      this.changeEmitter.fire(this.snapshot);
    });
  }
}
