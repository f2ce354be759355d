/**
 * The two steps that fit a tool result to the editor (V1, VS Code 1.139). The editor drops every text beside structured
 * content, shows the model only the text of an error, and throws if `content` is missing. `delivery` applies the size
 * limit (V3) between the steps. Other clients get the server's own result.
 *
 * Everything is pure. The outcome of each file (V2) is passed in.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { isDeepStrictEqual } from 'node:util';
import type { SavedParts } from './binaries.js';
import { isText, isVisibleText, readableParts } from './readable.js';

const errorMark = 'Error:';
/** Longer texts are compared and not parsed, because parsing would hold everything up. */
const longestParse = 1 << 18;

/** True in the common case, which needs no copy. */
export function isPlainText(result: CallToolResult): boolean {
  return (
    Array.isArray(result.content) &&
    result.structuredContent === undefined &&
    result.isError !== true &&
    result.content.every((part) => part?.type === 'text' && typeof part.text === 'string')
  );
}

/** Makes everything readable: parts of types that the editor shows, or structured content without any text. */
export function composed(result: CallToolResult, saved: SavedParts): CallToolResult {
  const { structuredContent, ...rest } = result as CallToolResult & { structuredContent?: unknown };
  const parts = readableParts(rest.content, saved);
  if (structuredContent === undefined || structuredContent === null) return { ...rest, content: parts };
  // Structured content displaces text, so it stays structured only if no text is beside it.
  if (rest.isError !== true && !parts.some(isText)) {
    return { ...rest, content: parts, structuredContent: structuredContent as Record<string, unknown> };
  }
  const json = JSON.stringify(structuredContent);
  if (!parts.some((part) => isVisibleText(part) && says(part.text, structuredContent, json))) {
    parts.push({ type: 'text', text: json });
  }
  return { ...rest, content: parts };
}

/** The first text of an error for the model begins with a marker. An error without text gets one. */
export function marked(result: CallToolResult): CallToolResult {
  return result.isError === true ? { ...result, content: withMark(result.content) } : result;
}

function withMark(parts: readonly ContentBlock[]): ContentBlock[] {
  const first = parts.findIndex(isVisibleText);
  const part = parts[first];
  if (part?.type !== 'text') {
    return [{ type: 'text', text: `${errorMark} the tool failed and said nothing about it.` }, ...parts];
  }
  if (part.text.startsWith(errorMark)) return [...parts];
  return parts.with(first, { ...part, text: `${errorMark} ${part.text}` });
}

/** True if a text is the JSON of a value, in any layout. A long text is compared only in the common layouts. */
function says(text: string, value: unknown, json: string): boolean {
  if (onlyWraps(value, text)) return true;
  if (!/^\s*[{[]/.test(text)) return false;
  if (text.length > longestParse) {
    return text === json || (text.startsWith('\n', 1) && text.trimEnd() === JSON.stringify(value, undefined, 2));
  }
  try {
    return isDeepStrictEqual(JSON.parse(text), value);
  } catch {
    return false; // The text is not JSON, so it has other content.
  }
}

/** True if a value only wraps the text, as many servers do. */
export function onlyWraps(value: unknown, text: string): boolean {
  const wrapped = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return wrapped.length === 1 && wrapped[0] === text;
}
