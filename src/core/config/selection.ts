/** What of a server is published and under which names, as written: filters and transforms (spec N1 to N3). */
import { describe, describeKind, type Entries, type EntryReader } from './entryReader.js';
import type { NameFilter, Transform } from './model.js';
import * as problems from './problems.js';
import type { YamlEntry, YamlNode, YamlTable } from './yamlTree.js';

export interface ReadFilter {
  readonly filter: NameFilter;
  /** What else stands beside the patterns. */
  readonly entries: Entries;
}

export function readFilter(
  reader: EntryReader,
  level: 'tools' | 'prompts' | 'resources',
  entry: YamlEntry | undefined,
): ReadFilter {
  const entries = reader.table(level, entry, `Write a map, for example \`${level}: { whitelist: ['browser_*'] }\`.`);
  return {
    filter: {
      whitelist: readPatterns(reader, entries.get('whitelist')),
      blacklist: readPatterns(reader, entries.get('blacklist')),
    },
    entries,
  };
}

function readPatterns(reader: EntryReader, entry: YamlEntry | undefined): readonly string[] {
  if (!entry) return [];
  const fix = `Write a list of patterns, for example \`${entry.key}: ['browser_*']\`.`;
  return reader.texts(entry, `A pattern of \`${entry.key}\``, fix) ?? [];
}

export function readTransform(reader: EntryReader, entry: YamlEntry | undefined): readonly Transform[] {
  const list = reader.list(entry, "Write a list, for example `transform: [{ prefix: 'my_' }]`.");
  if (!entry || !list) return [];
  return list.items.map((item) => readStep(reader, entry, item)).filter((step) => step !== undefined);
}

const stepFix = "Write `- prefix: 'my_'`, `- prefix: { remove: 'old_', add: 'my_' }` or `- suffix: '_v2'`.";

function readStep(reader: EntryReader, list: YamlEntry, item: YamlNode): Transform | undefined {
  const place = reader.places.item(list, item);
  const wrong = (found: string): undefined =>
    reader.note(
      problems.wrongType(
        reader.spot(place),
        'An item of `transform`',
        'a map with `prefix` or `suffix`',
        found,
        stepFix,
      ),
    );
  if (item.kind !== 'map') return wrong(describe(item));
  const entries = reader.knownEntries('transformItem', item, place);
  const prefix = entries.get('prefix');
  const suffix = entries.get('suffix');
  if (prefix && suffix) return wrong('both; their order counts, so each is an item of its own');
  if (prefix) return readPrefix(reader, prefix);
  if (!suffix) return wrong(entries.size === 0 ? 'an empty map' : 'neither');
  const add = readAddition(reader, suffix);
  return add === undefined ? undefined : { kind: 'suffix', add };
}

function readPrefix(reader: EntryReader, entry: YamlEntry): Transform | undefined {
  if (entry.value.kind === 'map') return readReplacement(reader, entry, entry.value);
  const add = readAddition(reader, entry);
  return add === undefined ? undefined : { kind: 'prefix', add };
}

function readReplacement(reader: EntryReader, entry: YamlEntry, map: YamlTable): Transform | undefined {
  const entries = reader.knownEntries('replacePrefix', map, reader.places.key(entry));
  const part = (key: 'remove' | 'add'): string | undefined => {
    const found = entries.get(key);
    if (found) return readAddition(reader, found);
    return reader.note(problems.missingKey(reader.atKey(entry), '`prefix`', key, `${key}: ''`));
  };
  const remove = part('remove');
  const add = part('add');
  return remove === undefined || add === undefined ? undefined : { kind: 'replacePrefix', remove, add };
}

function readAddition(reader: EntryReader, entry: YamlEntry): string | undefined {
  const text = reader.writtenText(entry.value);
  if (text !== undefined) return text;
  const fix = `Write a text in quotes, for example \`${entry.key}: 'my_'\`.`;
  return reader.note(
    problems.wrongType(reader.atValue(entry), `\`${entry.key}\``, 'a text', describeKind(entry.value), fix),
  );
}
