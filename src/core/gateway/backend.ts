/** What the gateway needs of the rest of the core, declared here by its consumer; `host` provides it. */
import type { CallToolResult, Prompt, Resource, ResourceTemplate, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Event } from '../base/events.js';
import type { ServerFeatures } from '../tools/features.js';
import type { Params } from './jsonRpc.js';

/** How a toolset is served: `editor` gets short names and results made up for what the editor drops (V1, G3a). */
export type ClientKind = 'editor' | 'plain';

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

/** The client of one session, as a server may ask it something in its turn (G4). */
export interface BackendClient {
  /** The same object for everything of one session. */
  readonly session: object;
  /** As it announced them. */
  readonly capabilities: Params;
  /** The least level of log messages it wants; undefined: it did not say. */
  readonly logLevel: string | undefined;
  /** The conversation whose request it is; undefined: none in particular. */
  readonly dialog: string | undefined;
  /** The session has ended. */
  readonly isGone: boolean;
  /** Rejects with an error that has a JSON-RPC `code`. Aborting takes the question back. */
  ask(
    method: string,
    params: Params | undefined,
    signal: AbortSignal,
    onProgress?: (progress: Params) => void,
  ): Promise<Params>;
  tell(method: string, params: Params): void;
}

/** What everything comes with that goes on to an instance. */
export interface BackendTerms {
  readonly toolset: string;
  readonly clientKind: ClientKind;
  /** The client's `_meta`, without its progress token. */
  readonly meta: Params | undefined;
  /** Which conversation calls (G3). */
  readonly dialog: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { progress: number; total?: number; message?: string }) => void;
  readonly client: BackendClient;
}

export interface BackendCall extends BackendTerms {
  /** The name this kind of client sees. */
  readonly tool: string;
  readonly arguments: Params | undefined;
}

/** Prompts, resources, completions. */
export interface BackendRequest extends BackendTerms {
  readonly method: string;
  /** Under the names that clients see, without `_meta`. */
  readonly params: Params;
}

export type BackendRequestOutcome =
  | { readonly kind: 'result'; readonly result: Params }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly kind: 'cancelled' };

export type BackendOutcome =
  | {
      readonly kind: 'result';
      readonly result: CallToolResult;
      /** Of the tool; by default the name the client sees. */
      readonly publishedName?: string;
      /** Lines for the agent that come after the tool's own result (L3). */
      readonly notes?: readonly string[];
    }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly kind: 'cancelled' };

export interface GatewayBackend {
  /** Undefined: no such toolset; the gateway answers 404. */
  toolset(id: string, clientKind: ClientKind): ServedToolset | undefined;
  /** The ids of toolsets whose tools, prompts, resources or instructions changed, came or went. */
  readonly onDidChangeToolsets: Event<readonly string[]>;
  callTool(call: BackendCall): Promise<BackendOutcome>;
  request(request: BackendRequest): Promise<BackendRequestOutcome>;
  /** A session has other roots, wants to hear other log messages, has ended. */
  noteClient(client: BackendClient, change: 'roots' | 'logLevel' | 'gone'): void;
}
