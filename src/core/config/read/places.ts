/**
 * Turns nodes into places in a file, for squiggles under present problems and under later ones of running servers.
 *
 * Invariant: a block value of several lines and an empty value are shown at their key, everything else at itself.
 */
import type { Place } from '../../base/problem.js';
import type { ServerPlaces } from '../model.js';
import { TextPositions, type Span } from '../../yaml/textPositions.js';
import type { MapEntry, ValueNode } from '../../yaml/valueNodes.js';

export class FilePlaces {
  private readonly positions: TextPositions;

  constructor(
    readonly file: string,
    text: string,
  ) {
    this.positions = new TextPositions(text);
  }

  place(span: Span): Place {
    return { file: this.file, range: this.positions.range(span) };
  }

  /** Returns a visible span: the whole word around a shorter span, or the first line of a longer one. */
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
    const { start, end } = this.positions.range(node.span);
    return start.line === end.line;
  }
}

export function serverPlaces(places: FilePlaces, server: MapEntry): ServerPlaces {
  const key = places.key(server);
  return {
    key,
    value: (path) => valueAt(places, server, path),
    keyAt: (path) => {
      const found = entryAt(server, path);
      return found ? places.key(found) : valueAt(places, server, path);
    },
  };
}

/** Returns the entry at the end of a path of keys, or undefined for a path into a list or to nothing. */
function entryAt(server: MapEntry, path: readonly (string | number)[]): MapEntry | undefined {
  const last = path.at(-1);
  if (last === undefined) return server;
  let node: ValueNode | undefined = server.value;
  for (const step of path.slice(0, -1)) node = child(node, step);
  return node?.kind === 'map' ? node.entries.get(String(last)) : undefined;
}

function valueAt(places: FilePlaces, server: MapEntry, path: readonly (string | number)[]): Place {
  if (path.length === 0) return places.key(server);
  let node = server.value;
  let key = server;
  let item: ValueNode | undefined;
  for (const step of path) {
    if (node.kind === 'map') {
      const entry = node.entries.get(String(step));
      if (!entry) break;
      key = entry;
      item = undefined;
      node = entry.value;
      continue;
    }
    const next = child(node, step);
    if (!next) break;
    item = next;
    node = next;
  }
  if (item) return places.item(key, item);
  return key === server ? places.key(server) : places.value(key);
}

function child(node: ValueNode | undefined, step: string | number): ValueNode | undefined {
  if (node?.kind === 'map') return node.entries.get(String(step))?.value;
  if (node?.kind === 'list' && typeof step === 'number') return node.items[step];
  return undefined;
}
