/**
 * Reads the view of an entry: filters and transforms (N1, N3). Its changes restart nothing.
 * `contentFile` is left to Dominds.
 */
import { roundingError } from '../../base/exactNumbers.js';
import type { Problem } from '../../base/problem.js';
import { problemOf } from '../../base/problemOf.js';
import { defaultTimeouts, milliseconds } from '../durations.js';
import { describe, type Entries, type EntryReader } from './entryReader.js';
import type {
  ArgumentOverride,
  NameFilter,
  ResourceSelection,
  Timeouts,
  ToolOverride,
  Transform,
} from '../model.js';
import type { ServerView } from '../hash.js';
import { isEmpty, plainValue, textOf, valueIn } from '../../yaml/valueNodes.js';
import type { MapEntry, MapNode, ValueNode } from '../../yaml/valueNodes.js';

export function readView(reader: EntryReader, entries: Entries): ServerView {
  const startFix =
    'Write `window` (with the window) or `call` (with the first call, if its tools are remembered).';
  const start = reader.word(entries.get('start'), ['window', 'call'], startFix);
  const spareFix =
    'Write 1 (a spare instance is started for the next conversation) or 0 (none is).';
  const isSpare = (value: unknown): value is 0 | 1 => value === 0 || value === 1;
  const spare = reader.scalar(entries.get('spare'), isSpare, '0 or 1', spareFix);
  const tools = readFilter(reader, 'tools', entries);
  const overrides = readOverrides(reader, tools.entries.get('override'));
  const prompts = readFilter(reader, 'prompts', entries);
  const resources = readFilter(reader, 'resources', entries);
  return {
    tools: tools.filter,
    transform: readToolTransform(reader, entries.get('transform'), tools.entries.get('transform')),
    ...(overrides.size > 0 && { overrides }),
    prompts: {
      filter: prompts.filter,
      transform: readTransform(reader, prompts.entries.get('transform')),
    },
    resources: { ...resources.filter, ...readResourceLimits(reader, resources.entries) },
    manual: readManual(reader, entries.get('manual')),
    timeouts: readTimeouts(reader, entries.get('timeouts')),
    ...(start && { start }),
    ...(spare !== undefined && { spare }),
  };
}

function readFilter(
  reader: EntryReader,
  level: 'tools' | 'prompts' | 'resources',
  server: Entries,
): { readonly filter: NameFilter; readonly entries: Entries } {
  const fix = `Write a map, for example \`${level}: { whitelist: ['browser_*'] }\`.`;
  const entries = reader.table(level, server.get(level), fix);
  const [whitelist = [], blacklist = []] = ['whitelist', 'blacklist'].map((list) =>
    readPatterns(reader, entries.get(list)),
  );
  return { filter: { whitelist, blacklist }, entries };
}

function readPatterns(reader: EntryReader, entry: MapEntry | undefined): readonly string[] {
  if (!entry) return [];
  const fix = `Write a list of patterns, for example \`${entry.key}: ['browser_*']\`.`;
  const patterns = reader.texts(entry, `A pattern of \`${entry.key}\``, fix) ?? [];
  // Blank patterns count as no patterns (N1). They stay in the list, so every pattern keeps its
  // place.
  for (const item of entry.value.kind === 'list' ? entry.value.items : []) {
    if (textOf(item)?.trim() !== '') continue;
    reader.report('pattern-blank', reader.places.item(entry, item), entry);
  }
  return patterns;
}

function readTransform(reader: EntryReader, entry: MapEntry | undefined): readonly Transform[] {
  const list = reader.list(entry, "Write a list, for example `transform: [{ prefix: 'my_' }]`.");
  if (!entry || !list) return [];
  if (list.items.length > mostSteps) {
    const found = list.items.length.toLocaleString('en-US');
    const fix = 'Write one prefix and one suffix.';
    return reader.wrong(entry, `a list of at most ${mostSteps} steps`, fix, found) ?? [];
  }
  return list.items
    .map((item) => readStep(reader, entry, item))
    .filter((step) => step !== undefined);
}

/**
 * Reads the steps for tools. @param ofTools replaces the server's own steps, even if it is an empty
 * list
 */
function readToolTransform(
  reader: EntryReader,
  ofServer: MapEntry | undefined,
  ofTools: MapEntry | undefined,
): readonly Transform[] {
  const steps = readTransform(reader, ofServer);
  if (!ofTools || isEmpty(ofTools.value)) return steps;
  if (ofServer && steps.length > 0)
    reader.report('key-not-used:replaced', reader.places.key(ofServer), {});
  return readTransform(reader, ofTools);
}

/** Every name goes through every step, and N4 limits the result. */
const mostSteps = 20;
const longestAddition = 1024;

function readStep(reader: EntryReader, list: MapEntry, item: ValueNode): Transform | undefined {
  const place = reader.places.item(list, item);
  const notAStep = (found: string): Problem => problemOf('wrong-type:step', place, { found });
  const wrong = (found: string): undefined => reader.note(notAStep(found));
  if (item.kind !== 'map') return wrong(describe(item));
  const entries = reader.knownEntries('transformItem', item, place);
  const prefix = entries.get('prefix');
  const suffix = entries.get('suffix');
  if (prefix && suffix) return wrong('both; their order matters, so write each as a separate item');
  if (prefix?.value.kind === 'map') return readReplacement(reader, prefix, prefix.value);
  const affix = prefix ?? suffix;
  if (!affix) {
    const found = entries.size === 0 ? 'an empty map' : 'neither';
    return reader.missing(entries, ['prefix', 'suffix'], () => notAStep(found));
  }
  const add = readAddition(reader, affix);
  return add === undefined ? undefined : { kind: prefix ? 'prefix' : 'suffix', add };
}

function readReplacement(
  reader: EntryReader,
  entry: MapEntry,
  map: MapNode,
): Transform | undefined {
  const entries = reader.knownEntries('replacePrefix', map, reader.places.key(entry));
  const part = (key: 'remove' | 'add'): string | undefined => {
    const found = entries.get(key);
    if (found) return readAddition(reader, found);
    return reader.missingKey(entries, reader.places.key(entry), '`prefix`', key, `${key}: ''`);
  };
  const remove = part('remove');
  const add = part('add');
  return remove === undefined || add === undefined
    ? undefined
    : { kind: 'replacePrefix', remove, add };
}

function readAddition(reader: EntryReader, entry: MapEntry): string | undefined {
  const fix = `Write a text in quotes, for example \`${entry.key}: 'my_'\`.`;
  const text = reader.string(entry, fix, 'secret');
  if (text === undefined || text.length <= longestAddition) return text;
  const found = `one of ${text.length.toLocaleString('en-US')}`;
  return reader.wrong(entry, `a text of at most ${longestAddition} characters`, fix, found);
}

/** Reads the limits of resources. Dominds uses the same keys. */
function readResourceLimits(
  reader: EntryReader,
  entries: Entries,
): Pick<ResourceSelection, 'mimeTypes' | 'maxBytes'> {
  const types = entries.get('mimeTypes');
  const fix = 'Write a list of media types, for example `mimeTypes: [text/plain]`.';
  const mimeTypes = reader
    .texts(types, 'An item of `mimeTypes`', fix)
    ?.map((type) => type.trim().toLowerCase());
  const advice = 'Write a number of bytes, for example `maxBytes: 50000`.';
  const maxBytes = reader.positive(
    entries.get('maxBytes'),
    Infinity,
    'a whole number above 0',
    advice,
  );
  return {
    ...(mimeTypes && mimeTypes.length > 0 && { mimeTypes }),
    ...(maxBytes !== undefined && { maxBytes }),
  };
}

/** Timers of Node and browsers overflow beyond this (about 24.8 days) and fire at once. */
const longest = 2 ** 31 - 1;

function readTimeouts(reader: EntryReader, entry: MapEntry | undefined): Timeouts {
  const entries = reader.table(
    'timeouts',
    entry,
    'Write a map, for example `timeouts: { call: 1m }`.',
  );
  const limit = (key: keyof Timeouts): number =>
    readDuration(reader, entries.get(key)) ?? defaultTimeouts[key];
  return {
    connect: limit('connect'),
    call: limit('call'),
    callMax: limit('callMax'),
    idle: limit('idle'),
  };
}

function readDuration(reader: EntryReader, entry: MapEntry | undefined): number | undefined {
  if (!entry) return undefined;
  const written = entry.value.kind === 'scalar' ? entry.value.value : undefined;
  const ms =
    typeof written === 'number'
      ? written
      : typeof written === 'string'
        ? milliseconds(written)
        : NaN;
  const { key } = entry;
  const fail = (why: string): undefined =>
    reader.report('duration-invalid', entry, { key, found: describe(entry.value), why });
  if (ms === undefined || Number.isNaN(ms))
    return fail(typeof written === 'string' ? hint(written) : '');
  if (ms < 1) return fail(', which is less than 1 ms');
  if (ms > longest) return fail(', which is more than 24 days');
  // People mean seconds.
  if (ms < 1000 && typeof written === 'number')
    reader.report('duration-invalid:noUnit', entry, { key, ms });
  return Math.round(ms);
}

function hint(written: string): string {
  if (/^\d+(\.\d+)?$/.test(written)) return ', which has no unit';
  return /^[\d.]+ ?(h|d|hours?|days?)$/i.test(written) ? ', and minutes are the longest unit' : '';
}

/** The limit in characters. Instructions and descriptions are part of every request of a model. */
const longestManual = 20_000;

function readManual(reader: EntryReader, entry: MapEntry | undefined): string | undefined {
  if (!entry || isEmpty(entry.value)) return undefined;
  const { value } = entry;
  if (value.kind !== 'map')
    return readText(reader, entry, 'a text or a map')?.slice(0, longestManual) || undefined;
  const entries = reader.knownEntries('manual', value, reader.places.key(entry));
  const content = entries.get('content');
  const parts = [
    content && readText(reader, content, 'a text'),
    ...readSections(reader, entries.get('sections')),
  ];
  return parts.filter(Boolean).join('\n\n').slice(0, longestManual) || undefined;
}

function readText(reader: EntryReader, entry: MapEntry, expected: string): string | undefined {
  const text = textOf(entry.value);
  if (text !== undefined && !text.includes('\0')) return text.trim();
  const fix = `Write a text in quotes, for example \`${entry.key}: 'What it is for'\`.`;
  return warn(reader, entry, text === undefined ? expected : 'a text without NUL', fix);
}

/** An unreadable text for agents must not keep a server from starting. */
function warn(reader: EntryReader, entry: MapEntry, expected: string, fix: string): undefined {
  const given = { what: `\`${entry.key}\``, expected, found: describe(entry.value), fix };
  return reader.report('wrong-type', entry, { ...given, severity: 'warning' });
}

function readSections(reader: EntryReader, entry: MapEntry | undefined): string[] {
  if (!entry || isEmpty(entry.value)) return [];
  const { value } = entry;
  const section = (
    title: string | undefined,
    content: ValueNode | undefined,
  ): string | undefined => {
    const text = textOf(content);
    return title === undefined || text === undefined
      ? undefined
      : `## ${title.trim()}\n\n${text.trim()}`;
  };
  const sections =
    value.kind === 'map'
      ? [...value.entries.values()].map((one) => section(one.key, one.value))
      : value.kind === 'list'
        ? value.items.map((item) =>
            section(textOf(valueIn(item, 'title')), valueIn(item, 'content')),
          )
        : [undefined];
  const whole = sections.filter((one) => one !== undefined);
  if (whole.length === sections.length) return whole;
  const fix = 'Write a map from titles to texts, or a list of `{ title, content }`.';
  return warn(reader, entry, 'titles with texts', fix) ?? [];
}

/** A server has fewer tools, and a tool fewer arguments. */
const mostEntries = 1_000;

function readOverrides(
  reader: EntryReader,
  entry: MapEntry | undefined,
): ReadonlyMap<string, ToolOverride> {
  const example =
    'Write a map, for example `override: { create_issue: { description: Opens an issue. } }`.';
  return namedTables(reader, entry, example, readTool);
}

function namedTables<Value>(
  reader: EntryReader,
  entry: MapEntry | undefined,
  fix: string,
  read: (reader: EntryReader, entry: MapEntry, map: MapNode) => Value | undefined,
): ReadonlyMap<string, Value> {
  const entries = [...reader.freeTable(entry, fix).values()];
  if (entry && entries.length > mostEntries) {
    reader.wrong(
      entry,
      `a map of at most ${mostEntries} names`,
      fix,
      entries.length.toLocaleString('en-US'),
    );
    return new Map();
  }
  const values = entries.flatMap((one) => {
    // All of it may be commented out.
    if (isEmpty(one.value)) return [];
    const value =
      one.value.kind === 'map' ? read(reader, one, one.value) : reader.wrong(one, 'a map', fix);
    return value === undefined ? [] : [[one.key, value] as const];
  });
  return new Map(values);
}

function readTool(reader: EntryReader, entry: MapEntry, map: MapNode): ToolOverride | undefined {
  const entries = reader.knownEntries('toolOverride', map, reader.places.key(entry));
  const said = entries.get('description');
  const description = reader.string(
    said,
    "Write a text in quotes, for example `description: 'Opens an issue.'`.",
  );
  if (said && description !== undefined && description.length > longestManual) {
    const expected = `a text of at most ${longestManual.toLocaleString('en-US')} characters`;
    return reader.wrong(said, expected, 'Shorten it.', description.length.toLocaleString('en-US'));
  }
  const example = 'Write a map, for example `arguments: { repo: { fixed: acme/app } }`.';
  const given = namedTables(reader, entries.get('arguments'), example, readArgument);
  return { ...(description !== undefined && { description }), arguments: given };
}

function readArgument(
  reader: EntryReader,
  entry: MapEntry,
  map: MapNode,
): ArgumentOverride | undefined {
  const entries = reader.knownEntries('argumentOverride', map, reader.places.key(entry));
  const [fixed, byDefault, allow] = ['fixed', 'default', 'allow'].map((key) => entries.get(key));
  const fix = `Write \`${entry.key}: { fixed: … }\`, or \`default\` and \`allow\`.`;
  if (fixed && (byDefault ?? allow)) {
    return reader.wrong(
      entry,
      '`fixed` alone, or `default` and `allow`',
      fix,
      '`fixed` and another key',
    );
  }
  const patterns = readAllowed(reader, allow);
  if (!fixed && !byDefault && !allow) {
    return reader.missing(entries, ['fixed', 'default', 'allow'], () => {
      const given = { what: `\`${entry.key}\``, expected: '`fixed`, `default` or `allow`', fix };
      return problemOf('wrong-type', reader.places.value(entry), {
        ...given,
        found: describe(entry.value),
      });
    });
  }
  for (const given of [fixed, byDefault]) if (given) noteLosses(reader, given);
  return {
    ...(fixed && { fixed: { value: plainValue(fixed.value) } }),
    ...(byDefault && { default: { value: plainValue(byDefault.value) } }),
    ...(patterns && { allow: patterns }),
  };
}

/** Notes the parts of a value that a call could not send as they are written. */
function noteLosses(reader: EntryReader, given: MapEntry, seen = new Set<ValueNode>()): void {
  const { value: node } = given;
  if (seen.has(node)) return;
  seen.add(node);
  if (node.kind === 'map') {
    reader.noteDuplicates(node);
    for (const entry of node.entries.values()) noteLosses(reader, entry, seen);
  } else if (node.kind === 'list') {
    for (const value of node.items) noteLosses(reader, { ...given, value }, seen);
  } else if (
    typeof node.value === 'number' &&
    !(Number.isFinite(node.value) && roundingError(node.source) === undefined)
  ) {
    reader.wrong(
      given,
      'a number that JSON can hold',
      'Write it in quotes, if the server takes a text.',
    );
  }
}

/** An empty list would allow nothing, and a blank pattern too. */
function readAllowed(
  reader: EntryReader,
  entry: MapEntry | undefined,
): readonly string[] | undefined {
  if (!entry) return undefined;
  const fix = "Write a list of patterns, for example `allow: ['bug', 'area-*']`.";
  const patterns = reader.texts(entry, 'A pattern of `allow`', fix);
  const { value } = entry;
  const blank = patterns?.findIndex((pattern) => pattern.trim() === '') ?? -1;
  if (patterns && patterns.length > 0 && blank < 0) return patterns;
  if (!patterns && !isEmpty(value)) return undefined;
  const item = value.kind === 'list' ? value.items[blank] : undefined;
  return item
    ? reader.wrong(
        { ...entry, value: item },
        'a text that is not blank',
        fix,
        'another',
        'A pattern of `allow`',
      )
    : reader.wrong(entry, 'a list of patterns', fix, 'one that allows nothing');
}
