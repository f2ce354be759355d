/**
 * The nodes of a text, for edits. Unlike in `yamlTree`, an alias is an alias, and a merge key is a
 * key.
 */
import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { asText } from '../base/text.js';
import { lineEnd, nextLine, type Span } from './textPositions.js';
import { afterColon, contentEnd, isEmptyValue, readDocument, spanOf } from './yamlDocument.js';

export type Collection = YAMLMap | YAMLSeq;

export interface PairPlace {
  readonly map: YAMLMap;
  readonly index: number;
  readonly pair: Pair;
}

export class EditNodes {
  private pairsByStart: Map<number | undefined, PairPlace> | undefined;

  private constructor(
    readonly text: string,
    readonly root: unknown,
    private readonly targets: ReadonlyMap<unknown, unknown> | undefined,
  ) {}

  /**
   * @param text has no byte order mark. Returns undefined for a text with errors.
   * @param follows true if aliases and merge keys lead to their nodes
   */
  static read(text: string, follows = false): EditNodes | undefined {
    const { errors, contents, targets } = readDocument(text);
    return errors.length > 0
      ? undefined
      : new EditNodes(text, contents, follows ? targets : undefined);
  }

  /** Returns the node of an alias, if aliases are followed. */
  target(node: unknown): unknown {
    return this.targets?.get(node) ?? node;
  }

  get lineBreak(): string {
    return /\r\n|\r|\n/.exec(this.text)?.[0] ?? '\n';
  }

  pairAt(offset: number): PairPlace | undefined {
    const maps = (): YAMLMap[] => this.collections(this.root).filter(isMap);
    const places = (map: YAMLMap) =>
      map.items.map((pair, index) => [spanOf(pair.key)?.start, { map, index, pair }] as const);
    this.pairsByStart ??= new Map(maps().flatMap(places));
    return this.pairsByStart.get(offset);
  }

  /** Returns the list item at this offset. A map in block style begins with its first key. */
  itemAt(offset: number): { readonly list: YAMLSeq; readonly index: number } | undefined {
    for (const list of this.collections(this.root).filter(isSeq)) {
      const index = list.items.findIndex((item) => spanOf(item)?.start === offset);
      if (index >= 0) return { list, index };
    }
    return undefined;
  }

  /** A pair as it is written, reached by keys. */
  pairOf(node: unknown, key: string): PairPlace | undefined {
    const map = this.target(node);
    if (!isMap(map)) return undefined;
    const textOf = (value: unknown): string => (typeof value === 'symbol' ? '<<' : asText(value));
    const index = map.items.findIndex((one) => isScalar(one.key) && textOf(one.key.value) === key);
    const pair = map.items[index];
    if (pair)
      return {
        map,
        index,
        pair,
      };
    if (!this.targets || key === '<<') return undefined;
    const merged = this.pairOf(map, '<<')?.pair.value;
    const maps: readonly unknown[] = isSeq(merged) ? merged.items : [merged];
    return maps.map((one) => this.pairOf(one, key)).find((found) => found !== undefined);
  }

  startOf(node: unknown): number {
    const start = spanOf(node)?.start ?? 0;
    const { anchor, tag } = (node ?? {}) as { anchor?: string; tag?: string };
    if (anchor === undefined && tag === undefined) return start;
    const before = this.text.slice(Math.max(0, start - 300), start);
    return start - (/(?<![^\s,[\]{}])(?:[&!][^\s,[\]{}]*\s+)+$/.exec(before)?.[0].length ?? 0);
  }

  /** The span of an entry of a map, or of an item of a list without its dash. */
  extent(item: unknown): Span {
    return { start: this.startOf(isPair(item) ? item.key : item), end: this.endOf(item) };
  }

  endOf(node: unknown): number {
    return contentEnd(this.text, node);
  }

  afterColon(pair: Pair): number {
    return afterColon(this.text, pair);
  }

  lineStart(offset: number): number {
    let at = offset;
    while (at > 0 && this.text[at - 1] !== '\n' && this.text[at - 1] !== '\r') at--;
    return at;
  }

  lineEnd(offset: number): number {
    return lineEnd(this.text, offset);
  }

  nextLine(offset: number): number {
    return Math.min(nextLine(this.text, this.lineEnd(offset)), this.text.length);
  }

  column(offset: number): number {
    return offset - this.lineStart(offset);
  }

  beginsLine(offset: number): boolean {
    return this.text.slice(this.lineStart(offset), offset).trim() === '';
  }

  /** The beginning of an entry, or the dash of an item, if it begins its line. */
  firstOnLine(collection: Collection, item: unknown): number | undefined {
    if (item === undefined) return undefined;
    const { start } = this.extent(item);
    const first = isSeq(collection) ? this.text.lastIndexOf('-', start - 1) : start;
    const isFirst = this.beginsLine(first) && /^-?\s*$/.test(this.text.slice(first, start));
    return isFirst ? first : undefined;
  }

  skipBlank(offset: number): number {
    return offset + (/^(?:\s+|#[^\r\n]*)*/.exec(this.text.slice(offset))?.[0].length ?? 0);
  }

  private collections(node: unknown): Collection[] {
    if (!isMap(node) && !isSeq(node)) return [];
    const items: readonly unknown[] = node.items;
    return [node, ...items.flatMap((item) => this.collections(isPair(item) ? item.value : item))];
  }
}

export function isAnchored(node: unknown): boolean {
  return typeof node === 'object' && node !== null && 'anchor' in node && node.anchor !== undefined;
}

export function isBlockScalar(node: unknown): boolean {
  return isScalar(node) && (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED');
}

/** True if a node ends in a block text. Empty lines at its end may count. */
export function endsInBlockScalar(node: unknown): boolean {
  if (isPair(node)) return endsInBlockScalar(node.value);
  return (isMap(node) || isSeq(node)) && !node.flow
    ? endsInBlockScalar(node.items.at(-1))
    : isBlockScalar(node);
}

export { isAlias, isEmptyValue, isMap, isScalar, isSeq, spanOf };
