/**
 * Aliases and merges are followed, so one place may be outside its server's entry, and of several
 * servers.
 */
import { docOf, type KeyDoc, type ValueShape, type KeyLevel } from '../config/keys.js';
import type { Span } from '../yaml/textPositions.js';
import type { MapEntry, ListNode, MapNode, ScalarNode, ValueNode } from '../yaml/valueNodes.js';

type Selection = 'tools' | 'prompts' | 'resources';

/** `server` is undefined for keys of the file itself. */
export type ConfigSymbol = { readonly server: string | undefined; readonly span: Span } & (
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
  | {
      readonly kind: 'transform';
      readonly of: Selection;
      readonly steps: ListNode;
      readonly index: number;
    }
  | {
      readonly kind: 'variable' | 'secret';
      readonly name: string;
      readonly entry: MapEntry;
      readonly hasDefault: boolean;
      /** The offsets of a problem of the reference, as in `FilePlaces`. */
      readonly shownAt: readonly number[];
    }
);

/** Returns the symbols at an offset, the narrowest first. */
export function symbolsAt(symbols: readonly ConfigSymbol[], offset: number): ConfigSymbol[] {
  const wide = ({ span }: ConfigSymbol): number => span.end - span.start;
  return symbols
    .filter(({ span }) => span.start <= offset && offset <= span.end)
    .sort((a, b) => wide(a) - wide(b));
}

interface Around {
  readonly server: string | undefined;
  readonly of: Selection;
  readonly tool?: string;
  readonly reference?: { readonly shownAt: readonly number[]; readonly hasDefault: boolean };
}

export function symbolsOf(root: ValueNode): readonly ConfigSymbol[] {
  const walk = new Walk();
  if (root.kind === 'map') walk.table('root', root, { server: undefined, of: 'tools' });
  return walk.found;
}

class Walk {
  readonly found: ConfigSymbol[] = [];

  table(level: KeyLevel, map: MapNode, around: Around): void {
    const { server } = around;
    for (const entry of [...map.entries.values(), ...map.duplicates.map(({ again }) => again)]) {
      const { key, keySpan: span } = entry;
      const doc = docOf(level, key);
      this.found.push({
        kind: 'key',
        level,
        entry,
        map,
        doc,
        server,
        span,
      });
      const isSelection = level === 'server' && (key === 'prompts' || key === 'resources');
      const of = isSelection ? key : around.of;
      if (doc) this.value(doc.value, entry.value, entry, { ...around, of });
    }
  }

  /** @param at the place for a reference of several lines */
  private value(shape: ValueShape, node: ValueNode, at: MapEntry, around: Around): void {
    switch (node.kind) {
      case 'scalar':
        return this.reference(shape, node, at, around);
      case 'list':
        return this.list(shape, node, at, around);
      case 'map':
        this.levelOf(shape, node, at, around);
        return this.eachOf(shape, node, around);
    }
  }

  private reference(shape: ValueShape, node: ScalarNode, entry: MapEntry, around: Around): void {
    const { server, reference } = around;
    const kind = shape.kind === 'text' ? namedBy[shape.of] : undefined;
    const { value: name, span } = node;
    if (!kind || !reference || typeof name !== 'string') return;
    this.found.push({
      kind,
      name,
      entry,
      server,
      span,
      ...reference,
    });
  }

  private list({ kind, item }: ValueShape, items: ListNode, at: MapEntry, around: Around): void {
    if (!item) return;
    const { server, of } = around;
    const list = at.key === 'blacklist' ? 'blacklist' : 'whitelist';
    const isPattern = item.kind === 'text' && item.of === 'pattern';
    for (const [index, node] of items.items.entries()) {
      const { span } = node;
      if (isPattern && node.kind === 'scalar')
        this.found.push({
          kind: 'pattern',
          of,
          list,
          items,
          node,
          server,
          span,
        });
      if (node.kind !== 'map') continue;
      if (kind === 'transforms')
        this.found.push({
          kind: 'transform',
          of,
          steps: items,
          index,
          server,
          span,
        });
      const [first = at] = node.entries.values();
      this.value(item, node, first, around);
    }
  }

  private levelOf({ level }: ValueShape, map: MapNode, at: MapEntry, around: Around): void {
    if (!level) return;
    const shownAt = [map.span.start, at.keySpan.start];
    const reference = { shownAt, hasDefault: map.entries.has('default') };
    this.table(level, map, level === 'reference' ? { ...around, reference } : around);
  }

  private eachOf({ kind, each }: ValueShape, map: MapNode, around: Around): void {
    for (const entry of each ? map.entries.values() : []) {
      const within = this.named(kind, entry, around);
      if (each) this.value(each, entry.value, entry, within);
    }
  }

  /** Adds the symbol of a free name, and returns the surroundings of its value. */
  private named(kind: ValueShape['kind'], entry: MapEntry, around: Around): Around {
    const { key, keySpan: span } = entry;
    const { server, tool = key } = around;
    if (kind === 'servers') {
      this.found.push({
        kind: 'server',
        entry,
        server: key,
        span,
      });
      return { server: key, of: 'tools' };
    }
    if (kind !== 'tables') return around;
    const argument = around.tool === undefined ? undefined : key;
    this.found.push({
      kind: 'overridden',
      tool,
      argument,
      entry,
      server,
      span,
    });
    return { ...around, tool };
  }
}

const namedBy: Partial<Record<string, 'variable' | 'secret'>> = {
  variable: 'variable',
  secretName: 'secret',
};
