/**
 * Plain nodes with places for YAML and JSON. They are immutable, nested to a bounded depth, and may
 * be shared.
 */
import type { Span } from './textPositions.js';

export interface ScalarNode {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  /** The text as written, without quotes, or an empty text. */
  readonly source: string;
  readonly span: Span;
}

export interface ListNode {
  readonly kind: 'list';
  readonly items: readonly ValueNode[];
  /** From the first item to the last, brackets included. */
  readonly span: Span;
}

export interface MapEntry {
  /** The key as text: `1` and `'1'` are the same key. */
  readonly key: string;
  readonly keyIsText: boolean;
  readonly keySpan: Span;
  readonly value: ValueNode;
}

export interface MapNode {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, MapEntry>;
  /** Keys written twice in one map. `entries` has the first. */
  readonly duplicates: readonly { readonly first: MapEntry; readonly again: MapEntry }[];
  readonly badMerges: readonly ValueNode[];
  readonly span: Span;
}

export type ValueNode = ScalarNode | ListNode | MapNode;

export function emptyNode(at = 0): ScalarNode {
  return {
    kind: 'scalar',
    value: null,
    source: '',
    span: { start: at, end: at },
  };
}

/** True if a node is null, written or not. */
export function isEmpty(node: ValueNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}

/**
 * Returns the text of a scalar. A number or boolean counts as it is written, because people write
 * `PORT: 3000`.
 */
export function textOf(node: ValueNode | undefined): string | undefined {
  if (node?.kind !== 'scalar' || node.value === null) return undefined;
  return typeof node.value === 'string' ? node.value : node.source;
}

export function valueIn(
  node: ValueNode | undefined,
  ...keys: readonly string[]
): ValueNode | undefined {
  return keys.reduce(
    (map, key) => (map?.kind === 'map' ? map.entries.get(key)?.value : undefined),
    node,
  );
}

export function plainValue(node: ValueNode): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(plainValue);
  return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, plainValue(value)]));
}
