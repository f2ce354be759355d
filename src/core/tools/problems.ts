/** Makes the problems of filtering and naming (N2, N4, G3a). */
import { counted, english } from '../base/language.js';
import type { Place, Problem, Severity } from '../base/problem.js';
import { groupedBy } from '../base/groupedBy.js';
import { problemOf } from '../base/problemOf.js';
import { clipped, shortList } from '../base/text.js';
import type { ServerPlaces } from '../config/model.js';
import { longestMatched, nameRule } from './names.js';
import type { OverrideFault } from './override.js';
import type { IdlePattern } from './patterns.js';

export type At = { readonly server: string; readonly places: ServerPlaces };

export type FilteredToolsReport = Exclude<Severity, 'error'> | 'off';

type ListKind = 'tools' | 'prompts' | 'resources';

export type NamesKeptOut = Readonly<Record<'whitelist' | 'blacklist', string[]>>;

/** The most problems with one code for one server. The last one has the number of the rest. */
const mostOfEach = 500;

export function fewOfEach(problems: readonly Problem[]): readonly Problem[] {
  const ends = new Map<Problem, Problem | undefined>();
  for (const group of groupedBy(problems, ({ code, server }) => `${code} ${server}`).values()) {
    const [last, ...left] = group.slice(mostOfEach - 1);
    if (!last || left.length === 0) continue;
    ends.set(last, {
      ...last,
      message: english`${last.message} The same is true of ${left.length} more.`,
    });
    for (const problem of left) ends.set(problem, undefined);
  }
  return problems.flatMap((problem) => (ends.has(problem) ? (ends.get(problem) ?? []) : [problem]));
}

export function patternWithoutEffect(at: At, of: ListKind, idle: IdlePattern): Problem {
  const { index, text: pattern } = idle.pattern;
  const place = at.places.value([of, idle.list, index]);
  if (idle.kind === 'overruled') {
    const whitelist = [...new Set(idle.by.map((each) => `"${each.text}"`))];
    const by = shortList(whitelist, 5);
    const matched = shortList(idle.matched, 12);
    return problemOf('pattern-overruled', at, {
      pattern,
      of,
      by,
      matched,
      place,
    });
  }
  const against = of === 'resources' ? 'URIs' : 'original names';
  return problemOf('pattern-matches-nothing', at, {
    pattern,
    of,
    against,
    place,
  });
}

export function keptOut(
  at: At,
  of: ListKind,
  out: NamesKeptOut,
  severity: FilteredToolsReport,
): Problem[] {
  if (severity === 'off') return [];
  return (['whitelist', 'blacklist'] as const).flatMap((list) => {
    const names = out[list];
    if (names.length === 0) return [];
    const count = counts[of](names.length);
    const place = at.places.keyAt([of, list]);
    const given = {
      list,
      count,
      names: shortList(names, 12),
      severity,
      place,
    };
    return [problemOf('filtered-tools', at, given)];
  });
}

const counts: Readonly<Record<ListKind, (count: number) => string>> = {
  tools: (count) => counted(count, '{0} tool', '{0} tools'),
  prompts: (count) => counted(count, '{0} prompt', '{0} prompts'),
  resources: (count) => counted(count, '{0} resource', '{0} resources'),
};

function ruleBroken(name: string): string {
  const bad = [...new Set(name.replace(/[a-zA-Z0-9_-]/g, ''))].map((character) =>
    JSON.stringify(character),
  );
  const causes = [
    ...(name.length === 0 ? ['it is empty'] : []),
    ...(name.length > 64
      ? [english`it has ${name.length} characters; at most 64 are allowed`]
      : []),
    ...(bad.length > 0 ? [english`${bad.slice(0, 5).join(', ')} is not allowed`] : []),
  ];
  const all = causes.reduce((before, cause) => english`${before}; ${cause}`);
  return english`${all} (rule ${nameRule}, length ${name.length})`;
}

export function shown(name: string): string {
  return clipped(name, 100);
}

export function toolNameInvalid(at: At, name: string): Problem {
  const given = { name: shown(name), why: ruleBroken(name) };
  const isShort = name.length <= longestMatched;
  return problemOf('tool-name-invalid', at, isShort ? { ...given, tool: name } : given);
}

export function publishedNameInvalid(at: At, tool: string, published: string): Problem {
  const place = at.places.keyAt(['transform']);
  const why = ruleBroken(published);
  return problemOf('published-name-invalid', at, {
    tool,
    published: shown(published),
    why,
    place,
  });
}

function named(names: readonly string[]): string {
  const quoted = shortList(
    names.map((name) => `"${name}"`),
    12,
  );
  return names.length === 1 ? english`tool ${quoted}` : english`tools ${quoted}`;
}

interface Holder {
  readonly holder: string;
  /** Undefined if it does not run. */
  readonly place: Place | undefined;
  /**
   * The names are new since the approval of the other server, and in the baseline of the holder
   * (N5b).
   */
  readonly isNew: boolean;
}

export function nameTaken(
  at: At,
  names: readonly string[],
  { holder, place, isNew }: Holder,
): Problem {
  const [tools, had, has] =
    names.length === 1
      ? [
          'the tool',
          english`it is new since you let it start, and "${holder}" had a tool of that name at its approval`,
          english`"${holder}", which comes first, has a tool of that name`,
        ]
      : [
          'the tools',
          english`they are new since you let it start, and "${holder}" had tools of these names at its approval`,
          english`"${holder}", which comes first, has tools of these names`,
        ];
  const why = isNew ? had : has;
  const related = holding(english`"${holder}" has the ${named(names)}`, place);
  return problemOf('name-taken', at, {
    named: named(names),
    why,
    holder,
    tools,
    ...related,
  });
}

function holding(message: string, place: Place | undefined): Pick<Problem, 'related'> {
  return place ? { related: [{ message, place }] } : {};
}

export function nameReserved(at: At, names: readonly string[]): Problem {
  const [tools, belongs] =
    names.length === 1 ? ['the tool', 'the name belongs'] : ['the tools', 'the names belong'];
  return problemOf('name-reserved', at, {
    named: named(names),
    belongs,
    tools,
  });
}

export function overrideFault(at: At, tool: string, fault: OverrideFault): Problem {
  const { kind, key, index, detail, fix = overrideFixes[kind] } = fault;
  const path = ['tools', 'override', tool, 'arguments', fault.argument];
  const { places } = at;
  const keyPlace = places.keyAt(key ? [...path, key] : path);
  const place = index === undefined ? keyPlace : places.value([...path, 'allow', index]);
  const given = {
    argument: shown(fault.argument),
    detail,
    fix,
    place,
  };
  if (kind === 'unusable') return problemOf('override-unusable', at, { ...given, tool });
  return problemOf(`override-${kind}`, at, { ...given, name: tool });
}

const overrideFixes = {
  unknown:
    'Correct the name of the argument, or remove it. Only top-level arguments can be overridden.',
  unusable: 'Remove the override of this argument, or keep the tool out with the blacklist.',
  refused: 'Write a value that the schema of the server takes.',
} as const;

export type UnusableName = { readonly published: string; readonly name: string };

export function editorIdTooLong(at: At, tools: readonly UnusableName[]): Problem {
  const words = wordsFor(at, tools);
  const names = tools.length === 1 ? 'the name' : 'the names';
  return problemOf('editor-id-too-long', at, {
    ...words,
    length: words.first.length,
    names,
  });
}

/**
 * A hint, because most people have no such sessions. @param holder undefined if the names are too
 * long
 */
export function agentHostNameUnusable(
  at: At,
  tools: readonly UnusableName[],
  holder: string | undefined,
): Problem {
  const words = wordsFor(at, tools);
  const why =
    holder === undefined
      ? english`which has ${words.first.length} characters, and they cut names at 64`
      : english`which is the name of a tool of "${holder}" there`;
  return problemOf('agent-host-name', at, { ...words, why });
}

function wordsFor({ places }: At, tools: readonly UnusableName[]) {
  const [it, them] = tools.length === 1 ? ['it', 'it'] : ['the first one', 'them'];
  const which = named(tools.map(({ published }) => published));
  return {
    which,
    it,
    them,
    first: tools[0]?.name ?? '',
    place: places.keyAt(['transform']),
  };
}

export function promptTwice(at: At, published: string, first: string, second: string): Problem {
  if (first === second) return problemOf('entry-left-out:listedTwice', at, { first });
  const place = at.places.keyAt(['prompts', 'transform']);
  return problemOf('entry-left-out:sameName', at, {
    first,
    second,
    published,
    place,
  });
}

/** @param all common prompts and URIs; only clients of all toolsets together meet them */
export function heldElsewhere(
  at: At,
  holder: string,
  place: Place | undefined,
  all: readonly string[],
): Problem {
  const first = all.slice(0, 3).map(shown).join(', ');
  const names = all.length > 3 ? english`${first} and ${all.length - 3} more` : first;
  const them = all.length === 1 ? 'it' : 'them';
  const related = holding(english`"${holder}" has ${names}`, place);
  return problemOf('entry-left-out:heldElsewhere', at, {
    holder,
    names,
    them,
    ...related,
  });
}

export function entryMalformed(at: At, of: ListKind, name: string, detail: string): Problem {
  return problemOf('entry-left-out:malformed', at, {
    of,
    name: shown(name),
    detail,
  });
}
