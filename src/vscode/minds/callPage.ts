/** What went into a call and what came out, as a page of Markdown. Pure; does not import `vscode`. */
import type { ToolCall, ToolResult } from '../../core/dialog/model.js';

const longestText = 100_000;

/** @param uriOf of a path on disk */
export function callPage(
  { tool, input }: ToolCall,
  { parts, isError, files }: ToolResult,
  uriOf: (path: string) => string,
): string {
  const output = parts.map((part) =>
    part.kind === 'text' ? fenced(pretty(part.text)) : `An image, \`${part.mimeType}\`.`,
  );
  const kept = (files ?? []).map(({ path }) => `- [${path.split(/[\\/]/).pop() ?? path}](${uriOf(path)})`);
  return [
    `# ${tool}`,
    '## Input',
    fenced(JSON.stringify(input, undefined, 2), 'json'),
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

/** The fence is longer than any run of backticks inside. */
function fenced(text: string, language = ''): string {
  const short =
    text.length > longestText ? `${text.slice(0, longestText)}\n… (${text.length} characters in all)` : text;
  const longest = Math.max(2, ...[...short.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${short}\n${fence}`;
}
