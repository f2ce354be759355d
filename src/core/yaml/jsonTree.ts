/**
 * Reads JSON, with comments and trailing commas, into the nodes of YAML. Never throws; the depth is
 * bounded.
 */
import {
  createScanner,
  parseTree,
  printParseErrorCode,
  type Node,
  type ParseError,
} from 'jsonc-parser';
import { english } from '../base/language.js';
import type { Span } from './textPositions.js';
import { deepestNesting } from './yamlDocument.js';
import { emptyNode, type MapEntry, type MapNode, type ValueNode } from './valueNodes.js';

interface JsonReading {
  readonly errors: readonly { readonly what: string; readonly span: Span }[];
  readonly root: ValueNode;
}

/** @param text without a byte order mark */
export function readJson(text: string): JsonReading {
  // The parser recurses, so the depth is checked before it runs.
  const tooDeep = firstTooDeep(text);
  if (tooDeep !== undefined) {
    const what = english`lists and objects are nested deeper than ${deepestNesting}`;
    return { errors: [{ what, span: { start: tooDeep, end: tooDeep + 1 } }], root: emptyNode() };
  }
  const found: ParseError[] = [];
  const root = parseTree(text, found, { allowTrailingComma: true, allowEmptyContent: true });
  // The errors after the first are most often its consequences.
  const errors = found.slice(0, 1).map(({ error, offset, length }) => ({
    what: printParseErrorCode(error)
      .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
      .trim(),
    span: { start: offset, end: offset + length },
  }));
  return {
    errors,
    root: root && errors.length === 0 ? nodeOf(root, text) : emptyNode(),
  };
}

function firstTooDeep(text: string): number | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (scanner.scan(); scanner.getTokenOffset() < text.length; scanner.scan()) {
    const at = scanner.getTokenOffset();
    // The scanner returns no value for a bracket. The text of a string begins with its quote.
    const bracket = text[at];
    if (bracket === '{' || bracket === '[') depth++;
    else if (bracket === '}' || bracket === ']') depth--;
    if (depth > deepestNesting) return at;
  }
  return undefined;
}

function nodeOf(node: Node, text: string): ValueNode {
  const span = spanOf(node);
  if (node.type === 'array') {
    return {
      kind: 'list',
      items: (node.children ?? []).map((item) => nodeOf(item, text)),
      span,
    };
  }
  if (node.type === 'object') return tableOf(node, text);
  const written = text.slice(span.start, span.end);
  const value = node.value as string | number | boolean | null;
  return {
    kind: 'scalar',
    value,
    source: typeof value === 'string' ? value : written,
    span,
  };
}

function tableOf(node: Node, text: string): MapNode {
  const entries = new Map<string, MapEntry>();
  const duplicates: { first: MapEntry; again: MapEntry }[] = [];
  for (const { children } of node.children ?? []) {
    const [key, value] = children ?? [];
    if (!key || !value) continue;
    const name = String(key.value);
    const entry: MapEntry = {
      key: name,
      keyIsText: true,
      keySpan: spanOf(key),
      value: nodeOf(value, text),
    };
    const first = entries.get(name);
    if (first) duplicates.push({ first, again: entry });
    else entries.set(name, entry);
  }
  return {
    kind: 'map',
    entries,
    duplicates,
    badMerges: [],
    span: spanOf(node),
  };
}

function spanOf({ offset, length }: Node): Span {
  return { start: offset, end: offset + length };
}

export function commaBehind(text: string, end: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(end);
  scanner.scan();
  const at = scanner.getTokenOffset();
  return text[at] === ',' ? at : undefined;
}
