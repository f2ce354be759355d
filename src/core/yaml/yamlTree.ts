/**
 * Reads YAML 1.2 (core schema, merge keys) into plain nodes, and never throws. The expansion of aliases is bounded. A node
 * behind an alias or a merge key has its original place.
 */
import { isAlias, isMap, isScalar, isSeq, type Alias, type YAMLMap } from 'yaml';
import type { Span } from './textPositions.js';
import { emptyNode, textOf, type MapEntry, type MapNode, type ValueNode } from './valueNodes.js';
import { contentEnd, readDocument, spanOf, type YamlError } from './yamlDocument.js';

interface YamlReading {
  readonly errors: readonly YamlError[];
  readonly warnings: readonly YamlError[];
  readonly root: ValueNode;
}

/** @param text without a byte order mark */
export function readYaml(text: string): YamlReading {
  const { errors, warnings, contents, targets } = readDocument(text);
  return { errors, warnings, root: new TreeView(text, targets).node(contents, 0) };
}

/** Makes nodes when they are asked for, once each. */
class TreeView {
  private readonly made = new WeakMap<object, ValueNode>();

  constructor(
    private readonly source: string,
    private readonly targets: ReadonlyMap<Alias, unknown>,
  ) {}

  node(raw: unknown, at: number): ValueNode {
    const target = isAlias(raw) ? this.targets.get(raw) : raw;
    if (typeof target !== 'object' || target === null) return emptyNode(at);
    const node = this.made.get(target) ?? this.make(target, at);
    this.made.set(target, node);
    return node;
  }

  private make(raw: object, at: number): ValueNode {
    const span = this.span(raw, at);
    if (isMap(raw)) return this.table(raw, span);
    if (isSeq(raw)) return { kind: 'list', items: raw.items.map((item) => this.node(item, span.end)), span };
    const { value, source = '' } = isScalar(raw) ? raw : { value: null };
    const plain =
      value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    return { kind: 'scalar', value: plain ? value : source, source, span };
  }

  private table(raw: YAMLMap, span: Span): MapNode {
    const entries = new Map<string, MapEntry>();
    const written = new Map<string, MapEntry>();
    // Several merges may bring the same duplicate.
    const duplicates = new Set<MapNode['duplicates'][number]>();
    const badMerges = new Set<ValueNode>();
    for (const pair of raw.items) {
      const entry = this.entry(pair, span);
      const first = written.get(entry.key);
      if (isScalar(pair.key) && typeof pair.key.value === 'symbol') {
        const { value: merged } = entry;
        for (const source of merged.kind === 'list' ? merged.items : [merged]) {
          if (source.kind !== 'map') {
            badMerges.add(source);
            continue;
          }
          for (const duplicate of source.duplicates) duplicates.add(duplicate);
          for (const bad of source.badMerges) badMerges.add(bad);
          for (const [key, inner] of source.entries) if (!entries.has(key)) entries.set(key, inner);
        }
      } else if (first) duplicates.add({ first, again: entry });
      else {
        written.set(entry.key, entry);
        entries.set(entry.key, entry);
      }
    }
    return { kind: 'map', entries, duplicates: [...duplicates], badMerges: [...badMerges], span };
  }

  private entry(pair: { key: unknown; value: unknown }, map: Span): MapEntry {
    const keySpan = this.span(pair.key, map.start);
    const key = this.node(pair.key, map.start);
    const value = this.node(pair.value, keySpan.end);
    const keyIsText = key.kind === 'scalar';
    const text = keyIsText ? (textOf(key) ?? key.source) : this.source.slice(keySpan.start, keySpan.end);
    return { key: text, keyIsText, keySpan, value };
  }

  private span(raw: unknown, at: number): Span {
    const span = spanOf(raw);
    return span
      ? { start: span.start, end: Math.max(span.start, contentEnd(this.source, raw)) }
      : { start: at, end: at };
  }
}
