/**
 * The symbols of a valid config file: every key with its level, and every pattern, transform and reference to a host
 * variable, each with its server. Hover and quick fixes find them by place.
 *
 * Invariants: aliases and merges are followed, so a symbol may be outside the entry of its server, and one place may be
 * a symbol of several servers. Invalid parts have no symbols, and neither has anything below them.
 */
import { docOf, type KeyDoc, type ValueShape, type KeyLevel } from '../config/keys.js';
import type { Span } from '../yaml/textPositions.js';
import type { MapEntry, ListNode, ValueNode, MapNode } from '../yaml/valueNodes.js';

type Selection = 'tools' | 'prompts' | 'resources';

interface OfServer {
  /** Its server, or undefined for keys of the file itself. */
  readonly server: string | undefined;
  /** The span for the pointer. */
  readonly span: Span;
}

export type ConfigSymbol = OfServer &
  (
    | {
        readonly kind: 'key';
        readonly level: KeyLevel;
        readonly entry: MapEntry;
        /** The map around it, with merges applied. */
        readonly map: MapNode;
        /** Undefined for an unknown key. */
        readonly doc: KeyDoc | undefined;
      }
    | { readonly kind: 'server'; readonly entry: MapEntry }
    /** A tool under `override`, or one of its arguments. */
    | {
        readonly kind: 'overridden';
        readonly tool: string;
        readonly argument: string | undefined;
        readonly entry: MapEntry;
      }
    | {
        readonly kind: 'pattern';
        readonly of: Selection;
        readonly list: 'whitelist' | 'blacklist';
        readonly items: ListNode;
        readonly node: ValueNode;
      }
    | { readonly kind: 'transform'; readonly of: Selection; readonly steps: ListNode; readonly index: number }
    | {
        readonly kind: 'variable' | 'secret';
        readonly name: string;
        readonly entry: MapEntry;
        /** True if the reference has a default. */
        readonly hasDefault: boolean;
        /** The offsets of a problem of the reference, as in `FilePlaces`. */
        readonly shownAt: readonly number[];
      }
  );

export function symbolsOf(root: ValueNode): readonly ConfigSymbol[] {
  const found: ConfigSymbol[] = [];
  if (root.kind === 'map') new Walk(found).table('root', root, undefined, 'tools');
  return found;
}

/** Returns the symbols at an offset, the narrowest first. */
export function symbolsAt(symbols: readonly ConfigSymbol[], offset: number): ConfigSymbol[] {
  const wide = ({ span }: ConfigSymbol): number => span.end - span.start;
  return symbols.filter(({ span }) => span.start <= offset && offset <= span.end).sort((a, b) => wide(a) - wide(b));
}

class Walk {
  private shownAt: readonly number[] = [];
  private hasDefault = false;
  /** The tool of the present arguments. */
  private tool = '';

  constructor(private readonly found: ConfigSymbol[]) {}

  table(level: KeyLevel, map: MapNode, server: string | undefined, of: Selection): void {
    for (const entry of [...map.entries.values(), ...map.duplicates.map(({ again }) => again)]) {
      const doc = docOf(level, entry.key);
      this.found.push({ kind: 'key', level, entry, map, doc, server, span: entry.keySpan });
      const within = level === 'server' && (entry.key === 'prompts' || entry.key === 'resources') ? entry.key : of;
      if (doc) this.value(doc.value, entry, server, within);
    }
  }

  private value(shape: ValueShape, entry: MapEntry, server: string | undefined, of: Selection): void {
    const { value } = entry;
    switch (shape.kind) {
      case 'table':
        if (value.kind === 'map') this.table(shape.level, value, server, of);
        return;
      case 'tables':
        if (value.kind !== 'map') return;
        for (const one of value.entries.values()) {
          const [tool, argument] = shape.level === 'toolOverride' ? [one.key] : [this.tool, one.key];
          this.found.push({ kind: 'overridden', tool, argument, entry: one, server, span: one.keySpan });
          this.tool = tool;
          if (one.value.kind === 'map') this.table(shape.level, one.value, server, of);
        }
        return;
      case 'servers':
        if (value.kind === 'map') for (const one of value.entries.values()) this.server(one);
        return;
      case 'values':
        if (value.kind !== 'map') return;
        for (const one of value.entries.values()) {
          if (one.value.kind === 'map') this.reference(one.value, one, server, of);
        }
        return;
      case 'value':
        if (value.kind === 'map') this.reference(value, entry, server, of);
        return;
      case 'arguments':
        for (const item of value.kind === 'list' ? value.items : []) {
          if (item.kind === 'map') this.reference(item, [...item.entries.values()][0], server, of);
        }
        return;
      case 'texts':
        if (shape.of === 'pattern' && value.kind === 'list') this.patterns(entry.key, value, server, of);
        return;
      case 'transforms':
        if (value.kind === 'list') this.transforms(value, server, of);
        return;
      case 'prefix':
        if (value.kind === 'map') this.table('replacePrefix', value, server, of);
        return;
      case 'text':
        if (
          (shape.of === 'variable' || shape.of === 'secretName') &&
          value.kind === 'scalar' &&
          typeof value.value === 'string'
        ) {
          const kind = shape.of === 'variable' ? 'variable' : 'secret';
          const { shownAt, hasDefault } = this;
          this.found.push({ kind, name: value.value, entry, server, span: value.span, shownAt, hasDefault });
        }
        return;
      default:
        return;
    }
  }

  /** @param key the place for a reference of several lines */
  private reference(map: MapNode, key: MapEntry | undefined, server: string | undefined, of: Selection): void {
    this.shownAt = [map.span.start, ...(key ? [key.keySpan.start] : [])];
    this.hasDefault = map.entries.has('default');
    this.table('reference', map, server, of);
  }

  private server(entry: MapEntry): void {
    this.found.push({ kind: 'server', entry, server: entry.key, span: entry.keySpan });
    if (entry.value.kind === 'map') this.table('server', entry.value, entry.key, 'tools');
  }

  private patterns(key: string, items: ListNode, server: string | undefined, of: Selection): void {
    const list = key === 'blacklist' ? 'blacklist' : 'whitelist';
    for (const node of items.items) {
      if (node.kind === 'scalar') this.found.push({ kind: 'pattern', of, list, items, node, server, span: node.span });
    }
  }

  private transforms(steps: ListNode, server: string | undefined, of: Selection): void {
    for (const [index, step] of steps.items.entries()) {
      if (step.kind !== 'map') continue;
      this.found.push({ kind: 'transform', of, steps, index, server, span: step.span });
      this.table('transformItem', step, server, of);
    }
  }
}
