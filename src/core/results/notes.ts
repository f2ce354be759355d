/**
 * Lines that the host adds to a tool's result (L3). They never displace it: where the editor would drop text beside
 * structured content, the structured content becomes text too. Pure; after `forEditor`.
 */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

/** @param structureHidesText what the client does: the editor drops every text where structured content is present. */
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
