/**
 * What is published: the catalogue of all that serves, in file order, less what a person keeps from agents. Invariants:
 * the catalogue is replaced in one step and is a function of what it is given; a toolset that stays the same stays the
 * same object, so that whoever compares sees what changed; `mcp_admin` is there where servers are.
 */
import type { Disposable } from '../base/disposables.js';
import { Emitter } from '../base/events.js';
import type { Log } from '../base/log.js';
import type { Problem } from '../base/problem.js';
import type { ConfiguredServer, ServerDefinition } from '../config/model.js';
import type { HostOptions } from './hostContract.js';
import type { ChangedTool } from '../approval/toolPrints.js';
import { toolsForEditor, type Catalogue, type OfferedTool, type ServedTool, type Toolset } from '../tools/catalogue.js';
import type { ClientKind } from '../protocol/client.js';
import { shortNames } from '../tools/editorNames.js';
import { type Candidate, publish, sameToolset } from '../tools/registry.js';
import { adminToolset } from './admin.js';
import { describeLaunch } from '../approval/fingerprint.js';
import type { ToolReview } from '../approval/toolPrints.js';
import { toolsChanged } from '../reconcile/problems.js';
import type { ServerFeatures } from '../tools/features.js';
import type { ToolsetCall } from '../protocol/request.js';
import type { ToolPolicy } from '../tools/permissions.js';

/** The name under which a kind of client sees a tool (G3a). */
export function nameFor(tool: ServedTool, clientKind: ClientKind = 'plain'): string {
  return clientKind === 'editor' ? tool.editorName : tool.published;
}

/** The tools that a kind of client gets (N7). */
export function toolsFor(toolset: Toolset, clientKind: ClientKind = 'plain'): readonly ServedTool[] {
  return clientKind === 'editor' ? toolsForEditor(toolset) : toolset.tools;
}

type PublicationOptions = Pick<HostOptions, 'reservedNames' | 'toolPolicy' | 'toolReview'> & { readonly log: Log };

export class Publication implements Disposable {
  readonly access: ToolAccess;
  private catalogue_: Catalogue = { version: 0, toolsets: [] };
  private problems_: readonly Problem[] = [];
  private readonly changedTools = new Map<string, readonly ChangedTool[]>();
  private readonly changes = new Emitter<Catalogue>();

  readonly onDidChange = this.changes.event;

  constructor(private readonly options: PublicationOptions) {
    this.access = new ToolAccess(options.toolPolicy, options.toolReview);
  }

  get catalogue(): Catalogue {
    return this.catalogue_;
  }

  get problems(): readonly Problem[] {
    return this.problems_;
  }

  toolset(id: string): Toolset | undefined {
    return this.catalogue_.toolsets.find((toolset) => toolset.id === id);
  }

  /** The tool that a call means, by the name that its kind of client knows. */
  tool({ toolset, tool, clientKind }: ToolsetCall): ServedTool | undefined {
    const found = this.toolset(toolset);
    return found && toolsFor(found, clientKind).find((candidate) => nameFor(candidate, clientKind) === tool);
  }

  changed(server: string): readonly ChangedTool[] | undefined {
    return this.changedTools.get(server);
  }

  /** @param servers in file order. */
  update(servers: readonly ConfiguredServer[], serving: (id: string) => Offer | undefined): void {
    const names = shortNames(servers.map(({ id }) => id));
    const candidates = servers.flatMap((server) => {
      const offer = serving(server.id);
      return offer ? [this.access.candidate(server, offer, names.get(server.id) ?? server.id)] : [];
    });
    this.changedTools.clear();
    for (const { id, changed } of candidates) this.changedTools.set(id, changed);
    const { toolsets, problems } = publish(candidates, this.options.reservedNames, this.access.deniedBy);
    this.problems_ = [...candidates.flatMap((candidate) => candidate.problems), ...problems];
    const before = this.catalogue_.toolsets;
    const next = toolsets.map((toolset) => before.find((earlier) => sameToolset(earlier, toolset)) ?? toolset);
    if (servers.length > 0) next.push(this.access.adminToolset);
    if (next.length === before.length && next.every((toolset, index) => toolset === before[index])) return;
    this.catalogue_ = { version: this.catalogue_.version + 1, toolsets: next };
    const counts = next.map(({ id, tools }) => `${id} ${tools.length}`).join(', ');
    this.options.log.write('info', `Registry version ${this.catalogue_.version}: ${counts || 'no toolsets'}`);
    this.changes.fire(this.catalogue_);
  }

  dispose(): void {
    this.changes.dispose();
  }
}

/**
 * What a person keeps from agents beyond the config file: tools they denied or want to be asked about (S4), tools
 * that changed since their server was approved (S3). Joins the shell's two answers to what a server offers; decides
 * nothing of its own, and without a shell that answers, everything is let through.
 */

/** What a server publishes unless a name is taken, and what is to be said of it. */
interface ReviewedCandidate extends Candidate {
  /** Of those the filter lets through, in the server's order. */
  readonly changed: readonly ChangedTool[];
  readonly problems: readonly Problem[];
}

interface Offer {
  readonly definition: ServerDefinition;
  readonly instructions: string | undefined;
  readonly listing: { readonly tools: readonly OfferedTool[] };
  readonly features: ServerFeatures;
  readonly curated: Pick<Candidate, 'tools' | 'excluded' | 'prompts' | 'resources'>;
}

class ToolAccess {
  private admin = adminToolset;

  constructor(
    private readonly policy: ToolPolicy | undefined,
    private readonly review: ToolReview | undefined,
  ) {}

  /** Runs `run` when something that was asked here may be answered otherwise. */
  onDidChange(run: () => void): Disposable {
    const subscriptions = [this.policy?.onDidChange(run), this.review?.onDidChange(run)];
    return { dispose: () => subscriptions.forEach((each) => each?.dispose()) };
  }

  candidate(server: ConfiguredServer, offer: Offer, shortName: string): ReviewedCandidate {
    const { definition, instructions, listing, curated, features } = offer;
    const { id } = server;
    const places = server.kind === 'valid' ? server.definition.places : server.places;
    const leased = !definition.trulyStateless;
    const { tools, excluded, prompts, resources } = curated;
    const candidate = { id, shortName, tools, excluded, prompts, resources, features, instructions, leased, places };
    const changes = this.review?.review(describeLaunch(definition), listing.tools);
    if (!changes || changes.size === 0) return { ...candidate, changed: [], problems: [] };
    const held = this.review?.holdsBack() === true;
    const changed = tools.flatMap(({ original }): ChangedTool[] => {
      const parts = changes.get(original);
      return parts ? [{ original, parts, held }] : [];
    });
    const problems = changed.length > 0 ? [toolsChanged(id, places, changed)] : [];
    if (!held) return { ...candidate, changed, problems };
    const kept = changed.map(({ original, parts }) => ({ original, reason: { kind: 'changed' as const, parts } }));
    return {
      ...candidate,
      tools: tools.filter(({ original }) => !changes.has(original)),
      excluded: [...excluded, ...kept],
      changed,
      problems,
    };
  }

  /** `mcp_admin` without what is denied; the same object while that is the same. */
  get adminToolset(): Toolset {
    const tools = adminToolset.tools.filter(({ published }) => this.deniedBy(published) === undefined);
    const same = tools.length === this.admin.tools.length && tools.every((tool, at) => tool === this.admin.tools[at]);
    if (!same) this.admin = { ...adminToolset, tools };
    return this.admin;
  }

  /** The pattern by which a person denied it. */
  readonly deniedBy = (published: string): string | undefined => {
    const verdict = this.policy?.judge(published);
    return verdict?.permission === 'deny' ? (verdict.pattern ?? published) : undefined;
  };

  /** Asks a person where they want to be asked. Undefined: nobody has to be asked. */
  permission({ published, tool }: ServedTool, call: ToolsetCall): Promise<boolean> | undefined {
    if (this.policy?.judge(published).permission !== 'ask') return undefined;
    const { toolset, arguments: given, dialog, signal } = call;
    const title = tool.title ?? tool.annotations?.title;
    return this.policy.ask({ toolset, tool: published, title, arguments: given, dialog, signal });
  }
}
