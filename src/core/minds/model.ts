/**
 * The language model and the tools of a conversation. The shell provides them, and tests have
 * fakes.
 */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';

/** A tool for the model, under its exact published name (D1). */
export interface ConversationTool {
  readonly name: string;
  readonly original: string;
  readonly toolset: string;
  readonly description: string;
  readonly inputSchema: Tool['inputSchema'];
  readonly annotations?: Tool['annotations'];
  /**
   * Returns the arguments that a call sends, or undefined for a refused call. Absent if they are
   * those of the model.
   */
  readonly sends?: (input: ToolCall['input']) => ToolCall['input'] | undefined;
}

export type ContentPart =
  | { readonly kind: 'text'; readonly text: string }
  | {
      readonly kind: 'image';
      readonly mimeType: string;
      readonly base64: string;
    };

export interface ToolCall {
  readonly id: string;
  /** The model's name for it, published or invented. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface ToolResult {
  readonly callId: string;
  readonly tool: string;
  readonly parts: readonly ContentPart[];
  readonly isError: boolean;
  /** The files with its images, audio, other bytes, and long texts. */
  readonly files?: readonly ResultFile[];
  /** The result opens this app of its server (G8). */
  readonly app?: string;
  /** The id of the fact of the call, if calls are recorded (H1b). */
  readonly record?: string;
}

export type ResultFile = { readonly path: string; readonly isImage: boolean };

/**
 * A conversation consists of these. Each call of an answer has its result in the message after it.
 */
export type ConversationMessage =
  | { readonly kind: 'user'; readonly text: string }
  | {
      readonly kind: 'answer';
      readonly text: string;
      readonly calls: readonly ToolCall[];
    }
  | { readonly kind: 'results'; readonly results: readonly ToolResult[] };

export interface ModelRequest {
  readonly instructions: string;
  readonly messages: readonly ConversationMessage[];
  readonly tools: readonly ConversationTool[];
}

export type ModelPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly call: ToolCall };

export interface ConversationModel {
  /** The vendor as the editor names it, such as `copilot`. */
  readonly vendor: string;
  readonly name: string;
  readonly seesImages: boolean;
  readonly maxInputTokens: number;
  countTokens(text: string, signal: AbortSignal): Promise<number>;
  /** Sends one request. `modelFailures` classifies errors of the stream. */
  send(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
}

export type ToolCallProgress = {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
};

/** Runs calls. It never rejects: the model reads a failure as a result. */
export interface ToolRunner {
  run(
    tool: ConversationTool,
    call: ToolCall,
    signal: AbortSignal,
    onProgress: (progress: ToolCallProgress) => void,
  ): Promise<ToolResult>;
}
