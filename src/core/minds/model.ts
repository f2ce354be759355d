/**
 * A conversation needs a language model, and tools that run. Both are declared here by their consumer; the shell provides
 * them, and tests give fakes.
 */
import type { Tool } from '@modelcontextprotocol/sdk/types.js';

/** A tool as the model is told of it, under its exact published name (D1). */
export interface ConversationTool {
  readonly name: string;
  /** The name that the server gives it. */
  readonly original: string;
  readonly toolset: string;
  readonly description: string;
  readonly inputSchema: Tool['inputSchema'];
  readonly annotations?: Tool['annotations'];
}

export type ContentPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly mimeType: string; readonly base64: string };

export interface ToolCall {
  readonly id: string;
  /** The name that the model used, be it published or invented. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

export interface ToolResult {
  readonly callId: string;
  readonly tool: string;
  readonly parts: readonly ContentPart[];
  readonly isError: boolean;
  /** The files that keep its images, audio, other bytes, and texts that are too long. */
  readonly files?: readonly ResultFile[];
  /** Is there where the result opens an app of its server, and names it (G8). */
  readonly app?: string;
}

export interface ResultFile {
  /** The absolute path. */
  readonly path: string;
  readonly isImage: boolean;
}

/** A conversation consists of these. Each call of an answer has its result in the message after it. */
export type ConversationMessage =
  | { readonly kind: 'user'; readonly text: string }
  | { readonly kind: 'answer'; readonly text: string; readonly calls: readonly ToolCall[] }
  | { readonly kind: 'results'; readonly results: readonly ToolResult[] };

export interface ModelRequest {
  /** What holds for the whole conversation, as it is now. */
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
  /** Counts the tokens of a whole request. */
  readonly maxInputTokens: number;
  countTokens(text: string, signal: AbortSignal): Promise<number>;
  /** Sends one request. `modelFailures` classifies what it throws while it is read. */
  send(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelPart>;
}

export interface ToolCallProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Runs calls. It never rejects: a failure is a result that the model reads. */
export interface ToolRunner {
  run(
    tool: ConversationTool,
    call: ToolCall,
    signal: AbortSignal,
    onProgress: (progress: ToolCallProgress) => void,
  ): Promise<ToolResult>;
}
