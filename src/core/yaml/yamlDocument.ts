/**
 * Never throws. Errors are mistakes of syntax, aliases without an anchor above and outside them,
 * and too large an expansion of aliases ("billion laughs"). Nodes are nested to a bounded depth, so
 * later steps may recurse.
 */
import { Composer, Lexer, Parser, isAlias, isMap, isPair, isScalar, isSeq } from 'yaml';
import type { Alias, CST, Pair, YAMLError as LibraryError } from 'yaml';
import { messageOf } from '../base/text.js';
import type { Span } from './textPositions.js';

export type YamlError =
  | { readonly kind: 'syntax'; readonly id: string; readonly message: string; readonly span: Span }
  | { readonly kind: 'severalDocuments'; readonly span: Span }
  | {
      readonly kind: 'aliasUnknown';
      readonly name: string;
      readonly known: readonly string[];
      readonly span: Span;
    }
  | { readonly kind: 'aliasOfItself'; readonly name: string; readonly span: Span }
  | { readonly kind: TooMuch; readonly limit: number; readonly span: Span }
  | {
      readonly kind: 'aliasesTooMany';
      readonly of: 'characters' | 'nodes';
      readonly limit: number;
      readonly span: Span;
    };

type TooMuch = 'aliasesTooDeep' | 'nestedTooDeep' | 'tokensTooMany';

interface YamlDocument {
  readonly errors: readonly YamlError[];
  readonly warnings: readonly YamlError[];
  /** The root node. It is null for an empty text and for one with errors. */
  readonly contents: unknown;
  readonly targets: ReadonlyMap<Alias, unknown>;
}

export const deepestNesting = 64;

/** The highest stack of the parser. It has one entry for each level and a few more. */
const deepestStack = 4 * deepestNesting;

/** Tokens, not characters, show the cost of a text: a mebibyte of brackets would take seconds. */
const mostTokens = 100_000;

const options = {
  version: '1.2',
  schema: 'core',
  merge: true,
  resolveKnownTags: false,
  // Readers get the duplicates and decide about them.
  uniqueKeys: false,
  logLevel: 'error',
} as const;

/** @param text without a byte order mark */
export function readDocument(text: string): YamlDocument {
  // The library makes an `Error` of each mistake, and the stack of it takes most of the time.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    // A lone CR is a line break in YAML 1.2 and none in the library; the replacement keeps every
    // offset.
    const composed = compose(text.replace(/\r(?!\n)/g, '\n'));
    const { targets, errors } = resolveAliases(composed.contents);
    return errors.length > 0 ? { ...composed, errors, contents: null } : { ...composed, targets };
  } catch (error) {
    return failed({ kind: 'syntax', id: 'IMPOSSIBLE', message: messageOf(error), span: nowhere });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

const noTargets: YamlDocument['targets'] = new Map();

/**
 * The lexer bounds the nesting: composing recurses, and a nearly full stack can end the process,
 * past any catch.
 */
function compose(source: string): YamlDocument {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  const tooMuch = (kind: TooMuch, limit: number): YamlDocument =>
    failed({ kind, limit, span: { start: parser.offset, end: parser.offset + 1 } });
  let left = mostTokens;
  for (const lexeme of new Lexer().lex(source)) {
    if (left-- === 0) return tooMuch('tokensTooMany', mostTokens);
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > deepestStack) return tooMuch('nestedTooDeep', deepestNesting);
  }
  for (const token of parser.end()) tokens.push(token);
  const [document, second] = new Composer(options).compose(tokens, true, source.length);
  if (second)
    return failed({
      kind: 'severalDocuments',
      span: { start: second.range[0], end: second.range[1] },
    });
  const [errors, warnings] = [document?.errors ?? [], document?.warnings ?? []].map((found) =>
    found.map(toError),
  );
  const contents = errors?.length === 0 && document ? document.contents : null;
  return { errors: errors ?? [], warnings: warnings ?? [], contents, targets: noTargets };
}

function failed(error: YamlError): YamlDocument {
  return { errors: [error], warnings: [], contents: null, targets: noTargets };
}

function toError(error: LibraryError): YamlError {
  return {
    kind: 'syntax',
    id: error.code,
    message: error.message,
    span: { start: error.pos[0], end: error.pos[1] },
  };
}

/**
 * The most characters of source behind all aliases. A long text is compared and hashed each time.
 */
const mostCharacters = 1_000_000;
/** The most nodes behind all aliases. A reader looks at each. */
const mostNodes = 100_000;
/** The number of reported wrong aliases, because each report lists the anchors. */
const mostWrong = 10;
const deepestChain = 16;

interface Anchor {
  readonly node: unknown;
  /** The length and the nodes of the node and of everything behind its aliases. */
  size: number;
  nodes: number;
  depth: number;
  open: boolean;
}

function resolveAliases(root: unknown): {
  readonly targets: Map<Alias, unknown>;
  readonly errors: YamlError[];
} {
  const targets = new Map<Alias, unknown>();
  const errors: YamlError[] = [];
  const anchors = new Map<string, Anchor>();
  const expanded = { size: 0, nodes: 0 };

  const report = (error: YamlError): void => {
    if (!errors.some((other) => other.kind === error.kind)) errors.push(error);
  };
  const resolve = (alias: Alias, within: Anchor | undefined): void => {
    const anchor = anchors.get(alias.source);
    if (!anchor || anchor.open) {
      if (errors.length >= mostWrong) return;
      const wrong = { name: alias.source, span: writtenSpan(alias) };
      errors.push(
        anchor
          ? { kind: 'aliasOfItself', ...wrong }
          : { kind: 'aliasUnknown', ...wrong, known: [...anchors.keys()] },
      );
      return;
    }
    targets.set(alias, anchor.node);
    const span = writtenSpan(alias);
    if (within) {
      within.size += anchor.size;
      within.nodes += anchor.nodes;
      within.depth = Math.max(within.depth, anchor.depth + 1);
      if (within.depth > deepestChain)
        report({ kind: 'aliasesTooDeep', limit: deepestChain, span });
    }
    expanded.size += anchor.size;
    expanded.nodes += anchor.nodes;
    if (expanded.size > mostCharacters) {
      report({ kind: 'aliasesTooMany', of: 'characters', limit: mostCharacters, span });
    } else if (expanded.nodes > mostNodes)
      report({ kind: 'aliasesTooMany', of: 'nodes', limit: mostNodes, span });
  };
  const visit = (node: unknown, depth: number, within: Anchor | undefined): void => {
    if (isAlias(node)) return resolve(node, within);
    if (isPair(node)) {
      visit(node.key, depth, within);
      return visit(node.value, depth, within);
    }
    if (!isMap(node) && !isSeq(node) && !isScalar(node)) return;
    const { start, end } = writtenSpan(node);
    const anchor =
      node.anchor === undefined
        ? undefined
        : { node, size: end - start, nodes: 1, depth: 0, open: true };
    if (anchor && node.anchor !== undefined) anchors.set(node.anchor, anchor);
    else if (within) within.nodes++;
    if (!isScalar(node)) {
      if (depth === deepestNesting)
        report({ kind: 'nestedTooDeep', limit: deepestNesting, span: writtenSpan(node) });
      else for (const item of node.items) visit(item, depth + 1, anchor ?? within);
    }
    if (!anchor) return;
    anchor.open = false;
    if (!within) return;
    // The outer length contains the inner one.
    within.size += anchor.size - (end - start);
    within.nodes += anchor.nodes;
    within.depth = Math.max(within.depth, anchor.depth);
  };
  visit(root, 0, undefined);
  return { targets, errors };
}

/**
 * Returns the end of a node without the comments behind it. The library counts them to a block
 * collection.
 */
export function contentEnd(text: string, node: unknown): number {
  if (isPair(node))
    return isEmptyValue(node.value) ? afterColon(text, node) : contentEnd(text, node.value);
  if ((isMap(node) || isSeq(node)) && !node.flow && node.items.length > 0)
    return contentEnd(text, node.items.at(-1));
  let end = spanOf(node)?.end ?? 0;
  while (/\s/.test(text[end - 1] ?? '.')) end--;
  return end;
}

export function afterColon(text: string, { key }: Pair): number {
  const end = spanOf(key)?.end ?? 0;
  const [gap, colon] = /^[ \t]*(:?)/.exec(text.slice(end)) ?? [''];
  return colon === ':' ? end + gap.length : end;
}

export function isEmptyValue(value: unknown): boolean {
  return value === null || (isScalar(value) && value.value === null && (value.source ?? '') === '');
}

export function spanOf(node: unknown): Span | undefined {
  const range = (node as { range?: readonly [number, number, number] | null } | null | undefined)
    ?.range;
  return range ? { start: range[0], end: range[1] } : undefined;
}

const nowhere: Span = { start: 0, end: 0 };

function writtenSpan(node: unknown): Span {
  return spanOf(node) ?? nowhere;
}
