/**
 * The product for a test inside the extension host: its config file, its tools in the editor, its
 * problems.
 */
import assert from 'node:assert/strict';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { processes, repoRoot } from './bridge.ts';

const limitMs = 60_000;

/** Waits for a state. If it does not come, the error contains the last state. */
export async function until<Result>(
  look: () => Result | PromiseLike<Result>,
  accept: (result: Result) => boolean,
  what: string,
): Promise<Result> {
  const limit = Date.now() + limitMs;
  // Each look takes time of the page or of the process table, so a long wait looks less often.
  for (let pauseMs = 25; ; pauseMs = Math.min(2 * pauseMs, 100)) {
    const result = await look();
    if (accept(result)) return result;
    if (Date.now() > limit)
      assert.fail(`Not within ${limitMs} ms: ${what}. Last: ${JSON.stringify(result, null, 1)}`);
    await new Promise((done) => setTimeout(done, pauseMs));
  }
}

export function folder(): string {
  const [first] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(first, 'no folder is open');
  return first.uri.fsPath;
}

export const configFile = (): string => join(folder(), '.minds', 'mcp.yaml');

export const readConfig = (): Promise<string> => readFile(configFile(), 'utf8');

export async function writeConfig(text: string): Promise<void> {
  await mkdir(dirname(configFile()), { recursive: true });
  await writeFile(configFile(), text);
}

/** Saves like many editors: a new file beside the old one, renamed over it. */
export async function replaceConfig(text: string): Promise<void> {
  await writeFile(`${configFile()}.new`, text);
  await rename(`${configFile()}.new`, configFile());
}

export const removeConfig = (): Promise<void> => rm(configFile());

/** A stdio entry of a fixture server, in flow style, with `more` added to its keys. */
export function entry(fixture: string, args: readonly string[] = [], more = ''): string {
  const all = [join(repoRoot, 'test/fixtures/servers', fixture), ...args];
  return `{ transport: stdio, command: node, args: ${JSON.stringify(all)}${more ? `, ${more}` : ''} }`;
}

/** The processes of fixture servers of this editor. */
export async function servers(): Promise<{ pid: number; command: string }[]> {
  return (await processes()).filter(({ command }) => command.includes('fixtures/servers'));
}

/** The editor's ids of all tools of MCP servers, sorted, without the built-in toolset. */
export function toolIds(): string[] {
  return vscode.lm.tools
    .map((tool) => tool.name)
    .filter((name) => name.startsWith('mcp_') && !/^mcp_(mcp_)?admin_/.test(name))
    .sort();
}

export function untilTools(expected: readonly string[]): Promise<string[]> {
  const wanted = JSON.stringify([...expected].sort());
  return until(toolIds, (ids) => JSON.stringify(ids) === wanted, `tools ${wanted}`);
}

/** The text of a tool's result, without the host's additions. */
export async function invoke(
  tool: string,
  input: object = {},
  token?: vscode.CancellationToken,
): Promise<string> {
  const result = await vscode.lm.invokeTool(tool, { input, toolInvocationToken: undefined }, token);
  return result.content
    .map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : ''))
    .filter((text) => !text.trimStart().startsWith('[MCP Toolsets]'))
    .join('\n');
}

/** Waits for the page of a call, and returns its Markdown. */
export async function callPage(): Promise<string> {
  const document = await until(
    () => vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'mcp-toolsets-call'),
    (found) => found !== undefined,
    'the page of the call',
  );
  return document?.getText() ?? '';
}

export interface ShownProblem {
  readonly code: string;
  readonly severity: string;
  /** One-based `line:column-line:column`. */
  readonly range: string;
  /** The text of the range. */
  readonly text: string;
  readonly message: string;
}

/** The problems of the config file in the Problems view. */
export async function problems(): Promise<ShownProblem[]> {
  const uri = vscode.Uri.file(configFile());
  const lines = (await readConfig().catch(() => '')).split('\n');
  return vscode.languages
    .getDiagnostics(uri)
    .filter(({ source }) => source === 'MCP Toolsets')
    .map(({ code, severity, range: { start, end }, message }) => ({
      code: String(typeof code === 'object' ? code.value : code),
      severity: vscode.DiagnosticSeverity[severity],
      range: `${start.line + 1}:${start.character + 1}-${end.line + 1}:${end.character + 1}`,
      text:
        start.line === end.line
          ? (lines[start.line] ?? '').slice(start.character, end.character)
          : '',
      message,
    }));
}

/** Waits until exactly these problems are shown, as `code text`, in any order. */
export function untilProblems(expected: readonly string[]): Promise<ShownProblem[]> {
  const wanted = JSON.stringify([...expected].sort());
  return until(
    problems,
    (shown) => JSON.stringify(shown.map(({ code, text }) => `${code} ${text}`).sort()) === wanted,
    `problems ${wanted}`,
  );
}
