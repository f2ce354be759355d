/**
 * The façade of the core for the editor shell and the command line. Invariants: the catalogue is
 * replaced in one step and is always the publication of all registrations in file order; a snapshot
 * has the facts of one moment.
 */
import { judgeLaunch, launchOf } from '../approval/approvals.js';
import { canonicalJson } from '../base/canonicalJson.js';
import type { Disposable } from '../base/disposables.js';
import { Emitter, type Event } from '../base/events.js';
import type { Problem } from '../base/problem.js';
import { Throttle } from '../base/clock.js';
import { asText } from '../base/text.js';
import { ConfigState } from '../config/read/merge.js';
import type { ConfigModel, ConfiguredServer, Launch, SourceText } from '../config/model.js';
import type { PoolFailure } from '../instances/pool.js';
import type { ClientChange, ServerClient } from '../protocol/client.js';
import { secretsOf } from '../config/read/launchSecrets.js';
import type { SignInBrowser, SignIns, SignInStatus } from '../connections/http/oauth/contract.js';
import { type Releaser, ServerUnit, type UnitDeps } from '../reconcile/serverUnit.js';
import { type StatusSnapshot, inPresentText, problemsOf, statusOf } from '../reconcile/status.js';
import { withoutDataUrls } from '../results/binaries.js';
import { atOnce, inTurns, LoopShare } from '../base/turns.js';
import { EnvFiles } from './envFiles.js';
import {
  errorResult,
  failedCall,
  notMade,
  requestText,
  stopped,
  unknownTool,
} from './callTexts.js';
import { adminId, callAdminTool, type AdminDeps } from './admin.js';
import { Permission } from './permission.js';
import type { Host, HostDeps } from './hostContract.js';
import { errorCodes } from '../protocol/errors.js';
import type {
  OtherOutcome,
  ToolOutcome,
  ToolsetCall,
  ToolsetRequest,
} from '../protocol/request.js';
import { isAboutTask, needsTask } from '../protocol/versions.js';
import type { Catalogue, ServedTool } from '../tools/catalogue.js';
import { completed, type Completed } from '../tools/override.js';
import { offerMemory, Publication } from './publication.js';
import { withoutBarred } from './serverLists.js';

/** The milliseconds between two updates of the views during calls. */
const activityMs = 1000;

export class ToolsetHost implements Host, AdminDeps {
  private readonly config = new ConfigState();
  private readonly units = new Map<string, ServerUnit>();
  private readonly leaving = new Set<ServerUnit>();
  private servers: readonly ConfiguredServer[] = [];
  private shadowed: ConfigModel['shadowed'] = new Map();
  private sources: readonly SourceText[] = [];
  private configProblems: readonly Problem[] = [];
  private readonly keptSecret = new Set<string>();
  private readonly waitForSignIn = new Set<string>();
  private refused: StatusSnapshot['refused'] = [];
  snapshot: StatusSnapshot = { version: 0, refused: [], servers: [], problems: [] };
  private changeAnnounced = false;
  private applying = false;
  private disposed = false;
  private readonly changeEmitter = new Emitter<StatusSnapshot>();
  private readonly parts: readonly (Disposable | undefined)[];
  private readonly activity: Throttle;
  private readonly envFiles: EnvFiles;
  private readonly publication: Publication;
  private readonly unitDeps: UnitDeps;
  readonly permission: Permission;
  readonly completed = completed;

  readonly onDidChange = this.changeEmitter.event;
  readonly onDidPublish: Event<readonly string[]>;

  constructor(private readonly deps: HostDeps) {
    const { services, settings, consent, signIns } = deps;
    this.activity = new Throttle(services.clock, activityMs, () => this.announceChange());
    this.envFiles = new EnvFiles(services.clock, () => void this.reapply());
    const reconsider = (): void =>
      this.inOneSwap(() => this.everyUnit.forEach((unit) => unit.reconsider()));
    this.permission = new Permission(consent.toolPermissions, () => this.republish());
    this.parts = [
      this.activity,
      this.envFiles,
      signIns?.onDidChange(() => this.followSignIns()),
      consent.approvals?.onDidChange(reconsider),
      consent.offerReview?.onDidChange(() => this.republish()),
    ];
    this.unitDeps = {
      services,
      memory: deps.kept && offerMemory(deps.kept, consent.offerReview, services.redactor),
      onPublish: () => this.republish(),
      onChange: () => this.announceChange(),
      judge: (definition) => judgeLaunch(definition, consent.approvals),
      startsOnCall: ({ start }) => (start ?? settings.usualStart?.()) === 'call',
      filteredTools: settings.filteredTools,
      drainLimitMs: settings.drainLimitMs ?? 30_000,
    };
    this.publication = new Publication(
      deps,
      this.permission,
      (id) => this.units.get(id)?.published,
    );
    this.onDidPublish = this.publication.onDidPublish;
  }

  private get everyUnit(): readonly ServerUnit[] {
    return [...this.units.values(), ...this.leaving];
  }

  get catalogue(): Catalogue {
    return this.publication.catalogue;
  }

  launchOf(server: string): ReturnType<Host['launchOf']> {
    return launchOf(this.servers.find(({ id }) => id === server));
  }

  shortName(server: string): string {
    return this.publication.shortName(server);
  }

  catalogueFor(conversation: string | undefined): Catalogue {
    return this.publication.catalogueFor(conversation);
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
    const { configDeps, services, settings } = this.deps;
    const applied = this.envFiles.whileReading((envFile) =>
      this.config.apply(sources, { ...configDeps, envFile }),
    );
    this.refused = applied.refused.map(
      (file) =>
        this.refused.find((earlier) => earlier.file === file) ?? {
          file,
          since: services.clock.now(),
        },
    );
    const lists = settings.serverLists?.() ?? { allowed: undefined, denied: undefined };
    const { servers, problems } = withoutBarred(applied.model.servers, lists);
    this.servers = servers.filter(({ id }) => (settings.only ?? id) === id);
    this.shadowed = applied.model.shadowed;
    this.configProblems = [...applied.problems, ...problems];
    const used = this.servers.flatMap((one) =>
      one.kind === 'valid' ? secretsOf(one.definition.launch) : [],
    );
    // The launch hashes do not show this: a reference may now give an earlier literal.
    const secrets = [...new Set(used)].filter((value) => !this.keptSecret.has(value));
    for (const value of secrets) this.keptSecret.add(value);
    if (secrets.length > 0) services.redactor.register(secrets);
    this.inOneSwap(() => {
      const wanted = new Set(this.servers.map((server) => server.id));
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
        unit.apply(server);
      }
    });
    await Promise.all([...this.units.values()].map((unit) => unit.settled()));
  }

  call(call: ToolsetCall): Promise<ToolOutcome> {
    return this.deps.services.recorder.recorded(call, () => this.answer(call));
  }

  private async answer(call: ToolsetCall): Promise<ToolOutcome> {
    let tool = this.publication.tool(call);
    if (tool) call.recording?.onFound(tool);
    const unit = this.units.get(call.toolset);
    if (tool && tool.releases === undefined && unit && !unit.serving) {
      const ready = await unit.ready(call.signal);
      if (!('pool' in ready)) return isFailure(ready) ? this.failed(tool, call, ready) : ready;
      // The tool of an earlier window may be another one now, or gone (P8).
      tool = this.publication.tool(call);
    }
    const seen = call.consented ?? tool?.original;
    const asked = sentFor(tool, call);
    if (asked.kind === 'refused')
      return notMade.override(tool?.published ?? call.tool, asked.message);
    const permitted = tool && this.permission.permit(tool, withArguments(call, asked.arguments));
    if (tool && permitted !== true) {
      if (!(await permitted)) {
        return call.signal.aborted ? { kind: 'cancelled' } : notMade.refused(tool.published);
      }
      // While the person was asked, the tool may have gone, become another, or lost its instance.
      const again = this.units.get(call.toolset);
      if (again && !again.serving && tool.releases === undefined) await again.ready(call.signal);
      tool = this.publication.tool(call);
    }
    if (!tool) return unknownTool(call, this.snapshot);
    if (tool.original !== seen) return notMade.renamed(tool.published);
    const sent = sentFor(tool, call);
    if (sent.kind === 'refused') return notMade.override(tool.published, sent.message);
    const shown = call.seen ?? (permitted === true ? sent.arguments : asked.arguments);
    if (shown !== sent.arguments && canonicalJson(shown) !== canonicalJson(sent.arguments)) {
      return notMade.overrideChanged(tool.published);
    }
    const outcome = await this.callTool(tool, withArguments(call, sent.arguments));
    if (outcome.kind !== 'result' || tool.published === call.tool) return outcome;
    return { ...outcome, publishedName: tool.published };
  }

  request(request: ToolsetRequest): Promise<OtherOutcome> {
    return this.deps.services.recorder.recorded(request, () => this.answerOther(request));
  }

  private async answerOther(request: ToolsetRequest): Promise<OtherOutcome> {
    const { toolset, conversation, signal } = request;
    const unit = this.units.get(toolset);
    if (!unit)
      return {
        kind: 'error',
        code: errorCodes.invalidParams,
        message: `There is no toolset "${toolset}".`,
      };
    const { uri, taskId } = request.params;
    const ofTask = isAboutTask(request.method)
      ? unit.servingOfTask(asText(taskId), conversation)
      : undefined;
    const ready = ofTask ?? unit.serving ?? (await unit.ready(signal));
    const outcome = 'pool' in ready ? await ready.pool.request(conversation, request) : ready;
    const isRead = request.method === 'resources/read' && typeof uri === 'string';
    if ('pool' in ready && isRead) ready.pages.note(uri, outcome);
    if (!isFailure(outcome)) return plain(outcome);
    return {
      kind: 'error',
      code: errorCodes.server,
      message: this.warned(requestText(request, outcome)),
    };
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
    this.askAgain(server);
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
    this.askAgain(server);
    await this.known(server).restart(by);
  }

  async release(server: string, conversation: string, by: Releaser = 'a person'): Promise<boolean> {
    return await this.known(server).release(conversation, by);
  }

  async signIn(server: string, browser: SignInBrowser, signal: AbortSignal): Promise<void> {
    const { signIns, launch, unit } = this.knownForSignIn(server);
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

  private warned(text: string): string {
    const { redactor, log } = this.deps.services;
    const redacted = redactor.redact(text);
    log.write('warn', redacted);
    return redacted;
  }

  private async callTool(
    { original, published, releases, tool }: ServedTool,
    call: ToolsetCall,
  ): Promise<ToolOutcome> {
    const { toolset, conversation } = call;
    if (releases !== undefined || toolset === adminId) {
      const input = releases === undefined ? call.arguments : { serverId: releases };
      return { kind: 'result', result: await callAdminTool(this, original, input, conversation) };
    }
    const unit = this.units.get(toolset);
    if (!unit) return unknownTool(call, this.snapshot);
    this.activity.ask();
    try {
      const called = { original, published, asTask: needsTask(tool) };
      const outcome = (await unit.serving?.pool.call(conversation, call, called)) ?? stopped;
      return isFailure(outcome) ? this.failed({ published }, call, outcome) : plain(outcome);
    } finally {
      this.activity.ask();
    }
  }

  private failed(
    tool: Pick<ServedTool, 'published'>,
    call: ToolsetCall,
    failure: PoolFailure,
  ): ToolOutcome {
    const isServed = this.units.get(call.toolset)?.serving !== undefined;
    const [text, kind, reason] = failedCall(call.toolset, tool.published, failure, isServed);
    const message = this.warned(text);
    // An app handles failed calls with its own words, and would show a result as a result.
    return call.fromApp
      ? { kind: 'error', code: errorCodes.server, message }
      : errorResult(message, kind, reason);
  }

  /**
   * A variable may be set by now, a folder made, or a program of the workspace installed. Other
   * starts are not awaited.
   */
  private askAgain(server: string): void {
    const entry = this.servers.find(({ id }) => id === server);
    const { failure, serving } = this.units.get(server)?.facts ?? {};
    const codes = [failure, serving?.failure].map((each) => each?.start?.code);
    const isOfProgram = codes.includes('program-changed') || codes.includes('command-not-found');
    if (isOfProgram || (entry?.kind === 'invalid' && entry.enabled)) void this.reapply();
  }

  private known(server: string): ServerUnit {
    const unit = this.units.get(server);
    if (!unit) throw new Error(`There is no server "${server}" in the configuration.`);
    return unit;
  }

  private signInOf(server: ConfiguredServer): SignInStatus {
    const status =
      server.kind === 'valid' ? this.deps.signIns?.statusOf(server.definition.launch) : undefined;
    if (status?.kind !== 'needed') return status ?? { kind: 'none' };
    return { ...status, why: this.deps.services.redactor.redact(status.why) };
  }

  /** A server that waits for a sign-in starts after one in any window. */
  private followSignIns(): void {
    for (const server of this.servers) {
      const { kind } = this.signInOf(server);
      if (kind === 'needed') this.waitForSignIn.add(server.id);
      if (kind !== 'signedIn' || !this.waitForSignIn.delete(server.id)) continue;
      const unit = this.units.get(server.id);
      if (unit && unit.facts.stoppedSince === undefined) void unit.start();
    }
    this.announceChange();
  }

  private knownForSignIn(id: string): { signIns: SignIns; launch: Launch; unit: ServerUnit } {
    const unit = this.known(id);
    const { signIns } = this.deps;
    const server = this.servers.find((each) => each.id === id);
    if (!signIns) throw new Error('A sign-in cannot be stored here.');
    if (server?.kind !== 'valid')
      throw new Error(`The entry of "${id}" has an error; see Problems.`);
    const { definition } = server;
    if (this.unitDeps.judge(definition).kind === 'pending')
      throw new Error(`"${id}" waits for approval. Approve it first.`);
    return { signIns, launch: definition.launch, unit };
  }

  private inOneSwap(change: () => void): void {
    this.applying = true;
    change();
    this.applying = false;
    this.republish();
  }

  private republish(): void {
    if (this.applying || this.disposed) return;
    this.publication.update(this.servers);
    this.announceChange();
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

  takeSnapshot(): StatusSnapshot {
    const { publication, refused } = this;
    const found = [...publication.problems];
    const servers = this.servers.flatMap((server) => {
      const facts = this.units.get(server.id)?.facts;
      if (!facts) return [];
      const signIn = this.signInOf(server);
      for (const problem of problemsOf(facts, signIn)) found.push(problem);
      const { id } = server;
      const [toolset, changed] = [publication.toolset(id), publication.changed(id)];
      return [statusOf(server, facts, toolset, changed, this.shadowed.get(id), signIn)];
    });
    const problems = [...this.configProblems, ...inPresentText(found, refused)];
    const builtIn = publication.toolset(adminId);
    return { version: publication.catalogue.version, refused, servers, problems, builtIn };
  }
}

function sentFor(tool: ServedTool | undefined, { arguments: given }: ToolsetCall): Completed {
  return tool?.override ? completed(tool.override, given) : { kind: 'completed', arguments: given };
}

/** Most calls have no override, and a copy costs all who read it (P3). */
function withArguments(call: ToolsetCall, sent: ToolsetCall['arguments']): ToolsetCall {
  return sent === call.arguments ? call : { ...call, arguments: sent };
}

function isFailure(outcome: ToolOutcome | OtherOutcome | PoolFailure): outcome is PoolFailure {
  return outcome.kind !== 'result' && outcome.kind !== 'error' && outcome.kind !== 'cancelled';
}

/** Returns the server's answer with repaired `data:` URLs (V1). */
function plain<Outcome extends ToolOutcome | OtherOutcome>(
  outcome: Outcome,
): Outcome | Promise<Outcome> {
  if (outcome.kind !== 'result') return outcome;
  const { result: given } = outcome;
  const share = LoopShare.of(given);
  const repaired = (result: object): Outcome =>
    result === given ? outcome : { ...outcome, result };
  const work = withoutDataUrls(given);
  return share
    ? inTurns(work, share).then((result) => repaired(share.owns(result)))
    : repaired(atOnce(work));
}
