/** Joins the gateway to the host, under the names for each kind of client (G3a). */
import { Emitter, nextEvent } from '../base/events.js';
import type { CancelSignal } from '../base/cancellation.js';
import type { Disposable } from '../base/disposables.js';
import type { GatewayBackend, ServedToolset } from '../gateway/backend.js';
import { everyToolset } from '../gateway/routes.js';
import type { ClientChange, Fields, ServerClient } from '../protocol/client.js';
import type { ClientPolicy } from '../protocol/clientPolicy.js';
import { errorCodes } from '../protocol/errors.js';
import type {
  OtherOutcome,
  ToolOutcome,
  ToolsetCall,
  ToolsetRequest,
} from '../protocol/request.js';
import { isAboutTask, taskChanged, taskIn, watchTask } from '../protocol/versions.js';
import { toolsetIn, type Catalogue, type Toolset } from '../tools/catalogue.js';
import { admitsResource, contentsRefused } from '../tools/promptsAndResources.js';
import { isObject } from '../base/isObject.js';
import { perObject } from '../base/perObject.js';
import { asText, clipped, shortList } from '../base/text.js';
import { fileErrors, whyNothing } from '../catalogue/admin.js';
import { refused } from './callTexts.js';
import type { Host } from './hostContract.js';
import { leaseNote } from '../catalogue/leaseNotes.js';
import {
  holderOfTool,
  holdersOf,
  namedIn,
  releaseAdvice,
  servedAlone,
  servedEmpty,
  servedTogether,
} from '../catalogue/servedToolsets.js';

const noTask = refused(errorCodes.invalidParams, 'There is no such task here.');

export class CatalogueBackend implements GatewayBackend, Disposable {
  private readonly emitter = new Emitter<readonly string[]>();
  private readonly subscription: Disposable;
  /** An unchanged toolset is the same object, so its served form can be kept. */
  private readonly servedOf = perObject((_: Toolset) => new Map<ClientPolicy, ServedToolset>());
  private readonly together = new WeakMap<
    Catalogue,
    { readonly missing: string; readonly all: ServedToolset }
  >();

  readonly onDidChangeToolsets = this.emitter.event;

  constructor(private readonly host: Host) {
    this.subscription = host.onDidPublish((ids) => this.emitter.fire([...ids, everyToolset]));
  }

  toolset(id: string, policy: ClientPolicy, conversation?: string): ServedToolset | undefined {
    const catalogue = this.host.catalogueFor(conversation);
    if (id === everyToolset) {
      const why = this.whyMissing(catalogue);
      const missing = why.join();
      const kept = this.together.get(catalogue);
      if (kept?.missing === missing) return kept.all;
      const all = servedTogether(catalogue, why);
      this.together.set(catalogue, { missing, all });
      return all;
    }
    const toolset = toolsetIn(catalogue, id);
    if (!toolset) return undefined;
    const kinds = this.servedOf(toolset);
    const kept = kinds.get(policy) ?? servedAlone(toolset, catalogue.toolsets, policy);
    kinds.set(policy, kept);
    return kept;
  }

  placeholder(id: string, policy: ClientPolicy): ServedToolset | undefined {
    const server = this.host.snapshot.servers.find((each) => each.id === id);
    if (!server || server.state.kind === 'disabled') return undefined;
    return servedEmpty(server, this.host.shortName(id), policy);
  }

  whyGone(id: string): string {
    const { catalogue, snapshot } = this.host;
    const server = snapshot.servers.find((each) => each.id === id);
    if (server) return whyNothing(server);
    // A starting server has no toolset in the catalogue yet.
    const ids = new Set([...snapshot.servers, ...catalogue.toolsets].map((each) => each.id));
    const known = `There is no toolset "${id}". Known toolsets: ${shortList([...ids], 20)}.`;
    return [known, ...fileErrors(snapshot)].join(' ');
  }

  private whyMissing(catalogue: Catalogue): string[] {
    const { snapshot } = this.host;
    const missing = snapshot.servers.filter(
      ({ id, state }) => state.kind !== 'disabled' && !toolsetIn(catalogue, id),
    );
    return [...missing.map((server) => whyNothing(server)), ...fileErrors(snapshot)];
  }

  async settled(id: string, signal: CancelSignal): Promise<void> {
    const isStarting = (): boolean =>
      this.host.snapshot.servers
        .filter((each) => id === everyToolset || each.id === id)
        .some((each) => each.state.kind === 'starting' && !toolsetIn(this.host.catalogue, each.id));
    if (isStarting()) {
      await nextEvent(this.host.onDidChange, () => !isStarting(), signal);
    }
  }

  async callTool(call: ToolsetCall): Promise<ToolOutcome> {
    const isToAll = call.toolset === everyToolset;
    const catalogueNow = (): Catalogue => this.host.catalogueFor(call.client?.listedFor);
    // Without a holder, the host says so, and records it.
    const toolset = isToAll ? await this.holderIdOf(call) : call.toolset;
    const outcome = await this.host.call(isToAll ? { ...call, toolset } : call);
    if (outcome.kind === 'error' && toolset === everyToolset) {
      return {
        ...outcome,
        message: [outcome.message, ...this.whyMissing(catalogueNow())].join(' '),
      };
    }
    if (outcome.kind !== 'result') return outcome;
    const { news, folder, result } = outcome;
    if (!isToAll && !news) return outcome;
    const catalogue = catalogueNow();
    const known = news && toolsetIn(catalogue, toolset);
    const advice =
      known && releaseAdvice(known, catalogue.toolsets, { ...call, sees: call.toolset });
    return {
      ...outcome,
      ...(isToAll && {
        toolset,
        result: taskIn(result) === undefined ? result : amongAll(result, toolset),
      }),
      ...(news && { notes: [leaseNote(toolset, news, advice, folder)] }),
    };
  }

  /** Waits for starting servers, because the client may know the tool from before a restart. */
  private async holderIdOf({ tool, client, signal }: ToolsetCall): Promise<string> {
    const find = () => holderOfTool(this.host.catalogueFor(client?.listedFor), tool);
    const listed = find();
    if (listed) return listed.id;
    await this.settled(everyToolset, signal).catch(() => undefined);
    return find()?.id ?? everyToolset;
  }

  async request(request: ToolsetRequest): Promise<OtherOutcome> {
    const { toolset: id, method, client, isOfLink } = request;
    const catalogue = this.host.catalogueFor(client?.listedFor);
    if (isAboutTask(method)) {
      return this.requestOfTask(request, catalogue);
    }
    const claimants = isOfLink ? catalogue.claims.ofUri(asText(request.params['uri'])) : [];
    // A link in a result of one server takes no URI from another one (N5c).
    if (claimants.length > 0 && !claimants.some(({ server }) => server === id)) {
      return this.request({
        ...request,
        toolset: everyToolset,
        isOfLink: false,
      });
    }
    if (id !== everyToolset) {
      return this.requestOf(toolsetIn(catalogue, id), request);
    }
    const [first, ...others] = holdersOf(catalogue, request);
    const outcome = await this.requestOf(first, request);
    if (outcome.kind !== 'error' || others.length === 0) return outcome;
    // Only the server knows a resource in no list.
    for (const other of others) {
      if (request.signal.aborted) return { kind: 'cancelled' };
      const next = await this.requestOf(other, request);
      if (next.kind !== 'error') return next;
    }
    const { uri } = request.params;
    const asked = [first, ...others].map((toolset) => `"${toolset?.id}"`).join(', ');
    const message = `No server has the resource "${clipped(asText(uri), 200)}". Asked: ${asked}.`;
    return refused(errorCodes.resourceNotFound, message, { uri });
  }

  private async requestOf(
    toolset: Toolset | undefined,
    request: ToolsetRequest,
  ): Promise<OtherOutcome> {
    const { toolset: id, method } = request;
    const { kind, name } = namedIn(request);
    const uri = kind === 'resource' ? name : undefined;
    if (typeof uri === 'string' && !(toolset && admitsResource(toolset.resources, uri))) {
      return refused(errorCodes.resourceNotFound, `${said(id)} resource "${clipped(uri, 200)}".`, {
        uri,
      });
    }
    const prompt = toolset?.prompts.find(({ published }) => published === name);
    if (!toolset || (kind === 'prompt' && !prompt)) {
      return refused(errorCodes.invalidParams, `${said(id)} such prompt.`);
    }
    const params = kind === 'prompt' ? withName(request.params, prompt?.original) : request.params;
    const outcome = await this.host.request({
      ...request,
      toolset: toolset.id,
      params,
    });
    if (outcome.kind !== 'result') return outcome;
    const { contents } = method === 'resources/read' ? outcome.result : {};
    const why = contentsRefused(toolset.resources, contents, asText(uri));
    if (why !== undefined) {
      return refused(errorCodes.invalidParams, `"${asText(uri)}" was not read. ${why}`);
    }
    if (id !== everyToolset) return outcome;
    return { ...outcome, toolset: toolset.id };
  }

  private async requestOfTask(
    request: ToolsetRequest,
    catalogue: Catalogue,
  ): Promise<OtherOutcome> {
    const { toolset: id, method, params, client } = request;
    if (id !== everyToolset) {
      return toolsetIn(catalogue, id) ? await this.host.request(request) : noTask;
    }
    const task = taskOfServer(params['taskId']);
    if (!task || !toolsetIn(catalogue, task.server)) return noTask;
    const toolset = task.server;
    const outcome = await this.host.request({
      ...request,
      toolset,
      params: { ...params, taskId: task.taskId },
      client: client && method === watchTask ? toldAmongAll(client, toolset) : client,
    });
    if (outcome.kind !== 'result') return outcome;
    return {
      ...outcome,
      toolset,
      result: amongAll(outcome.result, toolset),
    };
  }

  noteClient(client: ServerClient, change: ClientChange): void {
    this.host.noteClient(client, change);
  }

  noteListed(id: string, conversation: string | undefined): void {
    this.host.noteListed(id === everyToolset ? undefined : id, conversation);
  }

  dispose(): void {
    this.subscription.dispose();
    this.emitter.dispose();
  }
}

function said(toolset: string): string {
  return toolset === everyToolset ? 'No toolset has any' : `The toolset "${toolset}" has no`;
}

function withName(params: Fields, name: string | undefined): Fields {
  const { ref } = params;
  if (!isObject(ref)) return { ...params, name };
  const renamed = { ...ref, name };
  return { ...params, ref: renamed };
}

/**
 * Two servers may use one id of a task, so here each begins with the id of its server, which holds
 * no slash.
 */
function taskOfServer(
  id: unknown,
): { readonly server: string; readonly taskId: string } | undefined {
  const [, server, taskId] = /^([^/]*)\/(.*)$/s.exec(asText(id)) ?? [];
  return server === undefined || taskId === undefined ? undefined : { server, taskId };
}

function amongAll<Said extends object>(said: Said, server: string): Said {
  const { taskId } = said as Fields;
  return typeof taskId === 'string' ? { ...said, taskId: `${server}/${taskId}` } : said;
}

/**
 * Returns the client as one server sees it. Messages about tasks reach it under their ids among all
 * toolsets.
 */
function toldAmongAll(client: ServerClient, server: string): ServerClient {
  return {
    session: client.session,
    program: client.program,
    capabilities: client.capabilities,
    logLevel: client.logLevel,
    conversation: client.conversation,
    listedFor: client.listedFor,
    past: client.past,
    get state() {
      return client.state;
    },
    ask: (method, params, signal, options) => client.ask(method, params, signal, options),
    tell: (method, params) =>
      client.tell(method, method === taskChanged ? amongAll(params, server) : params),
    end: () => client.end(),
  };
}
