/**
 * The symbols of a valid config file, each with its server: keys, patterns, transforms and references.
 *
 * Invariants: aliases and merges are followed, so a symbol may be outside the entry of its server, and one place may be
 * a symbol of several servers. Neither invalid parts nor anything below them has symbols.
 */
import { docOf, type KeyDoc, type ValueShape, type KeyLevel } from '../config/keys.js';
import type { Span } from '../yaml/textPositions.js';
import type { MapEntry, ListNode, ValueNode, MapNode } from '../yaml/valueNodes.js';

type Selection = 'tools' | 'prompts' | 'resources';

interface OfServer {
  /** Its server, or undefined for keys of the file itself. */
  readonly server: string | undefined;
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
        readonly hasDefault: boolean;
        /** The offsets of a problem of the reference, as in `FilePlaces`. */
        readonly shownAt: readonly number[];
      }
  );

export function symbolsOf(root: ValueNode): readonly ConfigSymbol[] {
  const walk = new Walk();
  if (root.kind === 'map') walk.table('root', root, { server: undefined, of: 'tools' });
  return walk.found;
}

/** Returns the symbols at an offset, the narrowest first. */
export function symbolsAt(symbols: readonly ConfigSymbol[], offset: number): ConfigSymbol[] {
  const wide = ({ span }: ConfigSymbol): number => span.end - span.start;
  return symbols.filter(({ span }) => span.start <= offset && offset <= span.end).sort((a, b) => wide(a) - wide(b));
}

interface Around {
  readonly server: string | undefined;
  readonly of: Selection;
  readonly tool?: string;
  readonly reference?: { readonly shownAt: readonly number[]; readonly hasDefault: boolean };
}

class Walk {
  readonly found: ConfigSymbol[] = [];

  table(level: KeyLevel, map: MapNode, around: Around): void {
    for (const entry of [...map.entries.values(), ...map.duplicates.map(({ again }) => again)]) {
      const { key, value, keySpan } = entry;
      const doc = docOf(level, key);
      this.found.push({ kind: 'key', level, entry, map, doc, server: around.server, span: keySpan });
      if (!doc) continue;
      const selects = level === 'server' && (key === 'prompts' || key === 'resources') ? key : around.of;
      const within: Around = { ...around, of: selects };
      if (value.kind === 'map') this.map(doc.value, value, entry, within);
      else if (value.kind === 'list') this.list(doc.value, value, key, within);
      else this.scalar(doc.value, entry, within);
    }
  }

  private map(shape: ValueShape, map: MapNode, entry: MapEntry, around: Around): void {
    const { server } = around;
    if (shape.kind === 'table') this.table(shape.level, map, around);
    else if (shape.kind === 'prefix') this.table('replacePrefix', map, around);
    else if (shape.kind === 'value') this.reference(map, entry, around);
    for (const one of map.entries.values()) {
      const { key, value, keySpan: span } = one;
      const inside = value.kind === 'map' ? value : undefined;
      if (shape.kind === 'values') {
        if (inside) this.reference(inside, one, around);
      } else if (shape.kind === 'servers') {
        this.found.push({ kind: 'server', entry: one, server: key, span });
        if (inside) this.table('server', inside, { server: key, of: 'tools' });
      } else if (shape.kind === 'tables') {
        const [tool, argument] = around.tool === undefined ? [key] : [around.tool, key];
        this.found.push({ kind: 'overridden', tool, argument, entry: one, server, span });
        if (inside) this.table(shape.level, inside, { ...around, tool });
      }
    }
  }

  private list(shape: ValueShape, items: ListNode, key: string, around: Around): void {
    const { server, of } = around;
    const list = key === 'blacklist' ? 'blacklist' : 'whitelist';
    for (const [index, node] of items.items.entries()) {
      const { span } = node;
      if (shape.kind === 'texts' && shape.of === 'pattern' && node.kind === 'scalar') {
        this.found.push({ kind: 'pattern', of, list, items, node, server, span });
      } else if (shape.kind === 'arguments' && node.kind === 'map') {
        this.reference(node, [...node.entries.values()][0], around);
      } else if (shape.kind === 'transforms' && node.kind === 'map') {
        this.found.push({ kind: 'transform', of, steps: items, index, server, span });
        this.table('transformItem', node, around);
      }
    }
  }

  private scalar(shape: ValueShape, entry: MapEntry, { server, reference }: Around): void {
    const { value } = entry;
    if (shape.kind !== 'text' || value.kind !== 'scalar' || typeof value.value !== 'string' || !reference) return;
    const kind = shape.of === 'variable' ? 'variable' : shape.of === 'secretName' ? 'secret' : undefined;
    if (kind) this.found.push({ kind, name: value.value, entry, server, span: value.span, ...reference });
  }

  /** @param key the place for a reference of several lines */
  private reference(map: MapNode, key: MapEntry | undefined, around: Around): void {
    const shownAt = [map.span.start, ...(key ? [key.keySpan.start] : [])];
    this.table('reference', map, { ...around, reference: { shownAt, hasDefault: map.entries.has('default') } });
  }
}
