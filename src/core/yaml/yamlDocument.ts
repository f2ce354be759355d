/**
 * Never throws. Errors are mistakes of syntax, aliases without an anchor above and outside them,
 * and too large an expansion of aliases ("billion laughs"). Nodes are nested to a bounded depth, so
 * later steps may recurse.
 */
import {
  Composer,
  Lexer,
  Parser,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Alias,
  type CST,
  type Pair,
  type YAMLError as LibraryError,
} from 'yaml';
import { messageOf } from '../base/text.js';
import type { Span } from './textPositions.js';

export type YamlError =
  | {
      readonly kind: 'syntax';
      readonly id: string;
      readonly message: string;
      readonly span: Span;
    }
  | { readonly kind: 'severalDocuments'; readonly span: Span }
  | {
      readonly kind: 'aliasUnknown';
      readonly name: string;
      readonly known: readonly string[];
      readonly span: Span;
    }
  | {
      readonly kind: 'aliasOfItself';
      readonly name: string;
      readonly span: Span;
    }
  | {
      readonly kind: TooMuch;
      readonly limit: number;
      readonly span: Span;
    }
  | {
      readonly kind: 'aliasesTooMany';
      readonly of: 'characters' | 'nodes';
      readonly limit: number;
      readonly span: Span;
    };

type TooMuch = 'aliasesTooDeep' | 'nestedTooDeep' | 'tokensTooMany';

export interface YamlDocument {
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
    const { targets, errors } = new AliasCheck(composed.contents);
    return errors.length > 0
      ? {
          ...composed,
          errors,
          contents: null,
        }
      : { ...composed, targets };
  } catch (error) {
    return failed({
      kind: 'syntax',
      id: 'IMPOSSIBLE',
      message: messageOf(error),
      span: nowhere,
    });
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
    failed({
      kind,
      limit,
      span: { start: parser.offset, end: parser.offset + 1 },
    });
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
  const errors = (document?.errors ?? []).map(toError);
  const warnings = (document?.warnings ?? []).map(toError);
  const contents = errors.length === 0 && document ? document.contents : null;
  return {
    errors,
    warnings,
    contents,
    targets: noTargets,
  };
}

function failed(error: YamlError): YamlDocument {
  return {
    errors: [error],
    warnings: [],
    contents: null,
    targets: noTargets,
  };
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

/** Finds the targets of aliases, and checks what the aliases expand to. */
class AliasCheck {
  readonly targets = new Map<Alias, unknown>();
  readonly errors: YamlError[] = [];
  private readonly anchors = new Map<string, Anchor>();
  /** Everything behind all aliases. */
  private size = 0;
  private nodes = 0;

  constructor(root: unknown) {
    this.visit(root, 0, undefined);
  }

  /** @param within the innermost anchor around the node */
  private visit(node: unknown, depth: number, within: Anchor | undefined): void {
    if (isAlias(node)) return this.resolve(node, within);
    if (isPair(node)) {
      this.visit(node.key, depth, within);
      return this.visit(node.value, depth, within);
    }
    if (!isMap(node) && !isSeq(node) && !isScalar(node)) return;
    if (node.anchor === undefined) {
      if (within) within.nodes++;
      return this.visitItems(node, depth, within);
    }
    const { start, end } = writtenSpan(node);
    const anchor = {
      node,
      size: end - start,
      nodes: 1,
      depth: 0,
      open: true,
    };
    this.anchors.set(node.anchor, anchor);
    this.visitItems(node, depth, anchor);
    anchor.open = false;
    if (!within) return;
    // The outer length contains the inner one.
    within.size += anchor.size - (end - start);
    within.nodes += anchor.nodes;
    within.depth = Math.max(within.depth, anchor.depth);
  }

  private visitItems(node: unknown, depth: number, within: Anchor | undefined): void {
    if (!isMap(node) && !isSeq(node)) return;
    if (depth === deepestNesting)
      return this.report({
        kind: 'nestedTooDeep',
        limit: depth,
        span: writtenSpan(node),
      });
    for (const item of node.items) this.visit(item, depth + 1, within);
  }

  private resolve(alias: Alias, within: Anchor | undefined): void {
    const anchor = this.anchors.get(alias.source);
    if (!anchor || anchor.open) return this.reportWrong(alias, anchor);
    this.targets.set(alias, anchor.node);
    const span = writtenSpan(alias);
    if (within) {
      within.size += anchor.size;
      within.nodes += anchor.nodes;
      within.depth = Math.max(within.depth, anchor.depth + 1);
      if (within.depth > deepestChain)
        this.report({
          kind: 'aliasesTooDeep',
          limit: deepestChain,
          span,
        });
    }
    this.size += anchor.size;
    this.nodes += anchor.nodes;
    const kind = 'aliasesTooMany';
    if (this.size > mostCharacters)
      this.report({
        kind,
        of: 'characters',
        limit: mostCharacters,
        span,
      });
    else if (this.nodes > mostNodes)
      this.report({
        kind,
        of: 'nodes',
        limit: mostNodes,
        span,
      });
  }

  private reportWrong(alias: Alias, anchor: Anchor | undefined): void {
    if (this.errors.length >= mostWrong) return;
    const wrong = { name: alias.source, span: writtenSpan(alias) };
    if (anchor) this.errors.push({ kind: 'aliasOfItself', ...wrong });
    else
      this.errors.push({
        kind: 'aliasUnknown',
        ...wrong,
        known: [...this.anchors.keys()],
      });
  }

  private report(error: YamlError): void {
    if (!this.errors.some((other) => other.kind === error.kind)) this.errors.push(error);
  }
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
