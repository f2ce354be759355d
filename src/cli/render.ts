import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { oneLine } from '../core/base/inert.js';
import { signInCommand, withSignInCommand } from '../core/base/signInCommand.js';
import { byPlace, type Place, type Problem } from '../core/base/problem.js';
import { asText } from '../core/base/text.js';
import { whereVariablesAreSet } from '../core/config/problems.js';
import { localPath, originWords } from '../core/config/sources.js';
import type { Fields } from '../core/protocol/client.js';
import type { Toolset } from '../core/tools/catalogue.js';
import { exclusionPhrase } from '../core/tools/exclusion.js';
import { estimatedTokensOf } from '../core/tools/tokens.js';
import type { ServerStatus, StatusSnapshot } from '../core/reconcile/status.js';

/**
 * Returns `file:line:column: severity code: message fix`, one-based and on one line, as editors and
 * CI systems read it.
 */
export function problemLine(problem: Problem): string {
  const fix = problem.fix.replace(whereVariablesAreSet, 'in the shell that runs this command');
  return oneLine(
    `${positionText(problem.place)}: ${problem.severity} ${problem.code}: ${problem.message} ${fix}`,
  );
}

/** One-based. @param file how the file is shown */
export function positionText({ file: path, range }: Place, file = path): string {
  return `${file}:${range.start.line + 1}:${range.start.character + 1}`;
}

/**
 * Returns the same text for a problem that an edit moves, and for a count of too many tools that
 * goes on.
 */
export function subjectOfProblem(line: string): string {
  const subject = line.replace(/:\d{1,9}:\d{1,9}: (?=error|warning|information|hint)/, ': ');
  return subject.includes(' too-many-tools: ') ? 'too-many-tools' : subject;
}

/** True for an error of a whole file (C4). */
export function isOfFile({ server, severity }: Problem): boolean {
  return server === undefined && severity === 'error';
}

export function isBroken({ state }: ServerStatus): boolean {
  return ['failed', 'invalid', 'signInNeeded', 'pending'].includes(state.kind);
}

export function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted(byPlace);
}

function stateWord({ id, state, signIn }: ServerStatus): string {
  if (state.kind === 'failed') {
    return `failed: ${state.reason} ${state.fix}`;
  }
  if (state.kind === 'reconnecting') {
    return `reconnecting (attempt ${state.attempt}): ${state.cause}`;
  }
  if (state.kind === 'pending') return 'waits for approval';
  if (state.kind !== 'signInNeeded') return state.kind;
  const ownFix = signIn?.kind === 'needed' ? signIn.fix : undefined;
  const fix = ownFix ?? withSignInCommand(`Run ${signInCommand}.`, id);
  return `needs sign-in: ${state.why} ${fix}`;
}

/** Begins with a comma, because it follows the state. */
function signedInWords({ signIn }: ServerStatus): string {
  if (signIn?.kind !== 'signedIn' || signIn.since === undefined) return '';
  const scopes = signIn.scopes === undefined ? '' : ` for ${signIn.scopes}`;
  const lacks = signIn.lacks === undefined ? '' : `, and lacks ${signIn.lacks}`;
  return `, signed in since ${new Date(signIn.since).toISOString()}${scopes}${lacks}`;
}

export function statusTable({ servers, problems }: StatusSnapshot): string {
  if (servers.length === 0) {
    return problems.some(isOfFile)
      ? 'No servers are known, because a config file has an error.'
      : 'No servers are configured.';
  }
  const rows = servers.map((server) => {
    const { id, transport, tools, offered, origin, state } = server;
    const wrong = problems.find(
      (one) => state.kind === 'invalid' && one.server === id && one.severity === 'error',
    );
    const reason = wrong ? `: ${wrong.message} ${wrong.fix}` : '';
    const words = oneLine(`${stateWord(server)}${signedInWords(server)}${reason}`);
    return [id, transport ?? '', `${tools.length} of ${offered}`, originWords[origin], words];
  });
  return table(['server', 'transport', 'tools', 'source', 'state'], rows);
}

/** One line for each package that a launch names, with what is known of its version (C8). */
export function packageLines({ servers }: Pick<StatusSnapshot, 'servers'>): string[] {
  return servers.flatMap(({ id, package: named }) => {
    if (!named) return [];
    const { name, requested, pinned, runs, reported } = named;
    const parts = [
      ...(runs === undefined ? [] : [`runs ${runs}`]),
      ...(reported === undefined ? [] : [`reports ${reported}`]),
      pinned ? 'pinned' : 'not pinned',
    ];
    const asked = requested === undefined ? name : `${name}@${requested}`;
    return [oneLine(`Package of ${id}: ${asked}, ${parts.join(', ')}.`)];
  });
}

export function localLines({ servers }: Pick<StatusSnapshot, 'servers'>): string[] {
  const parts = servers.flatMap(({ id, local }) => {
    if (local.length === 0) return [];
    const keys = oneLine(local.join(', '));
    return [`${id} (${keys})`];
  });
  if (parts.length === 0) return [];
  return [`Only for you, by ${localPath}: ${parts.join('; ')}.`];
}

export function tokenLines({ servers }: StatusSnapshot): string[] {
  const parts = servers
    .filter(({ tools }) => tools.length > 0)
    .map(({ id, tools, savedTokens }) => {
      const tokens = estimatedTokensOf(tools);
      if (savedTokens <= 0) return `${id} ~${tokens}`;
      const whole = tokens + savedTokens;
      return `${id} ~${tokens} instead of ~${whole}`;
    });
  if (parts.length === 0) return [];
  return [`Tokens in each request: ${parts.join(', ')}.`];
}

/** An overridden tool has `offered` too: the tool as its server describes it. */
export function toolsJson({ id, tools, excluded, local }: ServerStatus): object {
  const shown = tools.map(({ override, ...tool }) => ({
    ...tool,
    ...(override && { offered: override.offered }),
  }));
  return {
    id,
    tools: shown,
    excluded,
    local,
  };
}

export function toolsTable(servers: readonly ServerStatus[]): string {
  const rows = servers.flatMap((server) => {
    const sifted = server.siftedForMe();
    const marked = (original: string, words: string): string =>
      [words, sifted.has(original) ? 'only for you' : ''].filter(Boolean).join(' · ');
    return [
      ...server.tools.map((tool) => [
        server.id,
        tool.published,
        marked(tool.original, tool.original === tool.published ? '' : tool.original),
      ]),
      ...server.excluded.map((tool) => [
        server.id,
        `(${tool.original})`,
        marked(tool.original, exclusionPhrase(tool.reason)),
      ]),
    ];
  });
  if (rows.length === 0) return 'No tools are published.';
  return table(['toolset', 'tool', 'original name, or why agents do not get it'], rows);
}

export function resourcesTable(toolsets: readonly Pick<Toolset, 'id' | 'resources'>[]): string {
  const rows = toolsets.flatMap(({ id, resources: { resources, templates } }) => [
    ...resources.map(({ uri, name, mimeType }) => [id, uri, name, mimeType ?? '']),
    ...templates.map(({ uriTemplate, name, mimeType }) => [id, uriTemplate, name, mimeType ?? '']),
  ]);
  if (rows.length === 0) return 'No resources are published.';
  return table(['server', 'URI', 'name', 'type'], cleaned(rows));
}

export function promptsTable(toolsets: readonly Pick<Toolset, 'id' | 'prompts'>[]): string {
  const rows = toolsets.flatMap(({ id, prompts }) =>
    prompts.map(({ published, prompt }) => [
      id,
      published,
      argumentWords(prompt.arguments),
      prompt.description ?? '',
    ]),
  );
  if (rows.length === 0) return 'No prompts are published.';
  return table(['server', 'prompt', 'arguments', 'description'], cleaned(rows));
}

function argumentWords(given: unknown): string {
  const words = Array.isArray(given)
    ? (given as readonly { name?: unknown; required?: unknown }[])
    : [];
  return words
    .map(({ name, required }) => (required === true ? asText(name) : `[${asText(name)}]`))
    .join(' ');
}

/** Puts texts of servers on one line, without control characters. */
function cleaned(rows: readonly (readonly string[])[]): string[][] {
  return rows.map((row) => row.map((cell) => cell.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' ')));
}

export function contentsOf({ contents }: Fields): (string | Buffer)[] {
  if (!Array.isArray(contents)) return [];
  return (contents as readonly Fields[]).flatMap(({ text, blob }): (string | Buffer)[] => {
    if (typeof text === 'string') return [text];
    if (typeof blob !== 'string') return [];
    const bytes = Buffer.from(blob, 'base64');
    return [bytes];
  });
}

export function messageTexts({ messages }: Fields): string[] {
  if (!Array.isArray(messages)) return [];
  return (messages as readonly { role?: unknown; content?: unknown }[]).map(({ role, content }) => {
    const { type, text } = (content ?? {}) as { type?: unknown; text?: unknown };
    const isText = type === 'text' && typeof text === 'string';
    const words = isText ? text : JSON.stringify(content);
    return `${asText(role)}: ${words}`;
  });
}

export function table(head: readonly string[], cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(oneLine));
  const widths = head.map((title, column) =>
    rows.reduce((width, row) => Math.max(width, (row[column] ?? '').length), title.length),
  );
  const padded = (row: readonly string[]): string[] =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
  return [head, ...rows].map((row) => padded(row).join('  ').trimEnd()).join('\n');
}

export function resultTexts({ content, structuredContent }: CallToolResult): string[] {
  const texts = content.map((part) =>
    part.type === 'text' && typeof part.text === 'string' ? part.text : JSON.stringify(part),
  );
  const isTold = structuredContent === undefined || content.some(({ type }) => type === 'text');
  return isTold ? texts : [...texts, JSON.stringify(structuredContent, null, 2)];
}
