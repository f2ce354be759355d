/**
 * These immutable values are what servers offer and what agents see of it. The rules (filters, transforms, names,
 * uniqueness) are pure functions beside this file; nothing here knows a connection.
 */
import type { Prompt, Resource, ResourceTemplate, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { ResourceSelection } from '../config/model.js';
import type { ServerFeatures } from './features.js';

/** A tool as its server gave it: every field passes through, known to the protocol or not (N7). */
export type OfferedTool = Readonly<Tool>;

/** These too pass through with every field. */
export type OfferedPrompt = Readonly<Prompt>;
export type OfferedResource = Readonly<Resource>;
export type OfferedTemplate = Readonly<ResourceTemplate>;

/** An entry that is not what its list should hold. It is named, so that it is not lost in silence. */
export interface Malformed {
  readonly name: string;
  readonly detail: string;
}

export interface PromptListing {
  readonly prompts: readonly OfferedPrompt[];
  readonly malformed: readonly Malformed[];
  /** Says why the prompts are not all here; those that came are kept. */
  readonly failure?: string;
}

export interface ResourceListing {
  readonly resources: readonly OfferedResource[];
  readonly templates: readonly OfferedTemplate[];
  readonly malformed: readonly Malformed[];
  readonly failure?: string;
}

export interface ToolListing {
  readonly tools: readonly OfferedTool[];
  readonly malformed: readonly Malformed[];
  /** It is undefined if the server has no prompts. */
  readonly prompts?: PromptListing | undefined;
  /** It is undefined if the server has no resources. */
  readonly resources?: ResourceListing | undefined;
}

export interface PublishedTool {
  readonly original: string;
  readonly published: string;
  readonly tool: OfferedTool;
  /** Is there where the editor alone does not get the tool, and says why (N7). */
  readonly editorRefuses?: EditorRefusal;
}

type EditorRefusal = { readonly kind: 'idTooLong' } | { readonly kind: 'schema'; readonly detail: string };

export interface PublishedPrompt {
  readonly original: string;
  readonly published: string;
  readonly prompt: OfferedPrompt;
}

export interface PublishedResources {
  readonly resources: readonly OfferedResource[];
  readonly templates: readonly OfferedTemplate[];
  /** Also decides about what is read without being listed. */
  readonly filter: ResourceSelection;
  /** The URIs of the apps of published tools (G8); absent where there are none. */
  readonly apps?: readonly string[];
}

export const noResources: PublishedResources = {
  resources: [],
  templates: [],
  filter: { whitelist: [], blacklist: [] },
};

export type ExclusionReason =
  | { readonly kind: 'blacklist'; readonly pattern: string }
  | { readonly kind: 'whitelist' }
  | { readonly kind: 'originalNameInvalid' }
  | { readonly kind: 'publishedNameInvalid'; readonly published: string }
  | { readonly kind: 'schema'; readonly detail: string }
  /** A person denied it (`mcpToolsets.toolPermissions`, rule S4). */
  | { readonly kind: 'denied'; readonly pattern: string; readonly published: string }
  /** It is not what it was when its server was approved (S3). */
  | { readonly kind: 'changed'; readonly parts: readonly string[] }
  | { readonly kind: 'nameTaken'; readonly published: string; readonly holder: string }
  | { readonly kind: 'nameReserved'; readonly published: string }
  /** The server lists the name again; the first counts (N5). */
  | { readonly kind: 'listedTwice' };

export interface ExcludedTool {
  readonly original: string;
  readonly reason: ExclusionReason;
}

export interface Toolset {
  /** The server's id. */
  readonly id: string;
  /** Is `serverInfo.name` for the editor: unique, and at most 13 of `[a-z0-9-]` (G3a). */
  readonly shortName: string;
  /** Stand in the server's own order (N6). */
  readonly tools: readonly ServedTool[];
  /** What only apps call, by its original name (G8): outside every list that people and models see. */
  readonly appTools?: readonly ServedTool[];
  readonly excluded: readonly ExcludedTool[];
  readonly prompts: readonly PublishedPrompt[];
  readonly resources: PublishedResources;
  readonly features: ServerFeatures;
  readonly instructions: string | undefined;
  /** Whether each conversation has an instance of its own (L1). */
  readonly leased: boolean;
  /** The tool by which a client that sees this toolset alone ends its instance (L2a); absent where there is none. */
  readonly release?: ServedTool | undefined;
}

export interface ServedTool extends PublishedTool {
  /** The name under which the editor gets the tool: the published one, without `<toolset id>_` where all have it. */
  readonly editorName: string;
  /** The id that the editor makes of it: `mcp_<short name>_<editor name>`. */
  readonly editorId: string;
  /** Says that agent-host sessions of the editor do not get it, because they would cut or confuse its name (G3a). */
  readonly noAgentHostName?: true;
  /** A rule of the person wants them to be asked about each call of it (S4). */
  readonly isAsked?: true;
  /** The server whose instance it ends, where it is a tool of ours for that. */
  readonly releases?: string;
}

/** The tools that the editor gets; every other client gets them all (N7). */
export function toolsForEditor({ tools }: Pick<Toolset, 'tools'>): readonly ServedTool[] {
  return tools.filter(({ editorRefuses }) => editorRefuses === undefined);
}

/** Returns the tools that agent-host sessions of the editor get. */
export function toolsForAgentHost(toolset: Pick<Toolset, 'tools'>): readonly ServedTool[] {
  return toolsForEditor(toolset).filter(({ noAgentHostName }) => !noAgentHostName);
}

/** Holds every toolset in file order. `version` counts up with each applied change (R5). */
export interface Catalogue {
  readonly version: number;
  readonly toolsets: readonly Toolset[];
}
