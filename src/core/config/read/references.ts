/** Reads a text or a reference (C2). No problem quotes a text, because it may be a secret. */
import type { Place } from '../../base/problem.js';
import { nearest } from '../../base/nearest.js';
import { textOf, type MapEntry, type MapNode, type ValueNode } from '../../yaml/valueNodes.js';
import { describeKind, type EntryReader } from './entryReader.js';
import { keysOf } from '../keys.js';
import { everySyntax, foreignReference, type Syntax } from '../foreignReferences.js';
import { literal, type Reference, type ReferenceSource, type Value } from '../model.js';
import { envUnset, referenceNotReplaced, shortened } from '../problems.js';

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
    noteForeign(reader, entry, text, everySyntax, undefined, target);
    return literal(text);
  }
  const what = `The value of \`${shortened(entry.key)}\``;
  const at = { what, target, value: reader.places.value(entry), key: reader.places.key(entry) };
  if (entry.value.kind === 'map') return readReference(reader, entry.value, at);
  const fix = `Write a text (\`''\` for an empty one) or \`${example}\`.`;
  const found = describeKind(entry.value);
  return reader.report('wrong-type', at.value, {
    what,
    expected: 'a text or a map with `env`',
    found,
    fix,
  });
}

export function noteForeign(
  reader: EntryReader,
  entry: MapEntry,
  text: string,
  syntaxes: readonly Syntax[],
  instead?: string,
  target = `\`${entry.key}\``,
): void {
  const found = foreignReference(text, syntaxes);
  if (found)
    reader.noteWarning(() =>
      referenceNotReplaced(reader.places.value(entry), target, found, instead),
    );
}

/** True if a map is a reference. An unquoted `key: value` of YAML is a map too. */
export function isReference(node: ValueNode): node is MapNode {
  return node.kind === 'map' && keysOf('reference').some((key) => node.entries.has(key));
}

export function readReference(
  reader: EntryReader,
  map: MapNode,
  at: ValuePlace,
): Reference | undefined {
  const entries = reader.knownEntries('reference', map, at.key);
  const sources = ['env', 'secret', 'command'];
  const [written, other] = sources.flatMap((key) => entries.get(key) ?? []);
  if (!written) return reader.missingKey(entries, at.key, at.what, 'env', 'env: NAME', sources);
  const twoSources = (first: string, second: MapEntry): undefined =>
    reader.report('wrong-type:twoSources', reader.places.key(second), {
      owner: at.what,
      first,
      other: second.key,
    });
  if (other) return twoSources(written.key, other);
  const source = readSource(reader, written);
  const affix = (key: string, otherwise: string | undefined): string | undefined => {
    const entry = entries.get(key);
    return entry ? reader.string(entry, 'Write a text in quotes.', 'secret') : otherwise;
  };
  const prefix = affix('prefix', '');
  const suffix = affix('suffix', '');
  const fallback = affix('default', undefined);
  if (source === undefined || prefix === undefined || suffix === undefined) return undefined;
  const reference = { kind: 'reference', source, prefix, suffix, fallback } as const;
  if (source.kind === 'command') {
    const meaningless = entries.get('default');
    if (meaningless) return twoSources('command', meaningless);
    return { ...reference, value: '' };
  }
  const { env, secret } = reader.deps;
  const { name } = source;
  const present =
    source.kind === 'secret' ? secret?.(name) : Object.hasOwn(env, name) ? env[name] : undefined;
  const found = present ?? fallback;
  if (found !== undefined) return { ...reference, value: prefix + found + suffix };
  if (!reader.starts || entries.has('default')) return { ...reference, value: '' };
  if (source.kind === 'secret')
    return reader.report('secret-unset', at.value, { name, target: at.target });
  const set = Object.keys(env).filter((key) => env[key] !== undefined);
  return reader.note(envUnset(at.value, name, at.target, nearest(name, set)));
}

function readSource(reader: EntryReader, entry: MapEntry): ReferenceSource | undefined {
  if (entry.key === 'command') return readCommandSource(reader, entry);
  const kind = entry.key === 'secret' ? 'secret' : 'env';
  const secretFix =
    'Write a name for the secret, for example `secret: GITHUB_TOKEN`, and not the secret itself.';
  const fix = kind === 'secret' ? secretFix : 'Write the name alone, for example `env: HOME`.';
  const name = reader.string(entry, fix, 'secret');
  if (name === undefined) return undefined;
  if (kind === 'env' ? isVariableName(name) : isSecretName(name)) return { kind, name };
  const expected = kind === 'secret' ? secretNameRule : 'the name of an environment variable';
  return reader.wrong(entry, expected, fix, name === '' ? 'an empty text' : 'another text');
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

function readCommandSource(reader: EntryReader, entry: MapEntry): ReferenceSource | undefined {
  const fix =
    "Write the program and its arguments as a list, for example `command: ['op', 'read', 'op://vault/item']`.";
  if (entry.value.kind !== 'list')
    return reader.wrong(entry, 'a list', fix, describeKind(entry.value));
  const argv = reader.texts(entry, 'An item of `command`', fix);
  if (argv === undefined) return undefined;
  const [program = '', ...args] = argv;
  if (program.trim() !== '')
    return { kind: 'command', argv: [program, ...args], cwd: reader.source.folder };
  return reader.wrong(entry, 'a program', fix, 'none');
}
