/**
 * YAML 1.2 (core schema, merge keys). Never throws. A node behind an alias or a merge key has its
 * original place.
 */
import { isAlias, isMap, isScalar, isSeq, type Pair } from 'yaml';
import type { Span } from './textPositions.js';
import {
  emptyNode,
  textOf,
  type MapEntry,
  type MapNode,
  type ScalarNode,
  type ValueNode,
} from './valueNodes.js';
import {
  contentEnd,
  readDocument,
  spanOf,
  type YamlDocument,
  type YamlError,
} from './yamlDocument.js';

interface YamlReading {
  readonly errors: readonly YamlError[];
  readonly warnings: readonly YamlError[];
  readonly root: ValueNode;
}

/** @param text without a byte order mark */
export function readYaml(text: string): YamlReading {
  const { errors, warnings, contents, targets } = readDocument(text);
  return {
    errors,
    warnings,
    root: new TreeReader(text, targets).nodeOf(contents, 0),
  };
}

class TreeReader {
  private readonly made = new WeakMap<object, ValueNode>();

  constructor(
    private readonly text: string,
    private readonly targets: YamlDocument['targets'],
  ) {}

  /** @param at the place of a node that is not written */
  nodeOf(raw: unknown, at: number): ValueNode {
    const target = isAlias(raw) ? this.targets.get(raw) : raw;
    if (typeof target !== 'object' || target === null) return emptyNode(at);
    const node = this.made.get(target) ?? this.make(target, at);
    this.made.set(target, node);
    return node;
  }

  private make(raw: object, at: number): ValueNode {
    const span = this.spanOf(raw, at);
    if (isMap(raw)) return this.mapOf(raw.items, span);
    if (isSeq(raw)) {
      const items = raw.items.map((item) => this.nodeOf(item, span.end));
      return {
        kind: 'list',
        items,
        span,
      };
    }
    const { value, source = '' } = isScalar(raw) ? raw : { value: null };
    return {
      kind: 'scalar',
      value: isPlain(value) ? value : source,
      source,
      span,
    };
  }

  private mapOf(pairs: readonly Pair[], span: Span): MapNode {
    const entries = new Map<string, MapEntry>();
    const written = new Map<string, MapEntry>();
    // Several merges may bring the same duplicate.
    const duplicates = new Set<MapNode['duplicates'][number]>();
    const badMerges = new Set<ValueNode>();
    const merge = (source: ValueNode): void => {
      if (source.kind !== 'map') {
        badMerges.add(source);
        return;
      }
      for (const duplicate of source.duplicates) duplicates.add(duplicate);
      for (const bad of source.badMerges) badMerges.add(bad);
      for (const [key, inner] of source.entries) if (!entries.has(key)) entries.set(key, inner);
    };
    for (const pair of pairs) {
      const entry = this.entryOf(pair, span);
      const { key, value } = entry;
      const first = written.get(key);
      if (isScalar(pair.key) && typeof pair.key.value === 'symbol') {
        const sources = value.kind === 'list' ? value.items : [value];
        sources.forEach(merge);
      } else if (first) duplicates.add({ first, again: entry });
      else {
        written.set(key, entry);
        entries.set(key, entry);
      }
    }
    return {
      kind: 'map',
      entries,
      duplicates: [...duplicates],
      badMerges: [...badMerges],
      span,
    };
  }

  private entryOf(pair: Pair, { start }: Span): MapEntry {
    const keySpan = this.spanOf(pair.key, start);
    const key = this.nodeOf(pair.key, start);
    const value = this.nodeOf(pair.value, keySpan.end);
    const keyIsText = key.kind === 'scalar';
    const written = this.text.slice(keySpan.start, keySpan.end);
    return {
      key: keyIsText ? (textOf(key) ?? key.source) : written,
      keyIsText,
      keySpan,
      value,
    };
  }

  private spanOf(raw: unknown, at: number): Span {
    const start = spanOf(raw)?.start ?? at;
    return {
      start,
      end: Math.max(start, contentEnd(this.text, raw)),
    };
  }
}

function isPlain(value: unknown): value is ScalarNode['value'] {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}
