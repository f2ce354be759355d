/** Declares what the gateway needs of the rest of the core; `host` provides it. */
import type { Prompt, Resource, ResourceTemplate, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Event } from '../base/events.js';
import type { ServerFeatures } from '../tools/features.js';
import type { ClientChange, ClientKind, ServerClient } from '../protocol/client.js';
import type { OtherOutcome, ToolOutcome, ToolsetCall, ToolsetRequest } from '../protocol/request.js';

/** The id under which all toolsets are served as one, at `/mcp`; no server can have it. */
export const everyToolset = '*';

export interface ServedToolset {
  readonly id: string;
  /** `serverInfo.name`. */
  readonly serverName: string;
  readonly instructions: string | undefined;
  /** The tools in order, under the names that this kind of client sees; every other field is as the server gave it. */
  readonly tools: readonly Tool[];
  /** The names of the tools of which the client is told that a person is asked here, so that it asks nobody (S4). */
  readonly promised?: ReadonlySet<string>;
  /** The entries that are listed besides for clients that show apps, for apps alone (G8). */
  readonly appTools?: readonly Tool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplate[];
  readonly features: ServerFeatures;
  /** Whether each conversation has an instance of its own, so that they have to be told apart (L1). */
  readonly isLeased?: boolean;
  /** Says whether a later edit may give it what it does not have now, of which living sessions are told. */
  readonly canGain?: boolean;
}

export interface GatewayBackend {
  /**
   * Returns undefined if there is no such toolset, which the gateway answers with 404. An unchanged toolset stays the same
   * object.
   * @param conversation gets the lists of its own instances (G3g); by default, the lists for all
   */
  toolset(id: string, clientKind: ClientKind, conversation?: string): ServedToolset | undefined;
  /**
   * Returns a configured toolset as it is while its server gives it nothing, or undefined where it is not configured.
   */
  placeholder(id: string, clientKind: ClientKind): ServedToolset | undefined;
  /** Resolves when the server of a toolset is not starting; rejects when the signal is aborted. */
  settled(id: string, signal: AbortSignal): Promise<void>;
  /** Fires with the ids of toolsets whose tools, prompts, resources or instructions may have changed for somebody. */
  readonly onDidChangeToolsets: Event<readonly string[]>;
  callTool(call: ToolsetCall): Promise<ToolOutcome>;
  /** Its parameters have the names that clients see. */
  request(request: ToolsetRequest): Promise<OtherOutcome>;
  noteClient(client: ServerClient, change: ClientChange): void;
  /** A client lists a toolset. The host then asks the server again for lists that are no longer fresh (X8e). */
  noteListed(id: string, conversation: string | undefined): void;
}
