/** What the gateway needs of the rest of the core, declared here by its consumer; `host` provides it. */
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
  /** Under the names this kind of client sees, in order; every other field as the server gave it. */
  readonly tools: readonly Tool[];
  readonly prompts: readonly Prompt[];
  readonly resources: readonly Resource[];
  readonly templates: readonly ResourceTemplate[];
  readonly features: ServerFeatures;
  /** A later edit may give it what it has not now, which sessions that live shall learn. */
  readonly canGain?: boolean;
}

export interface GatewayBackend {
  /** Undefined: no such toolset; the gateway answers 404. */
  toolset(id: string, clientKind: ClientKind): ServedToolset | undefined;
  /** A toolset that is configured, as it is while its server gives it nothing; undefined: it is not configured. */
  placeholder(id: string, clientKind: ClientKind): ServedToolset | undefined;
  /** Resolves when the server of a toolset is not starting; rejects when the signal is aborted. */
  settled(id: string, signal: AbortSignal): Promise<void>;
  /** The ids of toolsets whose tools, prompts, resources or instructions changed, came or went. */
  readonly onDidChangeToolsets: Event<readonly string[]>;
  callTool(call: ToolsetCall): Promise<ToolOutcome>;
  /** Its parameters have the names that clients see. */
  request(request: ToolsetRequest): Promise<OtherOutcome>;
  noteClient(client: ServerClient, change: ClientChange): void;
}
