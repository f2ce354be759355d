/** The gateway's contract with the rest of the core; `host` implements it. */
import type { CancelSignal } from '../base/cancellation.js';
import type { Prompt, Resource, ResourceTemplate, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Event } from '../base/events.js';
import { toolsAlone, type ServerFeatures } from '../tools/features.js';
import type { ClientChange, ServerClient } from '../protocol/client.js';
import type { ClientPolicy } from '../protocol/clientPolicy.js';
import type {
  OtherOutcome,
  ToolOutcome,
  ToolsetCall,
  ToolsetRequest,
} from '../protocol/request.js';

export interface ServedToolset {
  readonly id: string;
  readonly serverName: string;
  readonly instructions: string | undefined;
  /** Under the names for this kind of client. All other fields are the server's. */
  readonly tools: readonly Tool[];
  /**
   * Tools with a question to a person here. The list marks them, so the client does not ask too
   * (S4).
   */
  readonly promised: ReadonlySet<string>;
  /** Further entries for clients with apps, callable only by apps (G8). */
  readonly appTools: readonly Tool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplate[];
  readonly features: ServerFeatures;
  readonly isLeased: boolean;
  /** True if a later edit may add features, and `list_changed` then reports them. */
  readonly canGain: boolean;
}

/** Serves nothing yet. A later edit may add anything. */
export const emptyToolset: Omit<ServedToolset, 'id' | 'serverName'> = {
  instructions: undefined,
  tools: [],
  promised: new Set(),
  appTools: [],
  prompts: [],
  resources: [],
  templates: [],
  features: toolsAlone,
  isLeased: false,
  canGain: true,
};

export interface GatewayBackend {
  /** An unchanged toolset is the same object. Each conversation may have its own lists (G3g). */
  toolset(id: string, policy: ClientPolicy, conversation?: string): ServedToolset | undefined;
  /** For a configured toolset without tools. */
  placeholder(id: string, policy: ClientPolicy): ServedToolset | undefined;
  whyGone(id: string): string;
  /**
   * Resolves as soon as the server, or each of all, is not starting; rejects when the signal is
   * aborted.
   */
  settled(id: string, signal: CancelSignal): Promise<void>;
  readonly onDidChangeToolsets: Event<readonly string[]>;
  callTool(call: ToolsetCall): Promise<ToolOutcome>;
  /** Its parameters have the names for clients. */
  request(request: ToolsetRequest): Promise<OtherOutcome>;
  noteClient(client: ServerClient, change: ClientChange): void;
  /** A client lists a toolset. The host then asks the server again for outdated lists (X8e). */
  noteListed(id: string, conversation: string | undefined): void;
}
