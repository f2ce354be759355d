/**
 * Resolves the aliases of a document, and refuses dangerous ones: every alias needs an anchor above it and outside
 * itself, and the expansion stays within bounds ("billion laughs").
 *
 * The walk is iterative, because it bounds the nesting of a file; later readers of the tree may recurse.
 */
import { isAlias, isMap, isPair, isScalar, isSeq, type Alias } from 'yaml';
import type { Span } from './textPositions.js';
import { deepestNesting, spanOf, type YamlError } from './yamlDocument.js';

export interface Aliases {
  readonly targets: ReadonlyMap<Alias, unknown>;
  readonly errors: readonly YamlError[];
}

/** The most characters of source behind all aliases. A long text is compared and hashed each time. */
const mostCharacters = 1_000_000;
/** The most nodes behind all aliases. A reader looks at each. */
const mostNodes = 100_000;
/** The number of reported wrong aliases, because each report lists the anchors. */
const mostWrong = 10;
/** The depth of anchors within one another by aliases. */
const deepestChain = 16;

const nowhere: Span = { start: 0, end: 0 };

interface Anchor {
  readonly node: unknown;
  /** The length of the node and of everything behind its aliases. */
  size: number;
  /** The nodes of both. */
  nodes: number;
  depth: number;
  open: boolean;
}

type Step =
  | { readonly kind: 'enter'; readonly node: unknown; readonly depth: number }
  | { readonly kind: 'leave'; readonly anchor: Anchor };

export function resolveAliases(root: unknown): Aliases {
  const targets = new Map<Alias, unknown>();
  const errors: YamlError[] = [];
  const anchors = new Map<string, Anchor>();
  const open: Anchor[] = [];
  const steps: Step[] = [{ kind: 'enter', node: root, depth: 0 }];
  const expanded = { size: 0, nodes: 0 };

  const report = (error: YamlError): void => {
    if (!errors.some((other) => other.kind === error.kind)) errors.push(error);
  };
  const resolve = (alias: Alias): void => {
    const span = spanOf(alias) ?? nowhere;
    const anchor = anchors.get(alias.source);
    if (!anchor) {
      if (errors.length < mostWrong)
        errors.push({ kind: 'aliasUnknown', name: alias.source, known: [...anchors.keys()], span });
      return;
    }
    if (anchor.open) {
      if (errors.length < mostWrong) errors.push({ kind: 'aliasOfItself', name: alias.source, span });
      return;
    }
    targets.set(alias, anchor.node);
    const within = open.at(-1);
    if (within) {
      within.size += anchor.size;
      within.nodes += anchor.nodes;
      within.depth = Math.max(within.depth, anchor.depth + 1);
      if (within.depth > deepestChain) report({ kind: 'aliasesTooDeep', limit: deepestChain, span });
    }
    expanded.size += anchor.size;
    expanded.nodes += anchor.nodes;
    if (expanded.size > mostCharacters) {
      report({ kind: 'aliasesTooMany', limit: mostCharacters, of: 'characters', span });
    } else if (expanded.nodes > mostNodes) {
      report({ kind: 'aliasesTooMany', limit: mostNodes, of: 'nodes', span });
    }
  };

  for (let step = steps.pop(); step; step = steps.pop()) {
    if (step.kind === 'leave') {
      step.anchor.open = false;
      open.pop();
      const within = open.at(-1);
      if (within) {
        // The outer length contains the inner one.
        const span = spanOf(step.anchor.node) ?? nowhere;
        within.size += step.anchor.size - (span.end - span.start);
        within.nodes += step.anchor.nodes;
        within.depth = Math.max(within.depth, step.anchor.depth);
      }
      continue;
    }
    const { node, depth } = step;
    if (isAlias(node)) {
      resolve(node);
      continue;
    }
    if (isPair(node)) {
      steps.push({ kind: 'enter', node: node.value, depth }, { kind: 'enter', node: node.key, depth });
      continue;
    }
    if (!isMap(node) && !isSeq(node) && !isScalar(node)) continue;
    if (node.anchor === undefined) {
      const within = open.at(-1);
      if (within) within.nodes++;
    } else {
      const span = spanOf(node) ?? nowhere;
      const anchor: Anchor = { node, size: span.end - span.start, nodes: 1, depth: 0, open: true };
      anchors.set(node.anchor, anchor);
      open.push(anchor);
      steps.push({ kind: 'leave', anchor });
    }
    if (isScalar(node)) continue;
    if (depth === deepestNesting) {
      report({ kind: 'nestedTooDeep', limit: deepestNesting, span: spanOf(node) ?? nowhere });
      continue;
    }
    for (let index = node.items.length - 1; index >= 0; index--) {
      steps.push({ kind: 'enter', node: node.items[index], depth: depth + 1 });
    }
  }
  return { targets, errors };
}
