/** Makes the problems of filtering and naming (N1–N7, G3a). */
import type { Place, Problem, ProblemCode, Severity } from '../base/problem.js';
import { groupedBy } from '../base/groupedBy.js';
import { clipped, shortList } from '../base/text.js';
import type { ServerPlaces } from '../config/model.js';
import type { ToolListing } from './catalogue.js';
import { longestMatched, nameRule } from './names.js';
import type { OverrideFault } from './override.js';
import type { IdlePattern } from './patterns.js';

export type At = { readonly server: string; readonly places: ServerPlaces };

export type FilteredToolsReport = Exclude<Severity, 'error'> | 'off';

type ListKind = 'tools' | 'prompts' | 'resources';

export type NamesKeptOut = Readonly<Record<'whitelist' | 'blacklist', string[]>>;

/** The most problems with one code for one server. The last one has the number of the rest. */
const mostOfEach = 500;

export function problem(
  at: At,
  code: ProblemCode,
  severity: Severity,
  message: string,
  fix: string,
  more: Partial<Problem> = {},
): Problem {
  return { code, severity, message, fix, place: at.places.key, server: at.server, ...more };
}

export function fewOfEach(problems: readonly Problem[]): readonly Problem[] {
  const ends = new Map<Problem, Problem | undefined>();
  for (const group of groupedBy(problems, ({ code, server }) => `${code} ${server}`).values()) {
    const [last, ...left] = group.slice(mostOfEach - 1);
    if (!last || left.length === 0) continue;
    ends.set(last, { ...last, message: `${last.message} The same is true of ${left.length} more.` });
    for (const problem of left) ends.set(problem, undefined);
  }
  return problems.flatMap((problem) => (ends.has(problem) ? (ends.get(problem) ?? []) : [problem]));
}

export function patternWithoutEffect(at: At, of: ListKind, idle: IdlePattern): Problem {
  const { list, pattern } = idle;
  const { index, text } = pattern;
  const more = { place: at.places.value([of, list, index]), pattern: text };
  if (idle.kind === 'overruled') {
    const by = [...new Set(idle.by.map((each) => `"${each.text}"`))];
    const message = `The blacklist pattern "${text}" keeps nothing out. The whitelist (${shortList(by, 5)}) lets through all ${of} of "${at.server}" that it matches: ${shortList(idle.matched, 12)}.`;
    const fix = 'If both lists match, the whitelist wins. Narrow the whitelist, or remove the pattern.';
    return problem(at, 'pattern-overruled', 'warning', message, fix, more);
  }
  const against = of === 'resources' ? 'URIs' : 'original names';
  const message = `The pattern "${text}" matches none of the ${of} of "${at.server}".`;
  const fix = `Correct the pattern (it is matched against the ${against}; only * is a wildcard) or remove it.`;
  return problem(at, 'pattern-matches-nothing', 'warning', message, fix, more);
}

export function keptOut(at: At, of: ListKind, out: NamesKeptOut, report: FilteredToolsReport): Problem[] {
  if (report === 'off') return [];
  return (['whitelist', 'blacklist'] as const).flatMap((list) => {
    const names = out[list];
    if (names.length === 0) return [];
    const count = names.length === 1 ? `1 ${of.slice(0, -1)}` : `${names.length} ${of}`;
    const message = `The ${list} keeps out ${count} of "${at.server}": ${shortList(names, 12)}.`;
    const fix = `No action needed if you left these out on purpose; otherwise change the ${list}.`;
    return [problem(at, 'filtered-tools', report, message, fix, { place: at.places.keyAt([of, list]) })];
  });
}

function ruleBroken(name: string): string {
  const bad = [...new Set(name.replace(/[a-zA-Z0-9_-]/g, ''))].map((character) => JSON.stringify(character));
  const causes = [
    name.length === 0 && 'it is empty',
    name.length > 64 && `it has ${name.length} characters; at most 64 are allowed`,
    bad.length > 0 && `${bad.slice(0, 5).join(', ')} is not allowed`,
  ];
  return `${causes.filter(Boolean).join('; ')} (rule ${nameRule}, length ${name.length})`;
}

function shown(name: string): string {
  return clipped(name, 100);
}

export function toolNameInvalid(at: At, name: string): Problem {
  const message = `The tool "${shown(name)}" of "${at.server}" is left out: ${ruleBroken(name)}.`;
  const fix = 'Blacklist the tool, or ask the author of the server to rename it.';
  const tool = name.length <= longestMatched ? { tool: name } : {};
  return problem(at, 'tool-name-invalid', 'warning', message, fix, tool);
}

export function publishedNameInvalid(at: At, original: string, published: string): Problem {
  const message = `The tool "${original}" of "${at.server}" is left out: its published name would be "${shown(published)}", and ${ruleBroken(published)}.`;
  const more = { place: at.places.keyAt(['transform']), tool: original };
  return problem(at, 'published-name-invalid', 'warning', message, 'Shorten or correct the transforms.', more);
}

export function nameTwiceInServer(at: At, published: string, first: string, second: string): Problem {
  const message = `The tools "${first}" and "${second}" of "${at.server}" would both be published as "${published}". Its update is refused.`;
  const fix = 'Change the transforms, or blacklist one of the two.';
  const more = { place: at.places.keyAt(['transform']), tool: second };
  return problem(at, 'name-twice-in-server', 'error', message, fix, more);
}

export function toolListedTwice(at: At, name: string): Problem {
  const message = `The server "${at.server}" lists the tool "${name}" more than once. The first one is used, the others are left out.`;
  const fix = 'Ask the author of the server to give each tool a different name.';
  return problem(at, 'tool-listed-twice', 'warning', message, fix);
}

function named(names: readonly string[]): string {
  const quoted = names.map((name) => `"${name}"`);
  return `${names.length === 1 ? 'tool' : 'tools'} ${shortList(quoted, 12)}`;
}

interface Holder {
  readonly holder: string;
  /** Undefined if it does not run. */
  readonly place: Place | undefined;
  /** The names are new since the approval of the other server, and in the baseline of the holder (N5b). */
  readonly isNew: boolean;
}

export function nameTaken(at: At, names: readonly string[], { holder, place, isNew }: Holder): Problem {
  const [tools, has, are] =
    names.length === 1
      ? ['the tool', 'a tool of that name', 'it is']
      : ['the tools', 'tools of these names', 'they are'];
  const why = isNew
    ? `${are} new since you let it start, and "${holder}" had ${has} at its approval`
    : `"${holder}", which comes first, has ${has}`;
  const message = `"${at.server}" does not publish the ${named(names)}, because ${why}.`;
  const fix = `Give "${at.server}" or "${holder}" a prefix, or blacklist ${tools} in one of them.`;
  const related = place && [{ message: `"${holder}" has the ${named(names)}`, place }];
  return problem(at, 'name-taken', 'warning', message, fix, related && { related });
}

export function nameReserved(at: At, names: readonly string[]): Problem {
  const [tools, belongs] = names.length === 1 ? ['the tool', 'the name belongs'] : ['the tools', 'the names belong'];
  const message = `"${at.server}" does not publish the ${named(names)}, because ${belongs} to built-in tools.`;
  return problem(at, 'name-reserved', 'warning', message, `Give "${at.server}" a prefix, or blacklist ${tools}.`);
}

const schemaFix = 'Blacklist the tool, or ask the author of the server to correct the schema.';

export function schemaUnusable(at: At, name: string, detail: string): Problem {
  const message = `The tool "${name}" of "${at.server}" is left out: ${detail}. One such schema makes clients refuse the whole list.`;
  return problem(at, 'schema-unusable', 'warning', message, schemaFix, { tool: name });
}

export function editorSchemaRefused(at: At, name: string, detail: string): Problem {
  const message = `The editor does not get the tool "${name}" of "${at.server}", because it or its chat would refuse the schema: ${detail}. All other clients get it.`;
  return problem(at, 'editor-schema-refused', 'warning', message, schemaFix, { tool: name });
}

export function outputSchemaLeftOut(at: At, name: string, detail: string): Problem {
  const message = `The tool "${name}" of "${at.server}" is published without its output schema: ${detail}. A client that cannot compile one output schema loses the tools of every server.`;
  const fix = 'Ask the author of the server to correct the schema. The tool works without it.';
  return problem(at, 'output-schema-left-out', 'warning', message, fix);
}

export function overrideOfNoTool(at: At, name: string): Problem {
  const message = `\`override\` names the tool "${shown(name)}", which "${at.server}" does not have.`;
  const fix = 'Correct the name (it is the one that the server gives), or remove the override.';
  const place = at.places.keyAt(['tools', 'override', name]);
  return problem(at, 'override-unknown', 'warning', message, fix, { place });
}

export function overrideFault(at: At, tool: string, fault: OverrideFault): Problem {
  const { kind, argument, key, index, detail, fix = overrideFixes[kind] } = fault;
  const path = ['tools', 'override', tool, 'arguments', argument];
  const { places } = at;
  const keyPlace = places.keyAt(key ? [...path, key] : path);
  const place = index === undefined ? keyPlace : places.value([...path, 'allow', index]);
  const message = `The argument "${shown(argument)}" of the tool "${tool}" of "${at.server}" ${detail}.`;
  if (kind !== 'unusable') return problem(at, `override-${kind}`, 'warning', message, fix, { place });
  return problem(at, 'override-unusable', 'error', `${message} The tool is left out.`, fix, { place, tool });
}

const overrideFixes = {
  unknown: 'Correct the name of the argument, or remove it. Only top-level arguments can be overridden.',
  unusable: 'Remove the override of this argument, or keep the tool out with the blacklist.',
  refused: 'Write a value that the schema of the server takes.',
} as const;

export function toolMalformed(at: At, name: string, detail: string): Problem {
  const message = `An entry of the tool list of "${at.server}" (${shown(name)}) is not a tool and is left out: ${detail}.`;
  const fix = 'Ask the author of the server to correct it. The other tools are not affected.';
  return problem(at, 'tool-malformed', 'warning', message, fix);
}

export type UnusableName = { readonly published: string; readonly name: string };

export function editorIdTooLong(at: At, tools: readonly UnusableName[]): Problem {
  const { which, it, them, first } = wordsFor(tools);
  const message = `The editor does not get the ${which} of "${at.server}": it would call ${it} "${first}", which has ${first.length} characters. The editor cuts ids at 64 and loses tools if two cut ids are equal. All other clients get ${them}.`;
  const fix = `Shorten ${tools.length === 1 ? 'the name' : 'the names'} by a transform, or begin every published name with "${at.server}_", which the editor does not see twice.`;
  return problem(at, 'editor-id-too-long', 'warning', message, fix, { place: at.places.keyAt(['transform']) });
}

/** A hint, because most people have no such sessions. @param holder undefined if the names are too long */
export function agentHostNameUnusable(at: At, tools: readonly UnusableName[], holder: string | undefined): Problem {
  const { which, it, them, first } = wordsFor(tools);
  const why =
    holder === undefined
      ? `which has ${first.length} characters, and they cut names at 64`
      : `which is the name of a tool of "${holder}" there`;
  const message = `Agent sessions that the editor runs outside its window do not get the ${which} of "${at.server}": they would call ${it} "${first}", ${why}. All other clients get ${them}.`;
  const fix = 'Give other names by a transform, or give the server a shorter id.';
  return problem(at, 'agent-host-name', 'hint', message, fix, { place: at.places.keyAt(['transform']) });
}

function wordsFor(tools: readonly UnusableName[]): Record<'which' | 'it' | 'them' | 'first', string> {
  const [it, them] = tools.length === 1 ? ['it', 'it'] : ['the first one', 'them'];
  return { which: named(tools.map(({ published }) => published)), it, them, first: tools[0]?.name ?? '' };
}

export function tooManyTools(at: At, total: number, limit: number): Problem {
  const message = `Agents get ${total} tools, and "${at.server}" takes the count over ${limit}. Models that cannot search among tools accept no more in one request, including the tools of the editor.`;
  const fix = `Keep out what agents do not need with whitelist or blacklist, disable a server, or choose fewer in the tool picker of the chat.`;
  return problem(at, 'too-many-tools', 'warning', message, fix);
}

export function promptTwice(at: At, published: string, first: string, second: string): Problem {
  if (first === second) {
    const message = `The server "${at.server}" lists the prompt "${first}" twice; the second is left out.`;
    return problem(at, 'entry-left-out', 'warning', message, 'Ask its author to correct it.');
  }
  const message = `The prompts "${first}" and "${second}" of "${at.server}" would both be published as "${published}"; the second is left out.`;
  const fix = 'Change the transforms of its prompts, or blacklist one of the two.';
  const place = at.places.keyAt(['prompts', 'transform']);
  return problem(at, 'entry-left-out', 'warning', message, fix, { place });
}

/** @param names common prompts and URIs; only clients of all toolsets together meet them */
export function heldElsewhere(at: At, holder: string, place: Place | undefined, names: readonly string[]): Problem {
  const first = names.slice(0, 3).map(shown).join(', ');
  const more = names.length > 3 ? ` and ${names.length - 3} more` : '';
  const message = `"${at.server}" and "${holder}" both have ${first}${more}. Clients of all toolsets together (\`/mcp\`, \`connect\` without a name) get ${names.length === 1 ? 'it' : 'them'} from "${holder}" only.`;
  const fix = `Keep ${names.length === 1 ? 'it' : 'them'} out of one of the two with \`prompts\` or \`resources\`, or rename prompts with \`prompts.transform\`.`;
  const related = place && [{ message: `"${holder}" has ${first}${more}`, place }];
  return problem(at, 'entry-left-out', 'warning', message, fix, related && { related });
}

export function entryMalformed(at: At, of: ListKind, name: string, detail: string): Problem {
  const message = `An entry of the ${of} of "${at.server}" (${shown(name)}) is left out: it ${detail}.`;
  const fix = 'Ask the author of the server to correct it. Nothing else is affected.';
  return problem(at, 'entry-left-out', 'warning', message, fix);
}

export function listTooLong(at: At, of: ListKind): Problem {
  const message = `The ${of} of "${at.server}" are too many, or have too long names, to match its patterns, so none of them is published.`;
  const fix = 'Use fewer or shorter patterns, or make the server list less.';
  return problem(at, 'list-too-long', 'error', message, fix);
}

export function listIncomplete(at: At, of: ListKind, detail: string): Problem {
  const message = `The ${of} of "${at.server}" could not be listed: ${detail} Its tools are not affected.`;
  const fix = 'Read its log, correct the cause, and restart it.';
  return problem(at, 'list-incomplete', 'warning', message, fix);
}

export function toolsNotListed(at: At, { message, fix }: NonNullable<ToolListing['failure']>): Problem {
  return problem(at, 'list-failed', 'error', `"${at.server}" ${message} Its prompts and resources are published.`, fix);
}

export function nothingDeclared(at: At): Problem {
  const message = `"${at.server}" declares no tools, prompts or resources in its capabilities, so it was not asked for any.`;
  const fix = 'Update the server, or ask its author: capabilities need `tools: {}` if it has tools.';
  return problem(at, 'list-incomplete', 'warning', message, fix);
}
