/**
 * Places of nodes, for problems. A block value of several lines and an empty value are shown at
 * their key.
 */
import type { Place } from '../../base/problem.js';
import type { ServerPlaces } from '../model.js';
import { TextPositions, type Span } from '../../yaml/textPositions.js';
import type { MapEntry, ValueNode } from '../../yaml/valueNodes.js';

/** The file of each span of a layer (C7), because a joined entry has spans of two files. */
const owners = new WeakMap<Span, FilePlaces>();

type Path = readonly (string | number)[];

export class FilePlaces {
  private readonly positions: TextPositions;

  constructor(
    readonly file: string,
    text: string,
  ) {
    this.positions = new TextPositions(text);
  }

  place(span: Span): Place {
    const { file, positions } = this.owner(span);
    return { file, range: positions.range(span) };
  }

  /** Keeps the places of an entry in this file when it is read as part of another. */
  own({ keySpan, value }: MapEntry, seen = new Set<ValueNode>()): void {
    owners.set(keySpan, this);
    this.ownNode(value, seen);
  }

  private ownNode(node: ValueNode, seen: Set<ValueNode>): void {
    if (seen.has(node)) return;
    seen.add(node);
    owners.set(node.span, this);
    if (node.kind === 'list') for (const item of node.items) this.ownNode(item, seen);
    if (node.kind === 'map') for (const entry of node.entries.values()) this.own(entry, seen);
  }

  private owner(span: Span): FilePlaces {
    return owners.get(span) ?? this;
  }

  /**
   * Returns a visible span: the whole word around a shorter span, or the first line of a longer
   * one.
   */
  visible({ start, end }: Span): Place {
    const { text } = this.positions;
    const rest = /^[ \t]*[^\s]+/.exec(text.slice(start, start + 200))?.[0].length;
    if (end - start > 1) {
      const line = text.slice(start, end).search(/[\r\n]/);
      return this.place({ start, end: line > 0 ? start + line : end });
    }
    if (rest !== undefined) return this.place({ start, end: start + rest });
    const before = text.slice(0, start).trimEnd();
    const word = /[^\s]{1,200}$/.exec(before.slice(-200))?.[0].length ?? 0;
    return this.place({ start: before.length - word, end: before.length });
  }

  key(entry: MapEntry): Place {
    return this.place(entry.keySpan);
  }

  value(entry: MapEntry): Place {
    return this.showsWell(entry.value) ? this.place(entry.value.span) : this.key(entry);
  }

  item(list: MapEntry, item: ValueNode): Place {
    if (this.showsWell(item)) return this.place(item.span);
    const [first] = item.kind === 'map' ? item.entries.values() : [];
    return first ? this.key(first) : this.key(list);
  }

  private showsWell(node: ValueNode): boolean {
    if (node.span.end <= node.span.start) return false;
    if (node.kind === 'scalar') return true;
    const { start, end } = this.place(node.span).range;
    return start.line === end.line;
  }
}

export function serverPlaces(places: FilePlaces, server: MapEntry): ServerPlaces {
  /**
   * Follows a path to its last written step. @param ofKey at a key, if the whole path is written
   */
  const find = (path: Path, ofKey: boolean): Place => {
    let entry = server;
    let item: ValueNode | undefined;
    let node = server.value;
    let isWhole = true;
    for (const step of path) {
      const next = node.kind === 'map' ? node.entries.get(String(step)) : undefined;
      const inList =
        node.kind === 'list' && typeof step === 'number' ? node.items[step] : undefined;
      const below = next?.value ?? inList;
      isWhole = below !== undefined;
      if (!below) break;
      entry = next ?? entry;
      item = inList;
      node = below;
    }
    if (item) return places.item(entry, item);
    return entry === server || (ofKey && isWhole) ? places.key(entry) : places.value(entry);
  };
  return {
    key: places.key(server),
    value: (path) => find(path, false),
    keyAt: (path) => find(path, true),
  };
}
