/**
 * YAML 1.2 (core schema, merge keys) as a tree of plain nodes with places; readers of the tree need not know the YAML
 * library. Nothing is converted to JavaScript objects: readers walk as deep as they know keys for.
 *
 * Invariants: `readYaml` never throws. The tree has no cycles, and what its aliases expand to is bounded. A node that
 * is reached through an alias or a merge key has the place where it is written.
 */
import { isAlias, isMap, isPair, isScalar, isSeq, type YAMLMap } from 'yaml';
import type { Span } from './textPositions.js';
import { resolveAliases, type Aliases } from './yamlAliases.js';
import { composeYaml, type YamlFault } from './yamlDocument.js';

interface YamlScalar {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
  /** As written, without quotes; '' where nothing is written. */
  readonly source: string;
  readonly span: Span;
}

export interface YamlList {
  readonly kind: 'list';
  readonly items: readonly YamlNode[];
  /** From the first item to the last; brackets included. */
  readonly span: Span;
}

export interface YamlEntry {
  /** The key as text: `1` and `'1'` are the same key. */
  readonly key: string;
  /** False for a key that is itself a list or a map. */
  readonly keyIsText: boolean;
  readonly keySpan: Span;
  readonly value: YamlNode;
}

export interface YamlTable {
  readonly kind: 'map';
  /** In the order written, merge keys applied. */
  readonly entries: ReadonlyMap<string, YamlEntry>;
  /** Keys that are written twice in one map; `entries` has the first. */
  readonly duplicates: readonly { readonly first: YamlEntry; readonly again: YamlEntry }[];
  /** Values of `<<` that are no maps. */
  readonly badMerges: readonly YamlNode[];
  readonly span: Span;
}

export type YamlNode = YamlScalar | YamlList | YamlTable;

interface YamlReading {
  /** Empty: the text is well-formed. */
  readonly faults: readonly YamlFault[];
  readonly warnings: readonly YamlFault[];
  readonly root: YamlNode;
}

/** `text` without a byte order mark. */
export function readYaml(text: string): YamlReading {
  // A lone CR is a line break in YAML 1.2 and none in the library; the replacement keeps every offset.
  const source = text.replace(/\r(?!\n)/g, '\n');
  const nothing: YamlNode = { kind: 'scalar', value: null, source: '', span: { start: 0, end: 0 } };
  const composed = composeYaml(source);
  const { faults, warnings } = composed;
  if (faults.length > 0 || composed.contents === null) return { faults, warnings, root: nothing };
  const aliases = resolveAliases(composed.contents);
  if (aliases.faults.length > 0) return { faults: aliases.faults, warnings, root: nothing };
  return { faults: [], warnings, root: new TreeView(source, aliases).node(composed.contents, 0) };
}

/** Nodes are made when they are asked for, once each. */
class TreeView {
  private readonly made = new WeakMap<object, YamlNode>();

  constructor(
    private readonly source: string,
    private readonly aliases: Aliases,
  ) {}

  /** `at` is where an absent value would stand. */
  node(raw: unknown, at: number): YamlNode {
    const target = isAlias(raw) ? this.aliases.targets.get(raw) : raw;
    if (typeof target !== 'object' || target === null) {
      return { kind: 'scalar', value: null, source: '', span: { start: at, end: at } };
    }
    let node = this.made.get(target);
    if (!node) {
      node = this.make(target, at);
      this.made.set(target, node);
    }
    return node;
  }

  private make(raw: object, at: number): YamlNode {
    const span = this.span(raw, at);
    if (isMap(raw)) return this.table(raw, span);
    if (isSeq(raw)) {
      const items = raw.items.map((item) => this.node(item, span.end));
      return { kind: 'list', items, span };
    }
    if (!isScalar(raw)) return { kind: 'scalar', value: null, source: '', span };
    const value = raw.value;
    const plain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    const source = raw.source ?? '';
    return { kind: 'scalar', value: plain || value === null ? value : source, source, span };
  }

  private table(raw: YAMLMap, span: Span): YamlTable {
    const entries = new Map<string, YamlEntry>();
    const written = new Map<string, YamlEntry>();
    const duplicates: { first: YamlEntry; again: YamlEntry }[] = [];
    const badMerges: YamlNode[] = [];
    for (const pair of raw.items) {
      if (isMergeKey(pair.key)) {
        const keyEnd = this.span(pair.key, span.start).end;
        const merged = this.node(pair.value, keyEnd);
        for (const source of merged.kind === 'list' ? merged.items : [merged]) {
          if (source.kind !== 'map') {
            badMerges.push(source);
            continue;
          }
          duplicates.push(...source.duplicates);
          badMerges.push(...source.badMerges);
          for (const [key, entry] of source.entries) if (!entries.has(key)) entries.set(key, entry);
        }
        continue;
      }
      const entry = this.entry(pair, span);
      const first = written.get(entry.key);
      if (first) {
        duplicates.push({ first, again: entry });
        continue;
      }
      written.set(entry.key, entry);
      entries.set(entry.key, entry);
    }
    return { kind: 'map', entries, duplicates, badMerges, span };
  }

  private entry(pair: { key: unknown; value: unknown }, map: Span): YamlEntry {
    const keySpan = this.span(pair.key, map.start);
    const key = this.node(pair.key, map.start);
    const value = this.node(pair.value, keySpan.end);
    if (key.kind !== 'scalar') {
      return { key: this.source.slice(keySpan.start, keySpan.end), keyIsText: false, keySpan, value };
    }
    return { key: typeof key.value === 'string' ? key.value : key.source, keyIsText: true, keySpan, value };
  }

  private span(raw: unknown, at: number): Span {
    const range = (raw as { range?: readonly [number, number, number] | null } | null)?.range;
    if (!range) return { start: at, end: at };
    return { start: range[0], end: this.trimmed(range[0], endOf(raw, range[1])) };
  }

  private trimmed(start: number, end: number): number {
    while (end > start && /\s/.test(this.source[end - 1] ?? '')) end--;
    return end;
  }
}

/** The library's end of a block collection includes the comments behind it; the end of its last leaf does not. */
function endOf(raw: unknown, end: number): number {
  let last = raw;
  while ((isMap(last) || isSeq(last)) && last.flow !== true) {
    const item: unknown = last.items.at(-1);
    const next: unknown = isPair(item) ? (item.value ?? item.key) : item;
    const range = (next as { range?: readonly [number, number, number] | null } | null | undefined)?.range;
    if (!range) break;
    end = range[1];
    last = next;
  }
  return end;
}

function isMergeKey(key: unknown): boolean {
  return isScalar(key) && typeof key.value === 'symbol';
}
