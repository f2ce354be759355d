/**
 * What went into a call and what came out, as documents that a line of the chat opens. Kept for the calls of this window,
 * the oldest go first; nothing is written to a disk.
 */
import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposables.js';
import type { ToolCall, ToolResult } from '../../core/dialog/model.js';

/** As in `package.json`. */
const scheme = 'mcp-toolsets-call';
const mostPages = 500;
const longestText = 100_000;

export class CallPages implements Disposable {
  private readonly pages = new Map<string, string>();
  private readonly registration: vscode.Disposable;
  private last = 0;

  constructor() {
    this.registration = vscode.workspace.registerTextDocumentContentProvider(scheme, {
      provideTextDocumentContent: ({ path }) =>
        this.pages.get(path) ?? 'What went in and out of a call is kept until the window closes; this one is older.\n',
    });
  }

  /** @param redact what may be shown of a text */
  keep(call: ToolCall, result: ToolResult, redact: (text: string) => string): vscode.Uri {
    const path = `/${++this.last}/${call.tool.replace(/[^\w-]/g, '_')}.md`;
    this.pages.set(path, redact(page(call, result)));
    const [oldest] = this.pages.keys();
    if (this.pages.size > mostPages && oldest !== undefined) this.pages.delete(oldest);
    return vscode.Uri.from({ scheme, path });
  }

  dispose(): void {
    this.registration.dispose();
  }
}

function page({ tool, input }: ToolCall, { parts, isError, files }: ToolResult): string {
  const output = parts.map((part) =>
    part.kind === 'text' ? fenced(pretty(part.text)) : `An image, \`${part.mimeType}\`.`,
  );
  const kept = (files ?? []).map(({ path }) => `- ${linkTo(path)}`);
  return [
    `# ${tool}`,
    '## Input',
    fenced(JSON.stringify(input, undefined, 2), 'json'),
    isError ? '## Output (an error)' : '## Output',
    ...(output.length > 0 ? output : ['Nothing.']),
    ...(kept.length > 0 ? ['## Files', kept.join('\n')] : []),
  ].join('\n\n');
}

function linkTo(path: string): string {
  const name = path.split(/[\\/]/).pop() ?? path;
  return `[${name}](${vscode.Uri.file(path).toString()})`;
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
