/** Writes the input and the output of a call as a page of Markdown. Pure; does not import `vscode`. */
import type { ToolCall, ToolResult } from '../../core/dialog/model.js';
import { fenced } from '../views/markdown.js';

const longestText = 100_000;

/** @param uriOf Returns the URI of a path on disk. */
export function callPage(
  { tool, input }: ToolCall,
  { parts, isError, files }: ToolResult,
  uriOf: (path: string) => string,
): string {
  const output = parts.map((part) =>
    part.kind === 'text' ? fenced(short(pretty(part.text))) : `An image, \`${part.mimeType}\`.`,
  );
  const kept = (files ?? []).map(({ path }) => `- [${path.split(/[\\/]/).pop() ?? path}](${uriOf(path)})`);
  return [
    `# ${tool}`,
    '## Input',
    fenced(short(JSON.stringify(input, undefined, 2)), 'json'),
    isError ? '## Output (an error)' : '## Output',
    ...(output.length > 0 ? output : ['Nothing.']),
    ...(kept.length > 0 ? ['## Files', kept.join('\n')] : []),
  ].join('\n\n');
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
