/**
 * Methods return a value, or note a problem and return undefined. Absence and a null list or map
 * are no problem.
 */
import { english } from '../../base/language.js';
import type { Place, Problem } from '../../base/problem.js';
import type { TextKey } from '../../base/problemCatalogue.js';
import { problemOf, type Given } from '../../base/problemOf.js';
import { keysOfOthers, keysOf, type KeyLevel } from '../keys.js';
import { startOfFile, type ConfigDeps, type SourceText } from '../model.js';
import type { FilePlaces } from './places.js';
import { shortened, unknownKey } from '../problems.js';
import {
  isEmpty,
  textOf,
  type ListNode,
  type MapEntry,
  type MapNode,
  type ValueNode,
} from '../../yaml/valueNodes.js';

export type Entries = ReadonlyMap<string, MapEntry>;

type Duplicate = `duplicate-key${'' | ':ofHeader' | ':stateless'}` | 'duplicate-server';

const mostProblems = 500;

/** Keeps problems up to a number, and the first error beyond it (S2a). */
export class NodeReader {
  private readonly kept: Problem[] = [];
  private leftOut = 0;
  private readonly unknown: { readonly entries: Entries; readonly problem: Problem }[] = [];

  /** @param most the number of problems left for its file */
  constructor(
    readonly server: string | undefined,
    readonly places: FilePlaces,
    private readonly most = mostProblems,
  ) {}

  get failed(): boolean {
    return this.kept.some((found) => found.severity === 'error');
  }

  get room(): number {
    return Math.max(0, this.most - this.kept.length);
  }

  note(found: Problem): undefined {
    if (this.room > 0 || (found.severity === 'error' && !this.failed)) this.kept.push(found);
    else this.leftOut++;
    return undefined;
  }

  /**
   * Notes a warning or information. Without room, it is not made, because the search for a
   * suggestion takes time.
   */
  noteWarning(make: () => Problem): void {
    if (this.room > 0) this.kept.push(make());
    else this.leftOut++;
  }

  /** Takes over the problems of a part. The part had the remaining room. */
  takeOver(part: NodeReader): void {
    const { server } = part;
    for (const found of part.kept)
      this.kept.push(server === undefined ? found : { ...found, server });
    this.leftOut += part.leftOut;
  }

  soften(): void {
    this.revise((found) => ({ ...found, severity: 'information' }));
  }

  revise(change: (found: Problem) => Problem): void {
    for (const [index, found] of this.kept.entries()) this.kept[index] = change(found);
  }

  whole(file: string): readonly Problem[] {
    if (this.leftOut === 0) return this.kept;
    const count = this.leftOut.toLocaleString('en-US');
    return [problemOf('problems-left-out', { file, range: startOfFile }, { count }), ...this.kept];
  }

  /** @param at a place, or the entry with the value that is wrong */
  report<Key extends TextKey>(key: Key, at: Place | MapEntry, given: Given<Key>): undefined {
    return this.note(problemOf(key, 'file' in at ? at : this.places.value(at), given));
  }

  noteDuplicates(map: MapNode, text: Duplicate = 'duplicate-key'): void {
    for (const { first, again } of map.duplicates) this.duplicate(text, again, first);
  }

  duplicate(text: Duplicate, again: MapEntry, first: MapEntry): void {
    const message =
      text === 'duplicate-server' ? 'The first entry is here.' : 'It is first written here.';
    const related = [{ message, place: this.places.key(first) }];
    this.report(text, this.places.key(again), { key: shortened(again.key), related });
  }

  entries(map: MapNode, at: Place, text?: Duplicate): Entries {
    this.noteDuplicates(map, text);
    for (const node of map.badMerges) {
      const place = node.span.end > node.span.start ? this.places.place(node.span) : at;
      this.report('wrong-type:merge', place, { found: describe(node) });
    }
    return map.entries;
  }

  knownEntries(level: KeyLevel, map: MapNode, at: Place): Entries {
    const entries = this.entries(map, at);
    const known = keysOf(level);
    for (const [key, entry] of entries) {
      // Keys with `x-` at the top are the customary place for anchors. Only other keys refer to
      // them.
      if (known.includes(key) || (level === 'root' && entry.key.startsWith('x-'))) continue;
      const ofOthers = keysOfOthers[level]?.includes(entry.key) === true;
      this.noteWarning(() => {
        const place = this.places.key(entry);
        if (ofOthers) return problemOf('key-not-used', place, entry);
        const problem = unknownKey(place, level, entry.key, entries);
        this.unknown.push({ entries, problem });
        return problem;
      });
    }
    return entries;
  }

  /**
   * Notes a missing key. If one of the keys is misspelt, this mistake is the error, and the only
   * problem.
   */
  missing(entries: Entries, keys: readonly string[], make: () => Problem): undefined {
    const misspelt = this.unknown.find(
      (one) => one.entries === entries && keys.includes(one.problem.instead ?? ''),
    );
    if (!misspelt) return this.note(make());
    this.kept[this.kept.indexOf(misspelt.problem)] = { ...misspelt.problem, severity: 'error' };
    return undefined;
  }

  /** @param what names the value in a problem, by default with its key */
  map(
    entry: MapEntry | undefined,
    fix: string,
    inWords = describe,
    what?: string,
  ): MapNode | undefined {
    if (!entry || isEmpty(entry.value)) return undefined;
    return entry.value.kind === 'map'
      ? entry.value
      : this.wrong(entry, 'a map', fix, inWords(entry.value), what);
  }

  list(entry: MapEntry | undefined, fix: string): ListNode | undefined {
    if (!entry || isEmpty(entry.value)) return undefined;
    return entry.value.kind === 'list' ? entry.value : this.wrong(entry, 'a list', fix);
  }

  wrong(
    entry: MapEntry,
    expected: string,
    fix: string,
    found = describe(entry.value),
    what = `\`${entry.key}\``,
  ): undefined {
    return this.report('wrong-type', entry, { what, expected, found, fix });
  }

  /** Returns a text in the strict sense. With `secret`, the value is kept out of the message. */
  string(
    entry: MapEntry | undefined,
    fix: string,
    kind: 'open' | 'secret' = 'open',
  ): string | undefined {
    if (!entry) return undefined;
    const { value } = entry;
    if (value.kind === 'scalar' && typeof value.value === 'string') {
      return this.withoutNul(value.value, this.places.value(entry), `\`${entry.key}\``);
    }
    return this.wrong(entry, 'a text', fix, (kind === 'secret' ? describeKind : describe)(value));
  }

  /**
   * Returns undefined if the list is absent or any item is wrong. @param other reads items of other
   * kinds
   */
  texts(
    entry: MapEntry | undefined,
    what: string,
    fix: string,
    other?: (item: ValueNode, place: Place, index: number) => string | undefined,
  ): string[] | undefined {
    const list = this.list(entry, fix);
    if (!entry || !list) return undefined;
    const texts: string[] = [];
    for (const [index, item] of list.items.entries()) {
      const place = this.places.item(entry, item);
      const text = textOf(item) ?? other?.(item, place, index);
      if (text === undefined) {
        const found = describeKind(item);
        this.report('wrong-type', place, {
          what,
          expected: 'a text',
          found,
          fix: itemFix(item),
        });
      } else if (this.withoutNul(text, place, what) !== undefined) texts.push(text);
    }
    return texts.length === list.items.length ? texts : undefined;
  }

  withoutNul(text: string, place: Place, what: string): string | undefined {
    if (!text.includes('\0')) return text;
    const fix = 'Remove the NUL character, which no program accepts.';
    return this.report('wrong-type', place, {
      what,
      expected: 'a text without NUL',
      found: 'one with NUL',
      fix,
    });
  }
}

export class EntryReader extends NodeReader {
  /** False for a disabled server: its references need no values, and its folder need not exist. */
  starts = true;

  constructor(
    server: string | undefined,
    places: FilePlaces,
    readonly deps: ConfigDeps,
    readonly source: SourceText,
    room?: number,
  ) {
    super(server, places, room);
  }
}

function itemFix(item: ValueNode): string {
  if (item.kind === 'map') return 'Put the text in quotes: YAML reads `: ` as a key with a value.';
  if (item.kind === 'scalar') return "Write a text, or `''` for an empty one.";
  return 'Write one list with each text as an item.';
}

/** Describes a node with its value, so never use it for a possible secret. */
export function describe(node: ValueNode): string {
  if (node.kind !== 'scalar' || node.value === null) return describeKind(node);
  if (typeof node.value === 'boolean') return `\`${node.source}\``;
  if (typeof node.value !== 'string') return english`the number ${shortened(node.source)}`;
  return node.value === '' ? 'an empty text' : english`the text "${shortened(node.value)}"`;
}

export function describeKind(node: ValueNode): string {
  if (node.kind !== 'scalar') return `a ${node.kind}`;
  if (node.value === null) return 'nothing';
  if (typeof node.value === 'boolean') return 'a boolean';
  return typeof node.value === 'string' ? 'a text' : 'a number';
}
