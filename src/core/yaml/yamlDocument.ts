/**
 * Reads a text into the YAML library's nodes. A file is one document. Anything unusable in the text is an error.
 *
 * Invariants: never throws. Nodes are nested to a bounded depth, so later steps may recurse.
 */
import { Composer, Lexer, Parser, type CST, type YAMLError as LibraryError } from 'yaml';
import { messageOf } from '../base/text.js';
import type { Span } from './textPositions.js';

/** The reasons why a text cannot be used as YAML. */
export type YamlError =
  | { readonly kind: 'syntax'; readonly id: string; readonly message: string; readonly span: Span }
  | { readonly kind: 'severalDocuments'; readonly span: Span }
  | { readonly kind: 'aliasUnknown'; readonly name: string; readonly known: readonly string[]; readonly span: Span }
  | { readonly kind: 'aliasOfItself'; readonly name: string; readonly span: Span }
  | {
      readonly kind: 'aliasesTooMany';
      readonly limit: number;
      readonly of: 'characters' | 'nodes';
      readonly span: Span;
    }
  | { readonly kind: 'aliasesTooDeep'; readonly limit: number; readonly span: Span }
  | { readonly kind: 'nestedTooDeep'; readonly limit: number; readonly span: Span }
  | { readonly kind: 'tokensTooMany'; readonly limit: number; readonly span: Span };

interface ComposedYaml {
  /** Empty if each node is well-formed. Aliases are not checked. */
  readonly errors: readonly YamlError[];
  readonly warnings: readonly YamlError[];
  /** The root node, or null. */
  readonly contents: unknown;
}

/** The deepest nesting of lists and maps. */
export const deepestNesting = 64;

/** The highest stack of the parser. It has one entry for each level and a few more. */
const deepestStack = 4 * deepestNesting;

/**
 * Tokens, not characters, show the cost of a text: a mebibyte of brackets would take seconds. A line `- name` has five,
 * with the line break.
 */
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

export function composeYaml(source: string): ComposedYaml {
  // The library makes an `Error` of each mistake, and the stack of it takes most of the time.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return compose(source);
  } catch (error) {
    const message = messageOf(error);
    return failed({ kind: 'syntax', id: 'IMPOSSIBLE', message, span: { start: 0, end: 0 } });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/**
 * Composing recurses, and a nearly full stack can end the whole process (V8 gives up inside a regular expression, past
 * any catch). So the nesting is bounded while the lexer makes tokens, because it does not recurse.
 */
function compose(source: string): ComposedYaml {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  let left = mostTokens;
  for (const lexeme of new Lexer().lex(source)) {
    if (left-- === 0) {
      const span = { start: parser.offset, end: parser.offset + 1 };
      return failed({ kind: 'tokensTooMany', limit: mostTokens, span });
    }
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length <= deepestStack) continue;
    const span = { start: parser.offset, end: parser.offset + 1 };
    return failed({ kind: 'nestedTooDeep', limit: deepestNesting, span });
  }
  for (const token of parser.end()) tokens.push(token);
  const [document, second] = new Composer(options).compose(tokens, true, source.length);
  if (second) return failed({ kind: 'severalDocuments', span: { start: second.range[0], end: second.range[1] } });
  if (!document) return { errors: [], warnings: [], contents: null };
  return {
    errors: document.errors.map(toError),
    warnings: document.warnings.map(toError),
    contents: document.contents,
  };
}

function failed(error: YamlError): ComposedYaml {
  return { errors: [error], warnings: [], contents: null };
}

function toError(error: LibraryError): YamlError {
  return { kind: 'syntax', id: error.code, message: error.message, span: { start: error.pos[0], end: error.pos[1] } };
}

/** Returns the span of a node of the library, or undefined if it is not written. */
export function spanOf(node: unknown): Span | undefined {
  const range = (node as { range?: readonly [number, number, number] | null } | null | undefined)?.range;
  return range ? { start: range[0], end: range[1] } : undefined;
}
