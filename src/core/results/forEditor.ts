/**
 * A tool result made up for what the editor does with it (spec V1, VS Code 1.139): it drops every text where structured
 * content is present, tells the model of an error only by its text, and throws where `content` is missing. Other clients
 * get results as servers give them and do not come here.
 *
 * Pure: the input is not changed, and a result that needs nothing comes back as it is. Files on disk (spec V2) and the
 * limit of size (V3) are no business of this module: they are steps before it, from result to result, so that what they
 * leave (a line with a path, a head and a tail) is text like any other here.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { isDeepStrictEqual } from 'node:util';
import { readableParts, type TextPart } from './readable.js';

const errorMark = 'Error:';

export function forEditor(result: CallToolResult): CallToolResult {
  if (isPlainText(result)) return result;
  const { structuredContent, ...rest } = result as CallToolResult & { structuredContent?: unknown };
  const parts = readableParts(rest.content);
  const isError = rest.isError === true;
  const hasStructure = structuredContent !== undefined && structuredContent !== null;
  // Structured content displaces text, so it travels alone or, once there is anything to read beside it, as text.
  const alone = hasStructure && !isError && !parts.some(isText);
  if (hasStructure && !alone && !parts.some((part) => isVisibleText(part) && says(part.text, structuredContent))) {
    parts.push({ type: 'text', text: JSON.stringify(structuredContent) });
  }
  return {
    ...rest,
    content: isError ? marked(parts) : parts,
    ...(alone ? { structuredContent: structuredContent as Record<string, unknown> } : {}),
  };
}

/** The common case, answered without a copy. */
function isPlainText(result: CallToolResult): boolean {
  return (
    Array.isArray(result.content) &&
    result.structuredContent === undefined &&
    result.isError !== true &&
    result.content.every((part) => part?.type === 'text' && typeof part.text === 'string')
  );
}

/** The first text that the model sees begins with the mark; an error without text gets one. */
function marked(parts: readonly ContentBlock[]): ContentBlock[] {
  const first = parts.findIndex(isVisibleText);
  const part = parts[first];
  if (part?.type !== 'text') {
    return [{ type: 'text', text: `${errorMark} the tool failed and said nothing about it.` }, ...parts];
  }
  if (part.text.startsWith(errorMark)) return [...parts];
  return parts.with(first, { ...part, text: `${errorMark} ${part.text}` });
}

function isText(part: ContentBlock): part is TextPart {
  return part.type === 'text';
}

/** The editor keeps text that is meant for the user alone away from the model. */
function isVisibleText(part: ContentBlock): part is TextPart {
  const audience = isText(part) ? part.annotations?.audience : undefined;
  return isText(part) && (!Array.isArray(audience) || audience.length === 0 || audience.includes('assistant'));
}

/** Whether a text is the JSON of a value, in whatever layout. */
function says(text: string, value: unknown): boolean {
  if (!/^\s*[{[]/.test(text)) return false;
  try {
    return isDeepStrictEqual(JSON.parse(text), value);
  } catch {
    return false; // Not JSON: a text of its own.
  }
}
