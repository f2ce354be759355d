/**
 * Immutable values: the lists of servers, and the published part for agents. The rules are
 * functions beside this file.
 */
import type { Prompt, Resource, ResourceTemplate, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { NameFilter, ResourceSelection } from '../config/model.js';
import type { Claims } from './claims.js';
import type { ServerFeatures } from './features.js';
import type { Pattern } from './patterns.js';

/** As its server gave it: every field passes through, known to the protocol or not (N7). */
export type OfferedTool = Readonly<Tool>;
export type OfferedPrompt = Readonly<Prompt>;
export type OfferedResource = Readonly<Resource>;
export type OfferedTemplate = Readonly<ResourceTemplate>;

export type Malformed = { readonly name: string; readonly detail: string };

type ExtraListing = { readonly malformed: readonly Malformed[]; readonly failure?: string };

export type PromptListing = ExtraListing & { readonly prompts: readonly OfferedPrompt[] };

export interface ResourceListing extends ExtraListing {
  readonly resources: readonly OfferedResource[];
  readonly templates: readonly OfferedTemplate[];
}

export interface ToolListing {
  readonly tools: readonly OfferedTool[];
  readonly malformed: readonly Malformed[];
  /** True if the server's capabilities have no tools, so it was not asked for them. */
  readonly declaresNone?: boolean;
  /** Why some of the tools did not come, after others came: sentences. */
  readonly incomplete?: string;
  /**
   * Why the tools are missing, if the server listed only prompts or resources. The message
   * completes its name.
   */
  readonly failure?: { readonly message: string; readonly fix: string };
  readonly prompts?: PromptListing | undefined;
  readonly resources?: ResourceListing | undefined;
}

export interface ArgumentRule {
  readonly name: string;
  readonly fixed?: { readonly value: unknown };
  readonly default?: { readonly value: unknown };
  readonly allow?: readonly Pattern[];
  /**
   * True if a call must have it, because `allow` says nothing about a default of the server (O3).
   */
  readonly isRequired?: boolean;
  /** True if the schema of the server does not have it. No call gets a value of the file for it. */
  readonly isUnknown?: boolean;
}

export type AppliedOverride = {
  readonly offered: OfferedTool;
  readonly rules: readonly ArgumentRule[];
};

export interface PublishedTool {
  readonly original: string;
  readonly published: string;
  readonly tool: OfferedTool;
  readonly override?: AppliedOverride;
  readonly editorRefuses?: EditorRefusal;
  /** The companies whose API refuses a request with the tool (N7d). */
  readonly refusedBy?: readonly string[];
}

type EditorRefusal =
  | { readonly kind: 'idTooLong' }
  | { readonly kind: 'schema'; readonly detail: string };

export type PublishedPrompt = {
  readonly original: string;
  readonly published: string;
  readonly prompt: OfferedPrompt;
};

export interface PublishedResources {
  readonly resources: readonly OfferedResource[];
  readonly templates: readonly OfferedTemplate[];
  /** Also decides about reads of unlisted resources. */
  readonly filter: ResourceSelection;
  readonly apps: readonly string[];
  /** The URIs of resources and templates that are held back (S3). */
  readonly held?: readonly string[];
}

export function uriOf(one: OfferedResource | OfferedTemplate): string {
  return 'uri' in one ? String(one.uri) : String(one['uriTemplate']);
}

export const noLists: NameFilter = { whitelist: [], blacklist: [] };

export const noResources: PublishedResources = {
  resources: [],
  templates: [],
  filter: noLists,
  apps: [],
};

export type ExclusionReason =
  | { readonly kind: 'blacklist'; readonly pattern: string }
  | { readonly kind: 'whitelist' }
  | { readonly kind: 'originalNameInvalid' }
  | { readonly kind: 'publishedNameInvalid'; readonly published: string }
  | { readonly kind: 'schema'; readonly detail: string }
  | { readonly kind: 'override'; readonly argument: string }
  | {
      readonly kind: 'denied';
      readonly pattern: string;
      readonly published: string;
    }
  | { readonly kind: 'changed'; readonly parts: readonly string[] }
  /**
   * `isNew`: it is new since the approval of its server, and the holder has the name in its
   * baseline.
   */
  | {
      readonly kind: 'nameTaken';
      readonly published: string;
      readonly holder: string;
      readonly isNew?: true;
    }
  | { readonly kind: 'nameReserved'; readonly published: string }
  | { readonly kind: 'listedTwice' };

export type ExcludedTool = { readonly original: string; readonly reason: ExclusionReason };

export interface Toolset {
  readonly id: string;
  /** Is `serverInfo.name` for the editor: unique, and at most 13 of `[a-z0-9-]` (G3a). */
  readonly shortName: string;
  /** In the server's order (N6). */
  readonly tools: readonly ServedTool[];
  /** Tools only for apps, by original name (G8): outside every list for people and models. */
  readonly appTools?: readonly ServedTool[];
  readonly excluded: readonly ExcludedTool[];
  readonly prompts: readonly PublishedPrompt[];
  readonly resources: PublishedResources;
  readonly features: ServerFeatures;
  /** The text of the file for agents. It comes before the server's own instructions. */
  readonly manual?: string | undefined;
  readonly instructions: string | undefined;
  /** True if each conversation has a separate instance (L1). */
  readonly leased: boolean;
  /** The tool to end an instance, for clients of only this toolset (L2a). */
  readonly release?: ServedTool | undefined;
}

export interface ServedTool extends PublishedTool {
  /** The editor's name for the tool: the published one, without `<toolset id>_` if all have it. */
  readonly editorName: string;
  readonly editorId: string;
  /**
   * Agent-host sessions of the editor do not get it, because they would cut or confuse its name
   * (G3a).
   */
  readonly noAgentHostName?: true;
  /** A person is asked once about every call that is not denied (S4d). */
  readonly isAsked?: true;
  /**
   * The permission of calls that no rule with arguments matches (S4e). Absent if no such rule is
   * about the tool.
   */
  readonly otherwise?: 'allow' | 'ask' | 'deny';
  /** For our release tool: the server of the instance. */
  readonly releases?: string;
}

export function toolsForEditor({ tools }: Pick<Toolset, 'tools'>): readonly ServedTool[] {
  return tools.filter(({ editorRefuses }) => editorRefuses === undefined);
}

export function toolsForAgentHost(toolset: Pick<Toolset, 'tools'>): readonly ServedTool[] {
  return toolsForEditor(toolset).filter(({ noAgentHostName }) => !noAgentHostName);
}

/** Holds every toolset in file order. `version` counts up with each applied change. */
export interface Catalogue {
  readonly version: number;
  readonly toolsets: readonly Toolset[];
  readonly claims: Claims;
}

export function toolsetIn(
  { toolsets }: Pick<Catalogue, 'toolsets'>,
  id: string,
): Toolset | undefined {
  return toolsets.find((toolset) => toolset.id === id);
}
