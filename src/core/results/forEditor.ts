/**
 * A tool result made up for what the editor does with it (V1, VS Code 1.139): it drops every text where structured
 * content is present, tells the model of an error only by its text, and throws where `content` is missing. Other clients
 * get results as servers give them and do not come here.
 *
 * Pure: the input is not changed, and a result that needs nothing comes back as it is. What became of files (V2) is
 * passed in; the limit of size (V3) is applied by `delivery`, between composing and marking.
 */
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/sdk/types.js';
import { isDeepStrictEqual } from 'node:util';
import type { SavedParts } from './binaries.js';
import { isText, isVisibleText, readableParts } from './readable.js';

const errorMark = 'Error:';
/** Longer texts are compared and not parsed: that would hold everything up. */
const longestParse = 1 << 18;

export function forEditor(result: CallToolResult, saved?: SavedParts): CallToolResult {
  return isPlainText(result) ? result : marked(composed(result, saved));
}

/** The common case, answered without a copy. */
export function isPlainText(result: CallToolResult): boolean {
  return (
    Array.isArray(result.content) &&
    result.structuredContent === undefined &&
    result.isError !== true &&
    result.content.every((part) => part?.type === 'text' && typeof part.text === 'string')
  );
}

/** Everything in it is readable: parts of types that the editor shows, or else structured content without any text. */
export function composed(result: CallToolResult, saved?: SavedParts): CallToolResult {
  const { structuredContent, ...rest } = result as CallToolResult & { structuredContent?: unknown };
  const parts = readableParts(rest.content, saved);
  if (structuredContent === undefined || structuredContent === null) return { ...rest, content: parts };
  // Structured content displaces text, so it travels alone or, once there is anything to read beside it, as text.
  if (rest.isError !== true && !parts.some(isText)) {
    return { ...rest, content: parts, structuredContent: structuredContent as Record<string, unknown> };
  }
  const json = JSON.stringify(structuredContent);
  if (!parts.some((part) => isVisibleText(part) && says(part.text, structuredContent, json))) {
    parts.push({ type: 'text', text: json });
  }
  return { ...rest, content: parts };
}

/** Of an error, the first text that the model sees begins with the mark; an error without text gets one. */
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

/** Whether a text is the JSON of a value, in whatever layout; of a long one, in the layouts that are common. */
function says(text: string, value: unknown, json: string): boolean {
  if (onlyWraps(value, text)) return true;
  if (!/^\s*[{[]/.test(text)) return false;
  if (text.length > longestParse) {
    return text === json || (text.startsWith('\n', 1) && text.trimEnd() === JSON.stringify(value, undefined, 2));
  }
  try {
    return isDeepStrictEqual(JSON.parse(text), value);
  } catch {
    return false; // Not JSON: a text of its own.
  }
}

/** What it only wraps, as many servers do, needs not be said twice. */
export function onlyWraps(value: unknown, text: string): boolean {
  const wrapped = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return wrapped.length === 1 && wrapped[0] === text;
}
