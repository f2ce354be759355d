/** Reads a text or a reference (C2). No problem quotes a text, because it may be a secret. */
import { english } from '../../base/language.js';
import type { Place } from '../../base/problem.js';
import { nearest } from '../../base/nearest.js';
import { textOf, type MapEntry, type MapNode, type ValueNode } from '../../yaml/valueNodes.js';
import { describeKind, type EntryReader } from './entryReader.js';
import { keysOf } from '../keys.js';
import { Table } from './shapes.js';
import { everySyntax, foreignReference, type Syntax } from '../foreignReferences.js';
import { literal, type Reference, type ReferenceSource, type Value } from '../model.js';
import { envUnset, referenceNotReplaced, shortened } from '../problems.js';

type NamedSource = Exclude<ReferenceSource, { kind: 'command' }>;
type ReferenceTable = Table<'reference'>;

interface ValuePlace {
  /** For example ``The value of `TOKEN` ``. */
  readonly what: string;
  /** The target of the value in a sentence, for example `` header `X-Key` ``. */
  readonly target: string;
  readonly value: Place;
  readonly key: Place;
}

export function readValue(
  reader: EntryReader,
  entry: MapEntry,
  target = `\`${shortened(entry.key)}\``,
  example = '{ env: NAME }',
): Value | undefined {
  const text = textOf(entry.value);
  if (text !== undefined) {
    reportForeign(reader, entry, text, { target });
    return literal(text);
  }
  const what = english`The value of \`${shortened(entry.key)}\``;
  const at = {
    what,
    target,
    value: reader.places.value(entry),
    key: reader.places.key(entry),
  };
  if (entry.value.kind === 'map') return readReference(reader, entry.value, at);
  const fix = english`Write a text (\`''\` for an empty one) or \`${example}\`.`;
  const expected = 'a text or a map with `env`';
  return reader.wrong(entry, expected, fix, describeKind(entry.value), what);
}

interface Foreign {
  readonly syntaxes?: readonly Syntax[];
  /** The words for a place that takes no reference. */
  readonly instead?: string;
  readonly target?: string;
}

/** Warns about a reference in the form of another program. */
export function reportForeign(
  reader: EntryReader,
  entry: MapEntry,
  text: string,
  { syntaxes = everySyntax, instead, target = `\`${entry.key}\`` }: Foreign = {},
): void {
  const found = foreignReference(text, syntaxes);
  if (!found) return;
  const place = reader.places.value(entry);
  reader.noteWarning(() => referenceNotReplaced(place, target, found, instead));
}

/** True if a map is a reference. An unquoted `key: value` of YAML is a map too. */
export function isReference(node: ValueNode): node is MapNode {
  return node.kind === 'map' && keysOf('reference').some((key) => node.entries.has(key));
}

const sources = ['env', 'secret', 'command'] as const;

export function readReference(
  reader: EntryReader,
  map: MapNode,
  at: ValuePlace,
): Reference | undefined {
  const table = new Table(reader, 'reference', map, at.key);
  const [key, other] = sources.filter((one) => table.entry(one));
  if (key === undefined) return table.missingKey(at.what, 'env: NAME', at.key, sources);
  if (other) return reportSecond(table, at.what, key, other);
  const source = key === 'command' ? readCommandSource(table) : readNamedSource(table, key);
  const prefix = table.entry('prefix') ? table.read('prefix') : '';
  const suffix = table.entry('suffix') ? table.read('suffix') : '';
  const fallback = table.read('default');
  if (source === undefined || prefix === undefined || suffix === undefined) return undefined;
  const reference = {
    kind: 'reference',
    source,
    prefix,
    suffix,
    fallback,
  } as const;
  if (source.kind === 'command') {
    if (table.entry('default')) return reportSecond(table, at.what, 'command', 'default');
    return { ...reference, value: '' };
  }
  const found = presentValue(reader, source) ?? fallback;
  if (found !== undefined) return { ...reference, value: prefix + found + suffix };
  if (reader.starts && !table.entry('default')) return reportUnset(reader, source, at);
  return { ...reference, value: '' };
}

function reportSecond(
  { reader, entries }: ReferenceTable,
  owner: string,
  first: string,
  other: string,
): undefined {
  const entry = entries.get(other);
  const place = entry && reader.places.key(entry);
  return place && reader.report('wrong-type:twoSources', place, { owner, first, other });
}

function presentValue({ deps }: EntryReader, { kind, name }: NamedSource): string | undefined {
  if (kind === 'secret') return deps.secret?.(name);
  return Object.hasOwn(deps.env, name) ? deps.env[name] : undefined;
}

function reportUnset(reader: EntryReader, { kind, name }: NamedSource, at: ValuePlace): undefined {
  const { target, value: place } = at;
  if (kind === 'secret') return reader.report('secret-unset', place, { name, target });
  const { env } = reader.deps;
  const set = Object.keys(env).filter((key) => env[key] !== undefined);
  return reader.note(envUnset(place, name, target, nearest(name, set)));
}

function readNamedSource(
  table: ReferenceTable,
  kind: NamedSource['kind'],
): NamedSource | undefined {
  const name = table.read(kind);
  if (name === undefined) return undefined;
  const isName = kind === 'env' ? isVariableName(name) : isSecretName(name);
  if (isName) return { kind, name };
  const expected = kind === 'secret' ? secretNameRule : 'the name of an environment variable';
  return table.wrong(kind, expected, name === '' ? 'an empty text' : 'another text');
}

/**
 * Windows has names such as `ProgramFiles(x86)`. No program sets a name with blanks at its ends or
 * in the form of a reference.
 */
function isVariableName(name: string): boolean {
  return name !== '' && name === name.trim() && !/[=\0]|^\$|^%.*%$/.test(name);
}

/** Completes “must be …”. */
export const secretNameRule =
  'a name of at most 64 letters, digits, `_`, `.` and `-` that begins with a letter or `_`';

export function isSecretName(name: string): boolean {
  return /^[A-Za-z_][\w.-]{0,63}$/.test(name);
}

function readCommandSource(table: ReferenceTable): ReferenceSource | undefined {
  const written = table.entry('command')?.value;
  if (written?.kind !== 'list')
    return written && table.wrong('command', 'a list', describeKind(written));
  const argv = table.read('command');
  if (argv === undefined) return undefined;
  const [program = '', ...args] = argv;
  if (program.trim() === '') return table.wrong('command', 'a program', 'none');
  return {
    kind: 'command',
    argv: [program, ...args],
    cwd: table.reader.source.folder,
  };
}
