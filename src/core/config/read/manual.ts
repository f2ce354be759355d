/**
 * Reads `manual`, the text about a toolset in a file shared with Dominds, as one text for agents. `contentFile` is left
 * to Dominds.
 */
import { isEmpty, textOf, type MapEntry, type MapNode, type ValueNode } from '../../yaml/valueNodes.js';
import { describe, type EntryReader } from './entryReader.js';
import * as problems from '../problems.js';

/** The limit in characters. Instructions are part of every request of a model. */
const longestManual = 20_000;

export function readManual(reader: EntryReader, entry: MapEntry | undefined): string | undefined {
  if (!entry || isEmpty(entry.value)) return undefined;
  const { value } = entry;
  const parts = value.kind === 'map' ? readParts(reader, entry, value) : [readText(reader, entry, 'a text or a map')];
  return parts.filter(Boolean).join('\n\n').slice(0, longestManual) || undefined;
}

function readParts(reader: EntryReader, entry: MapEntry, map: MapNode): (string | undefined)[] {
  const entries = reader.knownEntries('manual', map, reader.places.key(entry));
  const content = entries.get('content');
  return [content && readText(reader, content, 'a text'), ...readSections(reader, entries.get('sections'))];
}

function readText(reader: EntryReader, entry: MapEntry, expected: string): string | undefined {
  const text = textOf(entry.value);
  if (text !== undefined && !text.includes('\0')) return text.trim();
  return wrong(
    reader,
    entry,
    text === undefined ? expected : 'a text without NUL',
    `Write a text in quotes, for example \`${entry.key}: 'What it is for'\`.`,
  );
}

/** An unreadable text for agents must not keep a server from starting. */
function wrong(reader: EntryReader, entry: MapEntry, expected: string, fix: string): undefined {
  const found = describe(entry.value);
  const problem = problems.wrongType(reader.atValue(entry), `\`${entry.key}\``, expected, found, fix);
  return reader.note({ ...problem, severity: 'warning' });
}

function readSections(reader: EntryReader, entry: MapEntry | undefined): string[] {
  if (!entry) return [];
  const section = (title: ValueNode | string | undefined, content: ValueNode | undefined): string | undefined => {
    const [heading, text] = [typeof title === 'string' ? title : textOf(title), textOf(content)];
    return heading === undefined || text === undefined ? undefined : `## ${heading.trim()}\n\n${text.trim()}`;
  };
  const { value } = entry;
  const sections =
    value.kind === 'map'
      ? [...value.entries.values()].map((one) => section(one.key, one.value))
      : value.kind === 'list'
        ? value.items.map((item) =>
            item.kind === 'map'
              ? section(item.entries.get('title')?.value, item.entries.get('content')?.value)
              : undefined,
          )
        : value.value === null
          ? []
          : [undefined];
  const whole = sections.filter((one) => one !== undefined);
  if (whole.length === sections.length) return whole;
  const fix = 'Write a map from titles to texts, or a list of `{ title, content }`.';
  return wrong(reader, entry, 'titles with texts', fix) ?? [];
}
