/**
 * Typed reading of the nodes of one server's entry. Every reader returns a value, or notes a problem at the node and
 * returns undefined. None throws.
 *
 * Invariants: an absent value is not a problem here. `null` in the place of a list or a map counts as absent, because
 * all of it may be commented out.
 */
import type { Place, Problem } from '../../base/problem.js';
import { keysOfOthers, keysOf, type KeyLevel } from '../keys.js';
import type { ConfigDeps, SourceText } from '../model.js';
import type { FilePlaces } from './places.js';
import { ProblemList } from './problemList.js';
import * as problems from '../problems.js';
import { isEmpty, textOf, type ListNode, type MapEntry, type MapNode, type ValueNode } from '../../yaml/valueNodes.js';

export type Entries = ReadonlyMap<string, MapEntry>;

const none: Entries = new Map();

/** Reads a part of a file and collects its problems: one server's entry, or the file around the servers. */
export class EntryReader extends ProblemList {
  private readonly unknown: { readonly entries: Entries; readonly problem: Problem }[] = [];

  /** @param room the number of problems left for its file */
  constructor(
    readonly server: string | undefined,
    readonly places: FilePlaces,
    readonly deps: ConfigDeps,
    readonly source: SourceText,
    room?: number,
  ) {
    super(room);
  }

  spot(place: Place): problems.Spot {
    return this.server === undefined ? { place } : { place, server: this.server };
  }

  atValue(entry: MapEntry): problems.Spot {
    return this.spot(this.places.value(entry));
  }

  atKey(entry: MapEntry): problems.Spot {
    return this.spot(this.places.key(entry));
  }

  /** Returns the entries of a map. Notes duplicate keys and merges of other values than maps. */
  entries(map: MapNode, at: Place, duplicate = problems.duplicateKey): Entries {
    for (const { first, again } of map.duplicates) {
      this.note(duplicate(this.atKey(again), again.key, this.places.key(first)));
    }
    for (const node of map.badMerges) {
      const place = node.span.end > node.span.start ? this.places.place(node.span) : at;
      this.note(problems.badMerge(this.spot(place), describe(node)));
    }
    return map.entries;
  }

  /** Returns the entries of a map, and warns of unknown keys. */
  knownEntries(level: KeyLevel, map: MapNode, at: Place): Entries {
    const entries = this.entries(map, at);
    const known = keysOf(level);
    for (const entry of entries.values()) {
      // Keys with `x-` at the top are the customary place for anchors. Only other keys refer to them.
      if (known.includes(entry.key) || (level === 'root' && entry.key.startsWith('x-'))) continue;
      const ofOthers = keysOfOthers[level]?.includes(entry.key) === true;
      this.noteWarning(() => {
        if (ofOthers) return problems.keyNotUsed(this.atKey(entry), entry.key);
        const problem = problems.unknownKey(this.atKey(entry), level, entry.key, entries);
        this.unknown.push({ entries, problem });
        return problem;
      });
    }
    return entries;
  }

  /** Notes a missing key. If one of the keys is misspelt, this mistake is the error, and the only problem. */
  missing(entries: Entries, keys: readonly string[], make: () => Problem): undefined {
    const misspelt = this.unknown.find((one) => one.entries === entries && keys.includes(one.problem.instead ?? ''));
    return misspelt ? this.worsen(misspelt.problem) : this.note(make());
  }

  /** Returns the entries of a map of fixed keys. */
  table(level: KeyLevel, entry: MapEntry | undefined, fix: string): Entries {
    const map = this.map(entry, fix, describe);
    return map && entry ? this.knownEntries(level, map, this.places.key(entry)) : none;
  }

  /** Returns the entries of a map of free keys, such as `env`. Any other value may be a secret. */
  freeTable(entry: MapEntry | undefined, fix: string): Entries {
    const map = this.map(entry, fix, describeKind);
    return map && entry ? this.entries(map, this.places.key(entry)) : none;
  }

  list(entry: MapEntry | undefined, fix: string): ListNode | undefined {
    if (!entry || isEmpty(entry.value)) return undefined;
    return entry.value.kind === 'list' ? entry.value : this.wrong(entry, 'a list', fix);
  }

  truth(entry: MapEntry | undefined): boolean | undefined {
    const fix = `Write \`${entry?.key}: true\` or \`${entry?.key}: false\`, without quotes.`;
    return this.scalar(entry, (value) => typeof value === 'boolean', '`true` or `false`', fix);
  }

  scalar<T>(
    entry: MapEntry | undefined,
    takes: (value: unknown) => value is T,
    expected: string,
    fix: string,
  ): T | undefined {
    if (!entry) return undefined;
    const value = entry.value.kind === 'scalar' ? entry.value.value : undefined;
    return takes(value) ? value : this.wrong(entry, expected, fix);
  }

  /** Notes an unexpected value. */
  wrong(entry: MapEntry, expected: string, fix: string, found = describe(entry.value)): undefined {
    return this.note(this.wrongType(entry, expected, found, fix));
  }

  wrongType(entry: MapEntry, expected: string, found: string, fix: string): Problem {
    return problems.wrongType(this.atValue(entry), `\`${entry.key}\``, expected, found, fix);
  }

  /** Returns a text in the strict sense. With `secret`, the value is kept out of the message. */
  string(entry: MapEntry | undefined, fix: string, kind: 'open' | 'secret' = 'open'): string | undefined {
    if (!entry) return undefined;
    const { value } = entry;
    if (value.kind === 'scalar' && typeof value.value === 'string') return this.clean(value.value, entry);
    return this.wrong(entry, 'a text', fix, (kind === 'secret' ? describeKind : describe)(value));
  }

  /**
   * Returns a list of texts, or undefined if it is absent or any item is wrong.
   * @param what names an item in messages
   * @param other reads items of other kinds, and returns undefined for wrong ones
   */
  texts(
    entry: MapEntry | undefined,
    what: string,
    fix: string,
    other?: (item: ValueNode, spot: problems.Spot, index: number) => string | undefined,
  ): string[] | undefined {
    const list = this.list(entry, fix);
    if (!entry || !list) return undefined;
    const texts: string[] = [];
    for (const [index, item] of list.items.entries()) {
      const spot = this.spot(this.places.item(entry, item));
      const text = textOf(item) ?? other?.(item, spot, index);
      if (text === undefined) this.note(problems.wrongType(spot, what, 'a text', describeKind(item), itemFix(item)));
      else if (text.includes('\0'))
        this.note(problems.wrongType(spot, what, 'a text without NUL', 'one with NUL', noNul));
      else texts.push(text);
    }
    return texts.length === list.items.length ? texts : undefined;
  }

  private clean(text: string, entry: MapEntry): string | undefined {
    return text.includes('\0') ? this.wrong(entry, 'a text without NUL', noNul, 'one with NUL') : text;
  }

  private map(entry: MapEntry | undefined, fix: string, inWords: (node: ValueNode) => string): MapNode | undefined {
    if (!entry || isEmpty(entry.value)) return undefined;
    return entry.value.kind === 'map' ? entry.value : this.wrong(entry, 'a map', fix, inWords(entry.value));
  }
}

export const noNul = 'Remove the NUL character, which no program accepts.';

function itemFix(item: ValueNode): string {
  if (item.kind === 'map') return 'Put the text in quotes: YAML reads `: ` as a key with a value.';
  if (item.kind === 'scalar') return "Write a text, or `''` for an empty one.";
  return 'Write one list with each text as an item.';
}

/** Describes a node with its value, so never use it for a possible secret. */
export function describe(node: ValueNode): string {
  if (node.kind !== 'scalar' || node.value === null) return describeKind(node);
  if (typeof node.value === 'boolean') return `\`${node.source}\``;
  if (typeof node.value !== 'string') return `the number ${problems.shortened(node.source)}`;
  return node.value === '' ? 'an empty text' : `the text "${problems.shortened(node.value)}"`;
}

export function describeKind(node: ValueNode): string {
  if (node.kind !== 'scalar') return `a ${node.kind}`;
  if (node.value === null) return 'nothing';
  if (typeof node.value === 'boolean') return 'a boolean';
  return typeof node.value === 'string' ? 'a text' : 'a number';
}
