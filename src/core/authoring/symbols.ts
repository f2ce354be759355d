/**
 * Aliases and merges are followed, so one place may be outside its server's entry, and of several
 * servers.
 */
import { docOf, type KeyDoc, type ValueShape, type KeyLevel } from '../config/keys.js';
import type { Span } from '../yaml/textPositions.js';
import type { MapEntry, ListNode, ValueNode, MapNode } from '../yaml/valueNodes.js';

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
  const found: ConfigSymbol[] = [];

  const table = (level: KeyLevel, map: MapNode, around: Around): void => {
    for (const entry of [...map.entries.values(), ...map.duplicates.map(({ again }) => again)]) {
      const { key, keySpan } = entry;
      const doc = docOf(level, key);
      found.push({ kind: 'key', level, entry, map, doc, server: around.server, span: keySpan });
      const of = level === 'server' && (key === 'prompts' || key === 'resources') ? key : around.of;
      if (doc) visit(doc.value, entry.value, entry, { ...around, of });
    }
  };

  /** @param at the place for a reference of several lines */
  const visit = (shape: ValueShape, node: ValueNode, at: MapEntry, around: Around): void => {
    const { server, of, tool, reference } = around;
    const { kind, level } = shape;
    if (node.kind === 'scalar') {
      const named = kind !== 'text' ? undefined : shape.of === 'secretName' ? 'secret' : shape.of;
      if (
        typeof node.value !== 'string' ||
        !reference ||
        (named !== 'variable' && named !== 'secret')
      )
        return;
      found.push({
        kind: named,
        name: node.value,
        entry: at,
        server,
        span: node.span,
        ...reference,
      });
      return;
    }
    if (node.kind === 'list') {
      const list = at.key === 'blacklist' ? 'blacklist' : 'whitelist';
      for (const [index, item] of shape.item ? node.items.entries() : []) {
        if (item.kind === 'scalar' && shape.item?.kind === 'text' && shape.item.of === 'pattern') {
          found.push({
            kind: 'pattern',
            of,
            list,
            items: node,
            node: item,
            server,
            span: item.span,
          });
        }
        if (item.kind !== 'map') continue;
        if (kind === 'transforms')
          found.push({ kind: 'transform', of, steps: node, index, server, span: item.span });
        if (shape.item) visit(shape.item, item, [...item.entries.values()][0] ?? at, around);
      }
      return;
    }
    if (level === 'reference') {
      const shownAt = [node.span.start, at.keySpan.start];
      table(level, node, {
        ...around,
        reference: { shownAt, hasDefault: node.entries.has('default') },
      });
    } else if (level) table(level, node, around);
    for (const entry of shape.each ? node.entries.values() : []) {
      const { key, value, keySpan: span } = entry;
      let within = around;
      if (kind === 'servers') {
        found.push({ kind: 'server', entry, server: key, span });
        within = { server: key, of: 'tools' };
      } else if (kind === 'tables') {
        const [ofTool, argument] = tool === undefined ? [key] : [tool, key];
        found.push({ kind: 'overridden', tool: ofTool, argument, entry, server, span });
        within = { ...around, tool: ofTool };
      }
      if (shape.each) visit(shape.each, value, entry, within);
    }
  };

  if (root.kind === 'map') table('root', root, { server: undefined, of: 'tools' });
  return found;
}
