/** The messages between the panel of a tool and its page. Types only. */
import type { Json } from './schemaForm.js';

export type Arguments = { readonly [name: string]: Json };

export interface TriedTool {
  readonly server: string;
  readonly published: string;
  readonly original: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: unknown;
  /** The server's own description and schema, if the config file overrides the tool. */
  readonly offered?: { readonly description: string; readonly inputSchema: unknown };
  /** The effects by the server's annotations, such as "only reads". */
  readonly effects: readonly string[];
  /** A sentence about the instance of its calls. */
  readonly instance: string;
}

export type ToPage =
  | {
      readonly kind: 'tool';
      readonly tool: TriedTool;
      readonly changed: boolean;
    }
  | { readonly kind: 'started' }
  | {
      readonly kind: 'progress';
      readonly progress: number;
      readonly total?: number;
      readonly message?: string;
    }
  | {
      readonly kind: 'ended';
      readonly outcome: TrialOutcome;
      readonly ms: number;
    }
  /** The result's app is beside it, or cannot be shown for the reason in `wrong`. */
  | { readonly kind: 'app'; readonly wrong?: string }
  | { readonly kind: 'document'; readonly text: string }
  | { readonly kind: 'fill'; readonly arguments: Arguments }
  | { readonly kind: 'refused'; readonly reason: string };

export type TrialOutcome =
  | { readonly kind: 'result'; readonly result: { readonly [key: string]: unknown } }
  /** The server answered with a JSON-RPC error, or no server could answer. */
  | {
      readonly kind: 'error';
      readonly message: string;
      readonly detail: string;
    }
  | { readonly kind: 'cancelled' };

/** The state of a page that survives a reload of the window. */
export interface KeptTrial {
  readonly server: string;
  readonly published: string;
  /** The input of the form, right or wrong. */
  readonly draft: Json;
  readonly document?: string | undefined;
}

export type ToPanel =
  | { readonly kind: 'ready' }
  | { readonly kind: 'run'; readonly arguments: Arguments }
  | { readonly kind: 'runDocument' }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'openDocument'; readonly arguments: Arguments }
  | { readonly kind: 'copy'; readonly text: string }
  | { readonly kind: 'openResult' };
