/**
 * Estimates a tool's share of a model's context: its sent name, its description and its input schema, as JSON, with
 * four bytes of UTF-8 to a token. The real count depends on the model's vocabulary. The figure serves to compare tools
 * and to choose tools to keep out.
 */
import type { OfferedTool, ServedTool } from './catalogue.js';

const bytesPerToken = 4;

/** A server's tool stays the same object in every snapshot until the next list. */
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
