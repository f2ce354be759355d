/**
 * Adds lines of the host to a tool's result (L3), after `forEditor`. They never displace the result: if the editor
 * would drop text beside structured content, the structured content becomes text too.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

/** @param structureHidesText true if the client drops every text beside structured content, as the editor does */
export function withNotes(
  result: CallToolResult,
  notes: readonly string[],
  structureHidesText: boolean,
): CallToolResult {
  if (notes.length === 0) return result;
  const added = notes.map((text) => ({ type: 'text' as const, text }));
  const { structuredContent, ...rest } = result;
  const content = Array.isArray(result.content) ? result.content : [];
  if (structuredContent === undefined) return { ...rest, content: [...content, ...added] };
  if (!structureHidesText) return { ...result, content: [...content, ...added] };
  const structure = { type: 'text' as const, text: JSON.stringify(structuredContent) };
  return { ...rest, content: [...content, structure, ...added] };
}
