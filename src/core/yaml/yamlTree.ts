/**
 * YAML 1.2 (core schema, merge keys). Never throws. A node behind an alias or a merge key has its
 * original place.
 */
import { isAlias, isMap, isScalar, isSeq, type Pair } from 'yaml';
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
  const made = new WeakMap<object, ValueNode>();

  const nodeOf = (raw: unknown, at: number): ValueNode => {
    const target = isAlias(raw) ? targets.get(raw) : raw;
    if (typeof target !== 'object' || target === null) return emptyNode(at);
    const node = made.get(target) ?? make(target, at);
    made.set(target, node);
    return node;
  };
  const make = (raw: object, at: number): ValueNode => {
    const span = writtenSpan(raw, at);
    if (isMap(raw)) return mapOf(raw.items, span);
    if (isSeq(raw))
      return { kind: 'list', items: raw.items.map((item) => nodeOf(item, span.end)), span };
    const { value, source = '' } = isScalar(raw) ? raw : { value: null };
    const plain =
      value === null ||
      typeof value === 'string' ||
      typeof value === 'number' ||
      typeof value === 'boolean';
    return { kind: 'scalar', value: plain ? value : source, source, span };
  };
  const mapOf = (pairs: readonly Pair[], span: Span): MapNode => {
    const entries = new Map<string, MapEntry>();
    const written = new Map<string, MapEntry>();
    // Several merges may bring the same duplicate.
    const duplicates = new Set<MapNode['duplicates'][number]>();
    const badMerges = new Set<ValueNode>();
    for (const pair of pairs) {
      const entry = entryOf(pair, span);
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
  };
  const entryOf = (pair: Pair, map: Span): MapEntry => {
    const keySpan = writtenSpan(pair.key, map.start);
    const key = nodeOf(pair.key, map.start);
    const value = nodeOf(pair.value, keySpan.end);
    const keyIsText = key.kind === 'scalar';
    return {
      key: keyIsText ? (textOf(key) ?? key.source) : text.slice(keySpan.start, keySpan.end),
      keyIsText,
      keySpan,
      value,
    };
  };
  const writtenSpan = (raw: unknown, at: number): Span => {
    const start = spanOf(raw)?.start ?? at;
    return { start, end: Math.max(start, contentEnd(text, raw)) };
  };

  return { errors, warnings, root: nodeOf(contents, 0) };
}
