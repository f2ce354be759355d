/**
 * The labels under which an `mcp.json` of the editor configures servers, and where they stand. Reads JSON with comments
 * and trailing commas, also while it is being written; says nothing about what is wrong in it. Pure.
 */
import type { Position, Range } from '../../core/base/problem.js';

interface ConfiguredLabel {
  readonly label: string;
  readonly range: Range;
}

/** `servers` in `mcp.json`, `mcpServers` in the form that other programs share. */
const containers = new Set(['servers', 'mcpServers']);

interface Token {
  readonly kind: 'string' | 'punctuation' | 'word';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const tokenPattern = /"((?:[^"\\\n]|\\.)*)"|([{}[\]:,])|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|[^\s"{}[\]:,/]+|[/"]/g;

export function configuredLabels(text: string): ConfiguredLabel[] {
  const labels: ConfiguredLabel[] = [];
  /** The key of each object or array that is open, outermost first. */
  const open: (string | undefined)[] = [];
  let key: Token | undefined;
  const tokens = tokensOf(text);
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'string' && tokens[index + 1]?.text === ':') {
      key = token;
      if (open.length === 2 && containers.has(open[1] ?? '')) labels.push(labelAt(text, token));
    } else if (token.text === '{' || token.text === '[') {
      open.push(token.text === '{' ? key?.text : undefined);
      key = undefined;
    } else if (token.text === '}' || token.text === ']') {
      open.pop();
      key = undefined;
    }
  }
  return labels;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  for (const match of text.matchAll(tokenPattern)) {
    const [whole, quoted, punctuation] = match;
    if (whole.startsWith('//') || whole.startsWith('/*')) continue;
    const kind = quoted !== undefined ? 'string' : punctuation !== undefined ? 'punctuation' : 'word';
    tokens.push({ kind, text: quoted ?? whole, start: match.index, end: match.index + whole.length });
  }
  return tokens;
}

function labelAt(text: string, token: Token): ConfiguredLabel {
  const range = { start: positionAt(text, token.start), end: positionAt(text, token.end) };
  try {
    return { label: JSON.parse(`"${token.text}"`) as string, range };
  } catch {
    return { label: token.text, range };
  }
}

function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
}
