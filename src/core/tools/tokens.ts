/**
 * Estimates what a tool takes of a model's context: the name under which it is sent, its description and its input
 * schema, as JSON, with four bytes of UTF-8 to a token. What a model really counts depends on its vocabulary; the
 * figure serves to compare tools and to choose what to keep out.
 */
import type { OfferedTool, ServedTool } from './catalogue.js';

const bytesPerToken = 4;

/** A server's tool stays the same object in every snapshot until it is listed anew. */
const known = new WeakMap<OfferedTool, number>();

export function estimatedTokens({ editorId, tool }: ServedTool): number {
  let bytes = known.get(tool);
  if (bytes === undefined) {
    const { description = '', inputSchema: parameters } = tool;
    bytes = Buffer.byteLength(JSON.stringify({ name: '', description, parameters }));
    known.set(tool, bytes);
  }
  return Math.ceil((bytes + editorId.length) / bytesPerToken);
}

export function estimatedTokensOf(tools: readonly ServedTool[]): number {
  return tools.reduce((sum, tool) => sum + estimatedTokens(tool), 0);
}
