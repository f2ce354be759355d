/**
 * Completes keys with their documentation, values and live names in a config file (E2). It reads the sketch of the
 * text, so it works in broken YAML too.
 *
 * Invariant: never offers a key already in its map, nor the value of a variable.
 */
import { asMarkdown, fenced, formatted, type Markdown } from '../base/inert.js';
import { keys, requiredKeys, type KeyDoc, type KeyLevel } from '../config/keys.js';
import { scalarText } from '../yaml/edits.js';
import { sketch, type Sketch } from '../yaml/sketch.js';
import type { Slot } from '../yaml/sketch.js';
import { itemDrafts, likelihood, valueDrafts } from './completionValues.js';
import { boxAt, levelOf, placeAt, textOf, type KnownPlace } from './shapes.js';
import { escapeSnippet, fit, type CompletionDeps, type Draft, type Suggestion } from './suggestion.js';

/** The number of offered variables before any input. */
const mostVariables = 200;

/** @param text without a byte order mark */
export async function complete(text: string, offset: number, deps: CompletionDeps): Promise<readonly Suggestion[]> {
  const read = sketch(text, offset);
  const { slot } = read;
  const place = slot && placeAt(read, slot.path);
  if (!slot || !place) return [];
  const typed = text.slice(slot.span.start, offset);
  const drafts =
    slot.role === 'key'
      ? keyDrafts(read, slot, place, deps, typed)
      : place.shape.kind === 'transformItem'
        ? levelDrafts('transformItem', read, slot, slot.flow ? ['{ ', ' }'] : ['', ''])
        : await valueDrafts(slot, place, deps, typed);
  return fit(drafts, slot, typed);
}

/** Returns the documentation of a key in Markdown, the same for every view. */
export function documentation({ summary, details, byDefault }: KeyDoc): Markdown {
  const value = byDefault === undefined || byDefault.includes(' ') ? byDefault : `\`${byDefault}\``;
  return asMarkdown([summary, details, value && `Default: ${value}.`].filter(Boolean).join('\n\n'));
}

function keyDrafts(read: Sketch, slot: Slot, place: KnownPlace, deps: CompletionDeps, typed: string): readonly Draft[] {
  const { shape } = place;
  // The place is below a key for a list.
  if (shape.kind === 'texts' && !slot.flow) return itemDrafts(place, deps, ['- ', '']);
  if (shape.kind === 'transforms' && !slot.flow) return levelDrafts('transformItem', read, slot, ['- ', '']);
  if (shape.kind === 'servers') return slot.complete || slot.quote !== '' ? [] : serverDrafts(slot, typed);
  if (shape.kind === 'tables') return slot.complete ? [] : namedDrafts(shape.level, read, slot, place, deps);
  if (shape.kind === 'values') return slot.complete ? [] : freeDrafts(shape.of, typed, deps);
  const level = levelOf(shape);
  const isEmpty = (read.root?.entries ?? []).every(({ keySpan }) => keySpan.start === slot.span.start);
  const takesFile = level === 'root' && isEmpty && !slot.flow && !slot.complete && slot.quote === '';
  return [
    ...(takesFile ? serverDrafts(slot, '', 'config file') : []),
    ...(level === undefined ? [] : levelDrafts(level, read, slot, ['', ''])),
  ];
}

/** @param around the text before and behind each */
function levelDrafts(level: KeyLevel, read: Sketch, slot: Slot, [before, behind]: [string, string]): Draft[] {
  const beside = boxAt(read, slot.path)?.entries.filter(({ keySpan }) => keySpan.start !== slot.span.start) ?? [];
  const written = new Set(beside.map(({ key }) => key));
  // A value has one source.
  const sources = level === 'reference' ? ['env', 'secret', 'command'] : [];
  const hasSource = sources.some((key) => written.has(key));
  // Prefix and suffix of one item exclude each other.
  if (level === 'transformItem' && before === '' && slot.role === 'key' && written.size > 0) return [];
  const transport = level === 'server' ? textOf(read, slot.path, 'transport') : undefined;
  const required = requiredKeys(level, transport);
  return Object.entries(keys[level]).flatMap(([key, doc], index): Draft[] => {
    if (slot.role === 'key' && before === '' && written.has(key)) return [];
    if (hasSource && sources.includes(key)) return [];
    if (doc.transport && transport && doc.transport !== transport) return [];
    const block = (slot.flow ? doc.flow : undefined) ?? doc.block ?? ': ';
    const rest = slot.complete ? '' : block;
    return [
      {
        label: key,
        kind: 'key',
        detail: required.includes(key) ? 'required' : doc.byDefault === undefined ? '' : `default: ${doc.byDefault}`,
        documentation: documentation(doc),
        writes:
          before === '' ? { kind: 'key', key, rest } : { kind: 'snippet', snippet: `${before}${key}${rest}${behind}` },
        rank: (required.includes(key) ? 0 : 100) + index,
        andThen: !slot.complete && (block === ': ' || doc.value.kind === 'texts'),
      },
    ];
  });
}

/** Offers whole entries, named by the input, or whole files with one entry. */
function serverDrafts(slot: Slot, typed: string, whole: 'server' | 'config file' = 'server'): Draft[] {
  const name = `\${1:${/^[a-zA-Z0-9_-]+$/.test(typed) ? typed : 'name'}}`;
  const draft = (label: string, detail: string, lines: readonly string[], rank: number): Draft => {
    const [head, indent, first] = whole === 'server' ? ['', '', 0] : ['version: 1\nservers:\n', '  ', -9];
    const block = head + [`${name}:`, ...lines.map((line) => `  ${line}`)].map((line) => indent + line).join('\n');
    const flow = `${name}: { ${inFlow(lines)} }`;
    return {
      label: `${whole}: ${label}`,
      kind: 'server',
      detail,
      documentation: fenced(block.replace(/\$\{\d+:([^}]*)\}/g, '$1'), 'yaml'),
      writes: { kind: 'snippet', snippet: slot.flow ? flow : `${block}\n$0` },
      rank: first + rank,
      always: true,
    };
  };
  const http = ['transport: streamable_http', 'url: ${2:https://example.com/mcp}'];
  const token = ['headers:', "  Authorization: { prefix: 'Bearer ', env: ${3:NAME} }"];
  const program = ['transport: stdio', 'command: ${2:npx}', "args: ['-y', '${3:package}']"];
  return [
    draft('stdio', 'a program on this machine', program, 0),
    draft('streamable_http', 'a server at a URL', http, 1),
    draft('streamable_http with a token', 'the token comes from the environment', [...http, ...token], 2),
  ];
}

function inFlow(lines: readonly string[]): string {
  return lines.join(', ').replace(/headers:,\s+(.*)$/, 'headers: { $1 }');
}

/** Offers the tools of the server, or the arguments of the tool. */
function namedDrafts(
  level: 'toolOverride' | 'argumentOverride',
  read: Sketch,
  slot: Slot,
  { server }: KnownPlace,
  deps: CompletionDeps,
): Draft[] {
  const written = new Set(boxAt(read, slot.path)?.entries.map(({ key }) => key));
  const tools = server === undefined ? [] : deps.tools(server);
  const draft = (name: string, kind: Draft['kind'], about: string, rest: string): Draft[] => {
    if (written.has(name)) return [];
    const key = scalarText(name, '');
    return [
      { label: name, kind, documentation: formatted`${about}`, writes: { kind: 'key', key, rest }, andThen: true },
    ];
  };
  if (level === 'toolOverride') {
    const rest = slot.flow ? ': { $1 }' : ':\n  $0';
    return tools.flatMap(({ original, description }) => draft(original, 'tool', description, rest));
  }
  const tool = tools.find(({ original }) => original === slot.path.at(-2));
  return [...(tool?.arguments.keys() ?? [])].flatMap((name) =>
    draft(name, 'key', '', ': { ${1|fixed,default,allow|}: $2 }'),
  );
}

function freeDrafts(of: 'variable' | 'header', typed: string, deps: CompletionDeps): Draft[] {
  if (of === 'header') {
    return [
      {
        label: 'Authorization',
        kind: 'key',
        detail: 'bearer token from the environment',
        documentation: formatted`\`Bearer \` and the value of an environment variable of the editor. The secret stays out of the file.`,
        writes: { kind: 'key', key: 'Authorization', rest: ": { prefix: 'Bearer ', env: ${1:NAME} }" },
      },
    ];
  }
  return deps.variables.slice(0, typed === '' ? mostVariables : undefined).map((name) => ({
    label: name,
    kind: 'variable',
    detail: "copied from the editor's environment",
    writes: { kind: 'key', key: name, rest: `: { env: ${escapeSnippet(name)} }` },
    rank: likelihood(name),
  }));
}
