/**
 * What a person keeps from agents beyond the config file: tools they denied or want to be asked about (spec S4), tools
 * that changed since their server was approved (spec S3). Joins the shell's two answers to what a server offers; decides
 * nothing of its own, and without a shell that answers, everything is let through.
 */
import { adminToolset } from './admin.js';
import { describeLaunch } from './approval/fingerprint.js';
import type { ToolReview } from './approval/toolReview.js';
import type { Disposable } from './base/disposables.js';
import type { Problem } from './base/problem.js';
import type { ConfiguredServer, ServerDefinition } from './config/model.js';
import { toolsChanged } from './reconcile/problems.js';
import type { ChangedTool } from './reconcile/status.js';
import type { OfferedTool, Toolset } from './tools/catalogue.js';
import type { ServerFeatures } from './tools/features.js';
import type { Candidate } from './tools/registry.js';
import type { ToolPolicy, ToolQuestion } from './tools/toolPolicy.js';

/** What a server publishes unless a name is taken, and what is to be said of it. */
export interface ReviewedCandidate extends Candidate {
  /** Of those the filter lets through, in the server's order. */
  readonly changed: readonly ChangedTool[];
  readonly problems: readonly Problem[];
}

export interface Offer {
  readonly definition: ServerDefinition;
  readonly instructions: string | undefined;
  readonly listing: { readonly tools: readonly OfferedTool[] };
  readonly features: ServerFeatures;
  readonly curated: Pick<Candidate, 'tools' | 'excluded' | 'prompts' | 'resources'>;
}

export class ToolAccess {
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
  permission(question: ToolQuestion): Promise<boolean> | undefined {
    return this.policy?.judge(question.tool).permission === 'ask' ? this.policy.ask(question) : undefined;
  }
}
