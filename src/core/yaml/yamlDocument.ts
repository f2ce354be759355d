/**
 * From text to the YAML library's nodes. One document a file; everything that makes a text unusable is a fault.
 *
 * Invariants: never throws; nodes are nested to a bounded depth, so that what follows may recurse.
 */
import { Composer, Lexer, Parser, type CST, type YAMLError } from 'yaml';
import type { Span } from './textPositions.js';

/** What makes a text no usable YAML. */
export type YamlFault =
  | { readonly kind: 'syntax'; readonly id: string; readonly message: string; readonly span: Span }
  | { readonly kind: 'severalDocuments'; readonly span: Span }
  | { readonly kind: 'aliasUnknown'; readonly name: string; readonly known: readonly string[]; readonly span: Span }
  | { readonly kind: 'aliasOfItself'; readonly name: string; readonly span: Span }
  | { readonly kind: 'aliasesTooMany'; readonly limit: number; readonly span: Span }
  | { readonly kind: 'aliasesTooDeep'; readonly limit: number; readonly span: Span }
  | { readonly kind: 'nestedTooDeep'; readonly limit: number; readonly span: Span };

interface ComposedYaml {
  /** Empty: the text is well-formed, as far as one node after the other can tell. */
  readonly faults: readonly YamlFault[];
  readonly warnings: readonly YamlFault[];
  /** The root node; null where there is none. */
  readonly contents: unknown;
}

/** Lists and maps inside each other. */
export const deepestNesting = 64;

/** Of the parser's own stack, which has one entry a level and a few more. */
const deepestStack = 4 * deepestNesting;

const options = {
  version: '1.2',
  schema: 'core',
  merge: true,
  resolveKnownTags: false,
  // Told apart by the readers, who know what a duplicate costs (C4).
  uniqueKeys: false,
  logLevel: 'error',
} as const;

export function composeYaml(source: string): ComposedYaml {
  try {
    return compose(source);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return failed({ kind: 'syntax', id: 'IMPOSSIBLE', message, span: { start: 0, end: 0 } });
  }
}

/**
 * Composing recurses, and a stack that is nearly used up can end the whole process (V8 gives up inside a regular
 * expression, past any catch). So the nesting is bounded while tokens are made, which does not recurse.
 */
function compose(source: string): ComposedYaml {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(source)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length <= deepestStack) continue;
    const span = { start: parser.offset, end: parser.offset + 1 };
    return failed({ kind: 'nestedTooDeep', limit: deepestNesting, span });
  }
  for (const token of parser.end()) tokens.push(token);
  const [document, second] = new Composer(options).compose(tokens, true, source.length);
  if (second) return failed({ kind: 'severalDocuments', span: { start: second.range[0], end: second.range[1] } });
  if (!document) return { faults: [], warnings: [], contents: null };
  return {
    faults: document.errors.map(toFault),
    warnings: document.warnings.map(toFault),
    contents: document.contents,
  };
}

function failed(fault: YamlFault): ComposedYaml {
  return { faults: [fault], warnings: [], contents: null };
}

function toFault(error: YAMLError): YamlFault {
  return { kind: 'syntax', id: error.code, message: error.message, span: { start: error.pos[0], end: error.pos[1] } };
}
