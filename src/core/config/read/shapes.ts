/**
 * Reads the values of a map by the shapes of their keys, as `keys.ts` describes them. Rules that no
 * shape can say are in the readers of `launch.ts` and `view.ts`.
 */
import { english } from '../../base/language.js';
import { roundingError } from '../../base/exactNumbers.js';
import type { Place, Problem } from '../../base/problem.js';
import type { TextKey } from '../../base/problemCatalogue.js';
import { problemOf, type Given } from '../../base/problemOf.js';
import { milliseconds } from '../durations.js';
import {
  docOf,
  fixOf,
  type KeyDoc,
  type KeyLevel,
  type KeyOf,
  type ValueAt,
  type ValueShape,
} from '../keys.js';
import type { Replacement, Transform } from '../model.js';
import {
  isEmpty,
  plainValue,
  textOf,
  type MapEntry,
  type MapNode,
  type ValueNode,
} from '../../yaml/valueNodes.js';
import { describe, describeKind, type Entries, type EntryReader } from './entryReader.js';

export class Table<Level extends KeyLevel> {
  readonly entries: Entries;

  /** @param at the place for a problem of a missing key */
  constructor(
    readonly reader: EntryReader,
    private readonly level: Level,
    map: MapNode | undefined,
    readonly at: Place,
  ) {
    this.entries = map ? reader.knownEntries(level, map, at) : new Map();
  }

  entry(key: KeyOf<Level>): MapEntry | undefined {
    return this.entries.get(key);
  }

  fix(key: KeyOf<Level>): string {
    return fixOf(docOf(this.level, key), key);
  }

  read<Key extends KeyOf<Level>>(key: Key): ValueAt<Level, Key> | undefined {
    const entry = this.entry(key);
    const value = entry && readShape(this.reader, entry, docOf(this.level, key));
    return value as ValueAt<Level, Key> | undefined;
  }

  /** Returns the value of each key that has a valid one. */
  all(): { readonly [Key in KeyOf<Level>]?: ValueAt<Level, Key> } {
    const read = [...this.entries].map(([key, entry]) => {
      return [key, readShape(this.reader, entry, docOf(this.level, key))];
    });
    const valid = read.filter(([, value]) => value !== undefined);
    return Object.fromEntries(valid) as ReturnType<typeof this.all>;
  }

  /** The map below a key, whose level has the name of the key. */
  table<Key extends KeyLevel & KeyOf<Level>>(key: Key): Table<Key> {
    const { places } = this.reader;
    const entry = this.entry(key);
    const map = this.reader.map(entry, this.fix(key));
    return new Table(this.reader, key, map, entry ? places.key(entry) : this.at);
  }

  /** Returns the entries of a map of free keys, such as `env`. Any other value may be a secret. */
  free(key: KeyOf<Level>): readonly MapEntry[] {
    const entry = this.entry(key);
    const map = this.reader.map(entry, this.fix(key), describeKind);
    if (!map || !entry) return [];
    return [...this.reader.entries(map, this.reader.places.key(entry)).values()];
  }

  /** Reads a map from free names to maps of a level, such as `override`. */
  named<Inner extends KeyLevel, Value>(
    key: KeyOf<Level>,
    level: Inner,
    read: (table: Table<Inner>, entry: MapEntry) => Value | undefined,
  ): ReadonlyMap<string, Value> {
    const { reader } = this;
    const values = new Map<string, Value>();
    const entries = this.free(key);
    if (entries.length > mostEntries) {
      this.wrong(key, english`a map of at most ${mostEntries} names`, counted(entries.length));
      return values;
    }
    for (const entry of entries) {
      // All of it may be commented out.
      const map = reader.map(entry, this.fix(key));
      const value = map && read(new Table(reader, level, map, reader.places.key(entry)), entry);
      if (value !== undefined) values.set(entry.key, value);
    }
    return values;
  }

  /** Reports a value that is not as expected. Without the key there is nothing to report. */
  wrong(key: KeyOf<Level>, expected: string, found?: string, fix = this.fix(key)): undefined {
    const entry = this.entry(key);
    return entry && this.reader.wrong(entry, expected, fix, found);
  }

  report<Text extends TextKey>(text: Text, key: KeyOf<Level>, given: Given<Text>): undefined {
    const entry = this.entry(key);
    return entry && this.reader.report(text, entry, given);
  }

  missing(keys: readonly KeyOf<Level>[], make: () => Problem): undefined {
    return this.reader.missing(this.entries, keys, make);
  }

  /**
   * @param owner the subject of the problem
   * @param example of the key and its value
   * @param keys that would do as well
   */
  missingKey(
    owner: string,
    example: string,
    at = this.at,
    keys?: readonly KeyOf<Level>[],
  ): undefined {
    const key = example.replace(/:.*/, '') as KeyOf<Level>;
    return this.missing(keys ?? [key], () => problemOf('missing-key', at, { owner, key, example }));
  }
}

/** A server has fewer tools, and a tool fewer arguments. */
const mostEntries = 1_000;

function counted(count: number): string {
  return count.toLocaleString('en-US');
}

/** Returns the value, or undefined after a report. */
function readShape(reader: EntryReader, entry: MapEntry, doc: KeyDoc | undefined): unknown {
  const fix = fixOf(doc, entry.key);
  const shape = doc?.value;
  const plain = entry.value.kind === 'scalar' ? entry.value.value : undefined;
  const plainIf = (isRight: boolean, expected: string): unknown =>
    isRight ? plain : reader.wrong(entry, expected, fix);
  switch (shape?.kind) {
    case 'truth':
      return plainIf(typeof plain === 'boolean', '`true` or `false`');
    case 'zeroOrOne':
      return plainIf(plain === 0 || plain === 1, '0 or 1');
    case 'port':
      return plainIf(isCount(plain, 65_535), 'a number from 1 to 65535');
    case 'size':
      return plainIf(isCount(plain, Infinity), 'a whole number above 0');
    case 'duration':
      return readDuration(reader, entry);
    case 'choice':
      return readChoice(reader, entry, shape.values, fix);
    case 'text':
      return readText(reader, entry, shape.of, fix);
    case 'texts':
      return readTexts(reader, entry, shape.item, fix);
    case 'transforms':
      return readTransforms(reader, entry, fix);
    case 'prefix':
      return readPrefix(reader, entry, fix);
    case 'replacements':
      return readReplacements(reader, entry, fix);
    case 'any':
      reportLosses(reader, entry);
      return { value: plainValue(entry.value) };
    default:
      return undefined;
  }
}

function readChoice(
  reader: EntryReader,
  entry: MapEntry,
  values: readonly { readonly value: string }[],
  fix: string,
): string | undefined {
  const word = reader.string(entry, fix);
  if (word === undefined || values.some(({ value }) => value === word)) return word;
  const expected = values.map(({ value }) => `\`${value}\``).join(' or ');
  return reader.wrong(entry, expected, fix);
}

function isCount(value: unknown, most: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= most;
}

type TextOf = Extract<ValueShape, { kind: 'text' }>['of'];

/** Any value in the place of such a text may be a secret. */
const secretTexts: ReadonlySet<TextOf> = new Set([
  'session',
  'variable',
  'secretName',
  'scheme',
  'part',
  'affix',
]);

/** Every name goes through every step, and N4 limits the result. */
const mostSteps = 20;
const longestAffix = 1024;

/** The limit in characters. Instructions and descriptions are part of every request of a model. */
export const longestProse = 20_000;

function readText(
  reader: EntryReader,
  entry: MapEntry,
  of: TextOf,
  fix: string,
): string | undefined {
  const text = reader.string(entry, fix, secretTexts.has(of) ? 'secret' : 'open');
  if (text === undefined) return undefined;
  const { length } = text;
  if (of === 'affix' && length > longestAffix) {
    const expected = english`a text of at most ${longestAffix} characters`;
    return reader.wrong(entry, expected, fix, english`one of ${counted(length)}`);
  }
  if (of === 'prose' && length > longestProse) {
    const expected = english`a text of at most ${counted(longestProse)} characters`;
    return reader.wrong(entry, expected, 'Shorten it.', counted(length));
  }
  return text;
}

function readTexts(
  reader: EntryReader,
  entry: MapEntry,
  item: ValueShape | undefined,
  fix: string,
): readonly string[] | undefined {
  const of = item?.kind === 'text' ? item.of : undefined;
  const what =
    of === 'pattern' || of === 'allowed'
      ? english`A pattern of \`${entry.key}\``
      : english`An item of \`${entry.key}\``;
  const texts = reader.texts(entry, what, fix);
  const items = entry.value.kind === 'list' ? entry.value.items : [];
  const blank = items.filter((one) => textOf(one)?.trim() === '');
  switch (of) {
    case 'mediaType':
      return texts?.map((type) => type.trim().toLowerCase());
    case 'pattern':
      // They count as no patterns (N1), but every pattern keeps its place.
      for (const one of blank)
        reader.report('pattern-blank', reader.places.item(entry, one), { key: entry.key });
      return texts;
    case 'allowed': {
      // An empty list would allow nothing, and a blank pattern too.
      const [first] = texts ? blank : [];
      if (first) {
        const at = { ...entry, value: first };
        return reader.wrong(at, 'a text that is not blank', fix, 'another', what);
      }
      const allowsNothing = texts ? texts.length === 0 : isEmpty(entry.value);
      return allowsNothing
        ? reader.wrong(entry, 'a list of patterns', fix, 'one that allows nothing')
        : texts;
    }
    default:
      return texts;
  }
}

/** Timers of Node and browsers overflow beyond this (about 24.8 days) and fire at once. */
const longestTimer = 2 ** 31 - 1;
const mostMinutes = 35_791;

function readDuration(reader: EntryReader, entry: MapEntry): number | undefined {
  const { key, value } = entry;
  const written = value.kind === 'scalar' ? value.value : undefined;
  const ms = typeof written === 'string' ? milliseconds(written) : written;
  const fail = (why: string, instead = durationInstead(textOf(value) ?? '')): undefined =>
    reader.report('duration-invalid', entry, {
      key,
      found: describe(value),
      why,
      instead,
    });
  if (typeof ms !== 'number' || Number.isNaN(ms))
    return fail(typeof written === 'string' ? unitHint(written) : '');
  if (ms < 1) return fail(', which is less than 1 ms');
  if (ms > longestTimer) return fail(', which is more than 24 days', `${mostMinutes}m`);
  // People mean seconds.
  if (ms < 1000 && typeof written === 'number')
    reader.report('duration-invalid:noUnit', entry, { key, ms });
  return Math.round(ms);
}

/** Returns the same time in minutes, or an example. */
function durationInstead(written: string): string {
  const [, amount, days] = /^([\d.]{1,20}) ?(?:h|(d))/i.exec(written) ?? [];
  const minutes = Number(amount) * (days ? 24 * 60 : 60);
  return minutes > 0 ? `${Math.min(minutes, mostMinutes)}m` : '30s';
}

function unitHint(written: string): string {
  if (/^\d+(\.\d+)?$/.test(written)) return ', which has no unit';
  return /^[\d.]+ ?(h|d|hours?|days?)$/i.test(written) ? ', and minutes are the longest unit' : '';
}

function readTransforms(
  reader: EntryReader,
  entry: MapEntry,
  fix: string,
): readonly Transform[] | undefined {
  const list = reader.list(entry, fix);
  if (!list) return undefined;
  const count = list.items.length;
  if (count > mostSteps) {
    const shorter = 'Write one prefix and one suffix.';
    return reader.wrong(
      entry,
      english`a list of at most ${mostSteps} steps`,
      shorter,
      counted(count),
    );
  }
  return list.items.flatMap((item) => readStep(reader, entry, item) ?? []);
}

const stepKeys = ['prefix', 'suffix', 'replace'] as const;

function readStep(reader: EntryReader, list: MapEntry, item: ValueNode): Transform | undefined {
  const place = reader.places.item(list, item);
  const notAStep = (found: string): Problem => problemOf('wrong-type:step', place, { found });
  if (item.kind !== 'map') return reader.note(notAStep(describe(item)));
  const step = new Table(reader, 'transformItem', item, place);
  const [key, ...more] = stepKeys.filter((each) => step.entry(each));
  if (more.length > 0)
    return reader.note(notAStep('several; their order matters, so write each as a separate item'));
  if (key === undefined) {
    const found = step.entries.size === 0 ? 'an empty map' : 'none of them';
    return step.missing(stepKeys, () => notAStep(found));
  }
  const value = step.read(key);
  if (typeof value === 'string') return { kind: key === 'suffix' ? key : 'prefix', add: value };
  if (!value) return undefined;
  return 'remove' in value
    ? { kind: 'replacePrefix', ...value }
    : { kind: 'replace', pairs: value };
}

function readReplacements(
  reader: EntryReader,
  entry: MapEntry,
  fix: string,
): readonly Replacement[] | undefined {
  const { value } = entry;
  const entries =
    value.kind === 'map' ? reader.entries(value, reader.places.key(entry)) : undefined;
  if (!entries || entries.size === 0 || entries.size > mostSteps || entries.has(''))
    return reader.wrong(entry, english`a map of 1 to ${mostSteps} texts to replace`, fix);
  const pairs = [...entries.values()].flatMap((each): Replacement[] => {
    const to = readText(reader, each, 'affix', fix);
    return to === undefined ? [] : [[each.key, to]];
  });
  return pairs.length === entries.size ? pairs : undefined;
}

function readPrefix(
  reader: EntryReader,
  entry: MapEntry,
  fix: string,
): ValueAt<'transformItem', 'prefix'> | undefined {
  if (entry.value.kind !== 'map') return readText(reader, entry, 'affix', fix);
  const prefix = new Table(reader, 'replacePrefix', entry.value, reader.places.key(entry));
  const [remove, add] = (['remove', 'add'] as const).map((key) =>
    prefix.entry(key) ? prefix.read(key) : prefix.missingKey('`prefix`', `${key}: ''`),
  );
  return remove === undefined || add === undefined ? undefined : { remove, add };
}

/** Reports the parts of a value that a call could not send as they are written. */
function reportLosses(reader: EntryReader, given: MapEntry, seen = new Set<ValueNode>()): void {
  const { value: node } = given;
  if (seen.has(node)) return;
  seen.add(node);
  switch (node.kind) {
    case 'map':
      reader.noteDuplicates(node);
      for (const entry of node.entries.values()) reportLosses(reader, entry, seen);
      return;
    case 'list':
      for (const value of node.items) reportLosses(reader, { ...given, value }, seen);
      return;
    case 'scalar': {
      if (typeof node.value !== 'number') return;
      if (Number.isFinite(node.value) && roundingError(node.source) === undefined) return;
      const fix = 'Write it in quotes, if the server takes a text.';
      reader.wrong(given, 'a number that JSON can hold', fix);
    }
  }
}
