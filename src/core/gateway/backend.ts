/** What the gateway needs of the rest of the core, declared here by its consumer; `host` provides it. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import type { Event } from '../base/events.js';

/** How a toolset is served: `editor` gets short names and results made up for what the editor drops (spec V1, G3a). */
export type ClientKind = 'editor' | 'plain';

export interface ServedToolset {
  readonly id: string;
  /** `serverInfo.name`. */
  readonly serverName: string;
  readonly instructions: string | undefined;
  /** Under the names this kind of client sees, in order; every other field as the server gave it. */
  readonly tools: readonly Tool[];
}

export interface BackendCall {
  readonly toolset: string;
  readonly clientKind: ClientKind;
  /** The name this kind of client sees. */
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>> | undefined;
  /** The client's `_meta`, without its progress token. */
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  /** Which conversation calls (spec G3). */
  readonly dialog: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { progress: number; total?: number; message?: string }) => void;
}

export type BackendOutcome =
  | {
      readonly kind: 'result';
      readonly result: CallToolResult;
      /** Of the tool; by default the name the client sees. */
      readonly publishedName?: string;
      /** Lines for the agent that come after the tool's own result (spec L3). */
      readonly notes?: readonly string[];
    }
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly kind: 'cancelled' };

export interface GatewayBackend {
  /** Undefined: no such toolset; the gateway answers 404. */
  toolset(id: string, clientKind: ClientKind): ServedToolset | undefined;
  /** The ids of toolsets whose tools or instructions changed, came or went. */
  readonly onDidChangeToolsets: Event<readonly string[]>;
  callTool(call: BackendCall): Promise<BackendOutcome>;
}
