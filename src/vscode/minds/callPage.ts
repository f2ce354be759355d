/** Writes the input and the output of a call as a page of Markdown. It is pure and does not import `vscode`. */
import { fenced, linkTarget, formatted, markdownList, type Markdown } from '../../core/base/inert.js';
import type { ToolCall, ToolResult } from '../../core/dialog/model.js';

const longestText = 100_000;

/** @param uriOf Returns the URI of a path on disk. */
export function callPage(
  { tool, input }: ToolCall,
  { parts, isError, files }: ToolResult,
  uriOf: (path: string) => string,
): Markdown {
  const output = parts.map((part) =>
    part.kind === 'text' ? fenced(short(pretty(part.text))) : formatted`An image, ${part.mimeType}.`,
  );
  const kept = (files ?? []).map(
    ({ path }) => formatted`- [${path.split(/[\\/]/).pop() ?? path}](${linkTarget(uriOf(path))})`,
  );
  const sections = [
    formatted`# ${tool}`,
    formatted`## Input`,
    fenced(short(JSON.stringify(input, undefined, 2)), 'json'),
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

function short(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}\n… (${text.length} characters in all)` : text;
}
