/**
 * Joins the gateway to the host, which do not know each other: what the gateway serves is the host's catalogue, under
 * the names each kind of client sees (G3a). Holds no state but the last catalogue, to tell what changed.
 */
import type { Prompt, Tool } from '@modelcontextprotocol/sdk/types.js';
import { Emitter } from '../base/events.js';
import type { Disposable } from '../base/disposables.js';
import type { GatewayBackend, ServedToolset } from '../gateway/backend.js';
import type { ClientChange, ClientKind, Fields, ServerClient } from '../protocol/client.js';
import { errorCodes } from '../protocol/errors.js';
import type { OtherOutcome, ToolOutcome, ToolsetCall, ToolsetRequest } from '../protocol/request.js';
import { nameFor, toolsFor } from './publication.js';
import { adminId, releaseNameFor } from './admin.js';
import { leaseInstructions, leaseNote } from './leaseNotes.js';
import type { Host } from './hostContract.js';
import type { Catalogue, ServedTool, Toolset } from '../tools/catalogue.js';
import { admitsResource, contentsRefused } from '../tools/promptsAndResources.js';

export function createGatewayBackend(host: Host): GatewayBackend & Disposable {
  return new CatalogueBackend(host);
}

class CatalogueBackend implements GatewayBackend, Disposable {
  private readonly emitter = new Emitter<readonly string[]>();
  private readonly subscription: Disposable;
  private last: Catalogue;
  /** A toolset that stays the same is the same object, so what was served of it can be kept. */
  private readonly served = new WeakMap<Toolset, Map<ClientKind, ServedToolset>>();

  readonly onDidChangeToolsets = this.emitter.event;

  constructor(private readonly host: Host) {
    this.last = host.catalogue;
    this.subscription = host.onDidChangeCatalogue((catalogue) => {
      const changed = changedIds(this.last, catalogue);
      this.last = catalogue;
      if (changed.length > 0) this.emitter.fire(changed);
    });
  }

  toolset(id: string, clientKind: ClientKind): ServedToolset | undefined {
    const toolset = this.host.catalogue.toolsets.find((candidate) => candidate.id === id);
    if (!toolset) return undefined;
    const kinds = this.served.get(toolset) ?? new Map<ClientKind, ServedToolset>();
    this.served.set(toolset, kinds);
    const kept = kinds.get(clientKind);
    if (kept) return kept;
    const made: ServedToolset = {
      id,
      serverName: clientKind === 'editor' ? toolset.shortName : toolset.id,
      instructions: instructionsOf(toolset, releaseNameFor(clientKind)),
      tools: toolsFor(toolset, clientKind).map((tool): Tool => servedTool(tool, clientKind)),
      prompts: toolset.prompts.map(({ prompt, published }): Prompt => ({ ...prompt, name: published })),
      resources: toolset.resources.resources,
      templates: toolset.resources.templates,
      features: toolset.features,
      canGain: id !== adminId,
    };
    kinds.set(clientKind, made);
    return made;
  }

  async callTool(call: ToolsetCall): Promise<ToolOutcome> {
    const outcome = await this.host.call(call);
    if (outcome.kind !== 'result' || !outcome.news) return outcome;
    return { ...outcome, notes: [leaseNote(call.toolset, outcome.news, releaseNameFor(call.clientKind))] };
  }

  async request(request: ToolsetRequest): Promise<OtherOutcome> {
    const { toolset: id, method } = request;
    const toolset = this.host.catalogue.toolsets.find((candidate) => candidate.id === id);
    const params = toolset && underOriginalNames(toolset, method, request.params);
    if (!params) return refused(errorCodes.invalidParams, `The toolset "${id}" has no such prompt.`);
    const { uri = (params['ref'] as Fields | undefined)?.['uri'] } = params as { uri?: unknown };
    if (typeof uri === 'string' && !admitsResource(toolset.resources, uri)) {
      return refused(errorCodes.resourceNotFound, `The toolset "${id}" has no resource "${uri}".`, { uri });
    }
    const outcome = await this.host.request({ ...request, params });
    if (method !== 'resources/read' || outcome.kind !== 'result') return outcome;
    const why = contentsRefused(toolset.resources, outcome.result['contents']);
    return why === undefined ? outcome : refused(errorCodes.invalidParams, `"${String(uri)}" was not read. ${why}`);
  }

  noteClient(client: ServerClient, change: ClientChange): void {
    this.host.noteClient(client, change);
  }

  dispose(): void {
    this.subscription.dispose();
    this.emitter.dispose();
  }
}

function refused(code: number, message: string, data?: unknown): OtherOutcome {
  return { kind: 'error', code, message, ...(data !== undefined && { data }) };
}

function instructionsOf(toolset: Toolset, release: string): string | undefined {
  if (!toolset.leased) return toolset.instructions;
  return [toolset.instructions, leaseInstructions(toolset.id, release)]
    .filter((part) => part !== undefined)
    .join('\n\n');
}

/** The editor is sent what a model can read, not always the structured content that a schema would promise. */
function servedTool(tool: ServedTool, clientKind: ClientKind): Tool {
  const served: Tool = { ...tool.tool, name: nameFor(tool, clientKind) };
  if (clientKind === 'editor') delete served.outputSchema;
  return served;
}

/** Undefined: it names a prompt that is not published. */
function underOriginalNames(toolset: Toolset, method: string, params: Fields): Fields | undefined {
  const originalOf = (name: unknown): string | undefined =>
    toolset.prompts.find(({ published }) => published === name)?.original;
  if (method === 'prompts/get') {
    const name = originalOf(params['name']);
    return name === undefined ? undefined : { ...params, name };
  }
  const ref = params['ref'] as Fields | undefined;
  if (method !== 'completion/complete' || ref?.['type'] !== 'ref/prompt') return params;
  const name = originalOf(ref['name']);
  return name === undefined ? undefined : { ...params, ref: { ...ref, name } };
}

function changedIds(before: Catalogue, after: Catalogue): string[] {
  const earlier = new Map(before.toolsets.map((toolset) => [toolset.id, toolset]));
  const changed = after.toolsets.filter((toolset) => earlier.get(toolset.id) !== toolset).map(({ id }) => id);
  const kept = new Set(after.toolsets.map(({ id }) => id));
  return [...changed, ...before.toolsets.filter(({ id }) => !kept.has(id)).map(({ id }) => id)];
}
