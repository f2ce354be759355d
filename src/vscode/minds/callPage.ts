/** Writes the input and the output of a call as a page of Markdown. Pure. */
import { fenced, linkTarget, formatted, markdownList, type Markdown } from '../../core/base/inert.js';
import type { ToolCall, ToolResult } from '../../core/minds/model.js';

const longestText = 100_000;

interface PageDeps {
  /** Removes secrets from a text. Not for a whole page, because a mask could cover the end of a fence. */
  readonly redact: (text: string) => string;
  readonly uriOf: (path: string) => string;
}

export function callPage(
  { tool, input }: ToolCall,
  { parts, isError, files }: ToolResult,
  { redact, uriOf }: PageDeps,
): Markdown {
  const block = (text: string, language?: string): Markdown => fenced(short(redact(text), text.length), language);
  const output = parts.map((part) =>
    part.kind === 'text' ? block(pretty(part.text)) : formatted`An image, ${redact(part.mimeType)}.`,
  );
  const kept = (files ?? []).map(
    ({ path }) => formatted`- [${redact(path.split(/[\\/]/).pop() ?? path)}](${linkTarget(uriOf(path))})`,
  );
  const sections = [
    formatted`# ${redact(tool)}`,
    formatted`## Input`,
    block(JSON.stringify(input, undefined, 2), 'json'),
    isError ? formatted`## Output (an error)` : formatted`## Output`,
    ...(output.length > 0 ? output : [formatted`Nothing.`]),
    ...(kept.length > 0 ? [formatted`## Files`, markdownList(kept, '\n')] : []),
  ];
  return markdownList(sections, '\n\n');
}

function pretty(text: string): string {
  if (!/^\s*[{[]/.test(text) || text.length > longestText) return text;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

function short(text: string, inAll: number): string {
  return text.length > longestText ? `${text.slice(0, longestText)}\n… (${inAll} characters in all)` : text;
}
