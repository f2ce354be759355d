/**
 * Reads the view of an entry: filters and transforms (N1, N3). Its changes restart nothing.
 * `contentFile` is left to Dominds.
 */
import { english } from '../../base/language.js';
import { problemOf } from '../../base/problemOf.js';
import { defaultTimeouts } from '../durations.js';
import { describe, type EntryReader } from './entryReader.js';
import type { ArgumentOverride, NameFilter, ToolOverride, Transform } from '../model.js';
import type { ServerView } from '../hash.js';
import { isEmpty, textOf, valueIn, type MapEntry, type ValueNode } from '../../yaml/valueNodes.js';
import { longestProse, Table } from './shapes.js';

export function readView(server: Table<'server'>): ServerView {
  const tools = server.table('tools');
  const overrides = tools.named('override', 'toolOverride', readTool);
  const prompts = server.table('prompts');
  const resources = server.table('resources');
  const mimeTypes = resources.read('mimeTypes');
  return {
    tools: readFilter(tools),
    transform: readToolTransform(server, tools),
    overrides: overrides.size > 0 ? overrides : undefined,
    prompts: { filter: readFilter(prompts), transform: prompts.read('transform') ?? [] },
    resources: {
      ...readFilter(resources),
      mimeTypes: mimeTypes?.length === 0 ? undefined : mimeTypes,
      maxBytes: resources.read('maxBytes'),
    },
    manual: readManual(server.reader, server.entry('manual')),
    timeouts: { ...defaultTimeouts, ...server.table('timeouts').all() },
    start: server.read('start'),
    spare: server.read('spare'),
  };
}

function readFilter(selection: Table<'tools' | 'prompts' | 'resources'>): NameFilter {
  return {
    whitelist: selection.read('whitelist') ?? [],
    blacklist: selection.read('blacklist') ?? [],
  };
}

/**
 * Reads the steps for tools. `tools.transform` replaces the server's own steps, even if it is an
 * empty list.
 */
function readToolTransform(server: Table<'server'>, tools: Table<'tools'>): readonly Transform[] {
  const steps = server.read('transform') ?? [];
  const ofServer = server.entry('transform');
  const ofTools = tools.entry('transform');
  if (!ofTools || isEmpty(ofTools.value)) return steps;
  const { reader } = server;
  if (ofServer && steps.length > 0)
    reader.report('key-not-used:replaced', reader.places.key(ofServer), {});
  return tools.read('transform') ?? [];
}

function readManual(reader: EntryReader, entry: MapEntry | undefined): string | undefined {
  if (!entry || isEmpty(entry.value)) return undefined;
  if (entry.value.kind !== 'map')
    return readText(reader, entry, 'a text or a map')?.slice(0, longestProse) || undefined;
  const manual = new Table(reader, 'manual', entry.value, reader.places.key(entry));
  const content = manual.entry('content');
  const text = content && readText(reader, content, 'a text');
  const parts = [text, ...readSections(reader, manual.entry('sections'))];
  return parts.filter(Boolean).join('\n\n').slice(0, longestProse) || undefined;
}

function readText(reader: EntryReader, entry: MapEntry, expected: string): string | undefined {
  const text = textOf(entry.value);
  if (text !== undefined && !text.includes('\0')) return text.trim();
  const fix = english`Write a text in quotes, for example \`${entry.key}: 'What it is for'\`.`;
  return warn(reader, entry, text === undefined ? expected : 'a text without NUL', fix);
}

/** An unreadable text for agents must not keep a server from starting. */
function warn(reader: EntryReader, entry: MapEntry, expected: string, fix: string): undefined {
  const what = `\`${entry.key}\``;
  const found = describe(entry.value);
  return reader.report('wrong-type', entry, {
    what,
    expected,
    found,
    fix,
    severity: 'warning',
  });
}

function readSections(reader: EntryReader, entry: MapEntry | undefined): string[] {
  if (!entry || isEmpty(entry.value)) return [];
  const sections = sectionsOf(entry.value);
  const whole = sections.filter((one) => one !== undefined);
  if (whole.length === sections.length) return whole;
  const fix = 'Write a map from titles to texts, or a list of `{ title, content }`.';
  return warn(reader, entry, 'titles with texts', fix) ?? [];
}

function sectionsOf(node: ValueNode): (string | undefined)[] {
  switch (node.kind) {
    case 'map':
      return [...node.entries.values()].map(({ key, value }) => section(key, value));
    case 'list':
      return node.items.map((item) =>
        section(textOf(valueIn(item, 'title')), valueIn(item, 'content')),
      );
    case 'scalar':
      return [undefined];
  }
}

function section(title: string | undefined, content: ValueNode | undefined): string | undefined {
  const text = textOf(content);
  if (title === undefined || text === undefined) return undefined;
  return `## ${title.trim()}\n\n${text.trim()}`;
}

function readTool(tool: Table<'toolOverride'>): ToolOverride {
  const description = tool.read('description');
  return {
    description,
    arguments: tool.named('arguments', 'argumentOverride', readArgument),
  };
}

function readArgument(
  argument: Table<'argumentOverride'>,
  entry: MapEntry,
): ArgumentOverride | undefined {
  const { reader } = argument;
  const fix = `Write \`${entry.key}: { fixed: … }\`, or \`default\` and \`allow\`.`;
  const isFree = argument.entry('default') || argument.entry('allow');
  if (argument.entry('fixed') && isFree) {
    const expected = '`fixed` alone, or `default` and `allow`';
    return reader.wrong(entry, expected, fix, '`fixed` and another key');
  }
  if (argument.entry('fixed') || isFree) return argument.all();
  return argument.missing(['fixed', 'default', 'allow'], () =>
    problemOf('wrong-type', reader.places.value(entry), {
      what: `\`${entry.key}\``,
      expected: '`fixed`, `default` or `allow`',
      found: describe(entry.value),
      fix,
    }),
  );
}
