/**
 * Reads the YAML of a file, and words the errors without quoting the file, because a quotation may
 * be a secret.
 */
import { english } from '../../base/language.js';
import { withoutMark } from '../../base/byteOrderMark.js';
import type { Problem } from '../../base/problem.js';
import { problemOf } from '../../base/problemOf.js';
import { nearest } from '../../base/nearest.js';
import { clipped } from '../../base/text.js';
import { FilePlaces } from './places.js';
import { shortened } from '../problems.js';
import type { Span } from '../../yaml/textPositions.js';
import { valueIn, type MapEntry, type ValueNode } from '../../yaml/valueNodes.js';
import type { YamlError } from '../../yaml/yamlDocument.js';
import { readYaml } from '../../yaml/yamlTree.js';

const mostShown = 10;

interface YamlFile {
  readonly places: FilePlaces;
  /** Undefined for a text with errors. */
  readonly root: ValueNode | undefined;
  readonly problems: readonly Problem[];
}

export function readYamlFile(file: string, written: string): YamlFile {
  // Editors keep the mark out of the document, so positions are counted without it.
  const text = withoutMark(written);
  const places = new FilePlaces(file, text);
  const { errors, warnings, root } = readYaml(text);
  const found = withoutConsequences(errors).slice(0, mostShown);
  const wrong = (span: Span, words: Words): Problem =>
    problemOf('yaml-syntax', places.visible(span), words);
  const keys = errors.length > 0 ? [] : keysBehindNoBreakSpace(root).slice(0, mostShown);
  const problems = [
    ...found.map((error) => wrong(error.span, visibleCause(error, text) ?? words(error))),
    ...keys.map(({ keySpan }) => wrong(keySpan, noBreakSpace)),
    ...warnings.map((warning) => yamlWarning(places, warning)),
  ];
  return {
    places,
    root: errors.length + keys.length > 0 ? undefined : root,
    problems,
  };
}

/**
 * Leaves out the consequences of an earlier error: behind a lost structure, everything looks wrong.
 */
function withoutConsequences(errors: readonly YamlError[]): readonly YamlError[] {
  const firstOfStructure = errors.find(ofStructure);
  return errors.filter((error) => error === firstOfStructure || !ofStructure(error));
}

function ofStructure({ kind, ...rest }: YamlError): boolean {
  return (
    kind === 'syntax' && 'id' in rest && rest.id !== 'BAD_DQ_ESCAPE' && rest.id !== 'BAD_ALIAS'
  );
}

function yamlWarning(places: FilePlaces, error: YamlError): Problem {
  const said =
    error.kind === 'syntax'
      ? asClause(withoutQuotation(error.id, error.message))
      : words(error).said;
  return problemOf('yaml-syntax:ignored', places.place(error.span), { said });
}

type Words = Readonly<Record<'said' | 'fix', string>>;

const say = (said: string, fix: string): Words => ({ said, fix });

const quotePattern = "Put a text that begins with `*` in quotes, for example `'*_unsafe'`.";

function words(error: YamlError): Words {
  switch (error.kind) {
    case 'severalDocuments':
      return say(
        'The file holds more than one YAML document.',
        'Keep one document: remove the line `---` or `...` between them.',
      );
    case 'aliasUnknown': {
      const meant = nearest(error.name, error.known);
      const message =
        'YAML reads a value that begins with `*` as an alias, and no anchor of that name is above it.';
      if (meant === undefined) return say(message, quotePattern);
      return say(
        message,
        english`Write \`*${shortened(meant)}\`, or put the value in quotes if it is not an alias.`,
      );
    }
    case 'aliasOfItself':
      return say(
        english`The alias \`*${shortened(error.name)}\` is inside the anchor \`&${shortened(error.name)}\` that it refers to.`,
        'Refer to an anchor that ends above the alias.',
      );
    case 'aliasesTooMany':
      return say(
        english`The aliases of this file expand to more than ${error.limit.toLocaleString('en-US')} ${error.of === 'nodes' ? 'keys and values' : error.of} together.`,
        'Use fewer aliases of large nodes.',
      );
    case 'aliasesTooDeep':
      return say(
        english`Anchors refer to anchors more than ${error.limit} levels deep.`,
        'Write some of the values out.',
      );
    case 'nestedTooDeep':
      return say(
        english`Lists and maps are nested more than ${error.limit} levels deep.`,
        'Nest them less deeply.',
      );
    case 'tokensTooMany':
      return say(
        english`The file has more than ${error.limit.toLocaleString('en-US')} tokens (keys, values, signs and line breaks).`,
        'Shorten it, or move servers to another source.',
      );
    case 'syntax':
      return libraryWords(error.id, error.message);
  }
}

const noBreakSpace = say(
  'A no-break space or another special blank is in the place of a blank. YAML reads it as a letter.',
  'Write a usual blank. The other looks the same, and often comes with copied text.',
);
/** Blanks that are letters for YAML. */
const otherBlank = '[\\u00a0\\u2000-\\u200b\\u202f\\u3000\\ufeff]';
const beginsWithOtherBlank = new RegExp(`^${otherBlank}`);
const hasOtherBlank = new RegExp(`^ *${otherBlank}|:${otherBlank}`);

/** Returns the keys that YAML puts into another map than the eye does. */
function keysBehindNoBreakSpace(root: ValueNode): MapEntry[] {
  const servers = valueIn(root, 'servers');
  const ofServers =
    servers?.kind === 'map' ? [...servers.entries.values()].map(({ value }) => value) : [];
  return [root, servers, ...ofServers].flatMap((node) =>
    node?.kind === 'map'
      ? [...node.entries.values()].filter(({ key }) => beginsWithOtherBlank.test(key))
      : [],
  );
}

/** A cause is near the beginning of its line, and the time has a bound. */
const longestLine = 1000;

const sameIndentation = 'Indent the keys of one map by the same number of spaces.';

/** Returns the cause if the line shows it. The library reports what the cause leads to. */
function visibleCause(error: YamlError, text: string): Words | undefined {
  if (error.kind !== 'syntax') return undefined;
  const { start } = error.span;
  const lineStart =
    Math.max(text.lastIndexOf('\n', start - 1), text.lastIndexOf('\r', start - 1)) + 1;
  const [line = ''] = text.slice(lineStart, lineStart + longestLine).split(/[\r\n]/, 1);
  const rest = line.slice(start - lineStart);
  if (/^(?:<{7}|={7}|>{7}|\|{7})(?:\s|$)/.test(line)) {
    return say(
      'Not valid YAML: the file has the marks of a merge conflict.',
      'Keep one of the two versions, and remove the lines that begin with `<<<<<<<`, `=======` and `>>>>>>>`.',
    );
  }
  if (hasOtherBlank.test(line)) return noBreakSpace;
  const isImplicitKey =
    error.id === 'MISSING_CHAR' && error.message.startsWith('Implicit map keys');
  const isUnfinishedKey = isImplicitKey || error.id === 'MULTILINE_IMPLICIT_KEY';
  if (isUnfinishedKey && /^\s*(?:- +)?["']?[\w.-]+["']?:(?!\/\/)\S/.test(line)) {
    return say(
      'Not valid YAML: a blank is missing after the `:`.',
      'Write a blank, for example `version: 1`.',
    );
  }
  if (error.id === 'BLOCK_AS_IMPLICIT_KEY' && !/:(?:\s|$)/.test(rest)) {
    return say(
      'Not valid YAML: the line below is indented more deeply than this key.',
      sameIndentation,
    );
  }
  return undefined;
}

const quoteText = 'Put a text that holds `: ` or begins with a special character in quotes.';

/** The next step for an error of the library, and a better message than its own. */
const byId: Readonly<Record<string, readonly [fix: string, message?: string]>> = {
  TAB_AS_INDENT: ['Indent with spaces.', 'Not valid YAML: a tab is used as indentation.'],
  BAD_ALIAS: [quotePattern],
  BAD_INDENT: [sameIndentation],
  MISSING_CHAR: ['Add the missing character, or put a text with special characters in quotes.'],
  MULTILINE_IMPLICIT_KEY: [
    'Write `:` and a value after the key.',
    'Not valid YAML: a key has no `:` behind it.',
  ],
  BAD_DQ_ESCAPE: [
    'Write each backslash twice, or use single quotes, which keep backslashes as they are.',
  ],
  TAG_RESOLVE_FAILED: [quoteText],
  BAD_SCALAR_START: [quoteText],
  BLOCK_AS_IMPLICIT_KEY: [quoteText],
  RESOURCE_EXHAUSTION: ['Nest them less deeply.', 'Lists and maps are nested too deeply.'],
};

const bySaid: readonly (readonly [string, string])[] = [
  ['end with', 'Close the bracket that is opened above before this line.'],
  ['Implicit map keys', 'Write `:` and a value after the key.'],
  ['Missing closing', 'Close the quote that is opened above.'],
];

function libraryWords(id: string, said: string): Words {
  const own = english`Not valid YAML: ${asClause(withoutQuotation(id, said))}.`;
  const [fix, message = own] = byId[id] ?? ['Correct the YAML at this place.'];
  const isVague = id === 'BAD_INDENT' || id === 'MISSING_CHAR';
  return say(message, (isVague && bySaid.find(([words]) => said.includes(words))?.[1]) || fix);
}

/** The library quotes the file in some messages. */
function withoutQuotation(id: string, said: string): string {
  if (id === 'UNEXPECTED_TOKEN') return said.replace(/: [^]*$/, '');
  if (id === 'BAD_DQ_ESCAPE') return said.replace(/(?<=\\.)[^]*$/, '');
  if (id !== 'TAG_RESOLVE_FAILED') return said;
  return 'a value that begins with `!` is read as a tag, and this tag is unknown';
}

function asClause(said: string): string {
  return clipped(
    said.charAt(0).toLowerCase() + said.slice(1).replace(/(?<![.:\s])[.:\s]+$/, ''),
    200,
  );
}
