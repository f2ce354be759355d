/** The messages between the panel of a tool and its page. Types only. */
import type { Json } from './schemaForm.js';

export interface TriedTool {
  readonly server: string;
  readonly published: string;
  /** The original name. */
  readonly original: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: unknown;
  /** What the server says that the tool does, e.g. that it only reads. */
  readonly effects: readonly string[];
  /** A sentence that says whose instance its calls run on. */
  readonly instance: string;
}

export type ToPage =
  | { readonly kind: 'tool'; readonly tool: TriedTool; readonly changed: boolean }
  | { readonly kind: 'started' }
  | { readonly kind: 'progress'; readonly progress: number; readonly total?: number; readonly message?: string }
  | { readonly kind: 'ended'; readonly outcome: TrialOutcome; readonly ms: number }
  /** The result's app is shown beside it, unless something is wrong, as a phrase says. */
  | { readonly kind: 'app'; readonly wrong?: string }
  /** What the document of the arguments says. */
  | { readonly kind: 'document'; readonly text: string }
  /** The call was not made. */
  | { readonly kind: 'refused'; readonly reason: string };

export type TrialOutcome =
  | { readonly kind: 'result'; readonly result: { readonly [key: string]: unknown } }
  /** The server answered with a JSON-RPC error, or no server could be asked. */
  | { readonly kind: 'error'; readonly message: string; readonly detail: string }
  | { readonly kind: 'cancelled' };

/** What the editor keeps of a page over a reload of the window. */
export interface KeptTrial {
  readonly server: string;
  readonly published: string;
  /** What the form holds, right or wrong. */
  readonly draft: Json;
  /** The text of the document, if the arguments come from it. */
  readonly document?: string | undefined;
}

export type ToPanel =
  | { readonly kind: 'ready' }
  | { readonly kind: 'run'; readonly arguments: { readonly [name: string]: Json } }
  /** Runs the tool with the arguments of the document. */
  | { readonly kind: 'runDocument' }
  | { readonly kind: 'cancel' }
  /** Opens the arguments, which are what the form holds, as a document. */
  | { readonly kind: 'openDocument'; readonly arguments: { readonly [name: string]: Json } }
  | { readonly kind: 'copy'; readonly text: string }
  | { readonly kind: 'openResult' };
