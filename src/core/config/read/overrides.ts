/** Reads `tools.override` (O1–O6): descriptions and arguments of single tools. A wrong part makes the entry unusable (C4). */
import type { ArgumentOverride, ToolOverride, ToolOverrides } from '../model.js';
import { isEmpty, plainValue, type MapEntry, type MapNode } from '../../yaml/valueNodes.js';
import { describe, type EntryReader } from './entryReader.js';
import { longestManual } from './view.js';

/** A server has fewer tools, and a tool fewer arguments. */
const mostEntries = 1_000;

export function readOverrides(reader: EntryReader, entry: MapEntry | undefined): ToolOverrides {
  const example = 'Write a map, for example `override: { create_issue: { description: Opens an issue. } }`.';
  return namedTables(reader, entry, example, (one, map) => readTool(reader, one, map));
}

function namedTables<Value>(
  reader: EntryReader,
  entry: MapEntry | undefined,
  fix: string,
  read: (entry: MapEntry, map: MapNode) => Value | undefined,
): ReadonlyMap<string, Value> {
  const entries = [...reader.freeTable(entry, fix).values()];
  if (entry && entries.length > mostEntries) {
    reader.wrong(entry, `a map of at most ${mostEntries} names`, fix, entries.length.toLocaleString('en-US'));
    return new Map();
  }
  const values = entries.flatMap((one) => {
    // All of it may be commented out.
    if (isEmpty(one.value)) return [];
    const value = one.value.kind === 'map' ? read(one, one.value) : reader.wrong(one, 'a map', fix);
    return value === undefined ? [] : [[one.key, value] as const];
  });
  return new Map(values);
}

function readTool(reader: EntryReader, entry: MapEntry, map: MapNode): ToolOverride | undefined {
  const entries = reader.knownEntries('toolOverride', map, reader.places.key(entry));
  const said = entries.get('description');
  const description = reader.string(said, "Write a text in quotes, for example `description: 'Opens an issue.'`.");
  if (said && description !== undefined && description.length > longestManual) {
    const expected = `a text of at most ${longestManual.toLocaleString('en-US')} characters`;
    return reader.wrong(said, expected, 'Shorten it.', description.length.toLocaleString('en-US'));
  }
  const example = 'Write a map, for example `arguments: { repo: { fixed: acme/app } }`.';
  const given = namedTables(reader, entries.get('arguments'), example, (one, table) =>
    readArgument(reader, one, table),
  );
  return { ...(description !== undefined && { description }), arguments: given };
}

function readArgument(reader: EntryReader, entry: MapEntry, map: MapNode): ArgumentOverride | undefined {
  const entries = reader.knownEntries('argumentOverride', map, reader.places.key(entry));
  const [fixed, byDefault, allow] = ['fixed', 'default', 'allow'].map((key) => entries.get(key));
  const fix = `Write \`${entry.key}: { fixed: … }\`, or \`default\` and \`allow\`.`;
  if (fixed && (byDefault ?? allow)) {
    return reader.wrong(entry, '`fixed` alone, or `default` and `allow`', fix, '`fixed` and another key');
  }
  const patterns = readAllowed(reader, allow);
  if (!fixed && !byDefault && !allow) {
    return reader.missing(entries, ['fixed', 'default', 'allow'], () =>
      reader.wrongType(entry, '`fixed`, `default` or `allow`', describe(entry.value), fix),
    );
  }
  return {
    ...(fixed && { fixed: { value: plainValue(fixed.value) } }),
    ...(byDefault && { default: { value: plainValue(byDefault.value) } }),
    ...(patterns && { allow: patterns }),
  };
}

/** An empty list would allow nothing, and a blank pattern too. */
function readAllowed(reader: EntryReader, entry: MapEntry | undefined): readonly string[] | undefined {
  if (!entry) return undefined;
  const fix = "Write a list of patterns, for example `allow: ['bug', 'area-*']`.";
  const patterns = reader.texts(entry, 'A pattern of `allow`', fix);
  if (patterns?.every((pattern) => pattern.trim() !== '') && patterns.length > 0) return patterns;
  return patterns || isEmpty(entry.value)
    ? reader.wrong(entry, 'a list of patterns', fix, 'one that allows nothing')
    : undefined;
}
