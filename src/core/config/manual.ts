/**
 * Reads `manual`, the text about a toolset that a file shared with Dominds may hold, as one text for agents. Where it is
 * in files of its own (`contentFile`), it is left to the program that reads those.
 */
import { textOf, type MapEntry, type ValueNode } from '../yaml/valueNodes.js';
import { describe, type EntryReader } from './entryReader.js';
import * as problems from './problems.js';

/** The limit in characters. Instructions are part of every request of a model. */
const longestManual = 20_000;

export function readManual(reader: EntryReader, entry: MapEntry | undefined): string | undefined {
  const entries = reader.table('manual', entry, "Write a map, for example `manual: { content: 'What it is for' }`.");
  const content = reader.string(entries.get('content'), "Write a text in quotes, for example `content: '…'`.")?.trim();
  const parts = [...(content ? [content] : []), ...readSections(reader, entries.get('sections'))];
  return parts.length === 0 ? undefined : parts.join('\n\n').slice(0, longestManual);
}

function readSections(reader: EntryReader, entry: MapEntry | undefined): string[] {
  if (!entry) return [];
  const wrong = (): string[] => {
    const fix = 'Write a map from titles to texts, or a list of `{ title, content }`.';
    const expected = 'titles with texts';
    // A text that agents do not get keeps no server from starting.
    reader.note({
      ...problems.wrongType(reader.atValue(entry), '`sections`', expected, describe(entry.value), fix),
      severity: 'warning',
    });
    return [];
  };
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
  return whole.length < sections.length ? wrong() : whole;
}
