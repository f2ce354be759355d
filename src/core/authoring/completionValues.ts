/** Completes values: choices, durations, names of variables, tools and folders. It never offers a variable's value. */
import { asMarkdown, formatted } from '../base/inert.js';
import { isSecretName } from '../base/secrets.js';
import { scalarText } from '../yaml/edits.js';
import type { Slot } from '../yaml/sketch.js';
import type { KnownPlace, PlaceShape } from './shapes.js';
import { escapeSnippet, type CompletionDeps, type Draft } from './suggestion.js';

const fromEnvironment = "copied from the editor's environment";

export async function valueDrafts(
  slot: Slot,
  place: KnownPlace,
  deps: CompletionDeps,
  typed: string,
): Promise<readonly Draft[]> {
  const { shape, doc } = place;
  const snippet = (label: string, detail: string, text: string, rank: number): Draft => ({
    label,
    kind: 'value',
    detail,
    writes: { kind: 'snippet', snippet: text },
    rank,
    always: true,
    andThen: true,
  });
  /** @param name the key of the value */
  const references = (name = ''): Draft[] => [
    snippet('{ env: … }', fromEnvironment, `{ env: ${name === '' ? '$1' : `\${1:${name}}`} }`, 1),
    snippet('{ secret: … }', 'a value that you enter once', `{ secret: \${1:${name || 'NAME'}} }`, 2),
    snippet('{ command: … }', 'what a program prints', "{ command: ['$1'] }", 3),
  ];
  switch (shape.kind) {
    case 'one':
      return [{ label: '1', kind: 'value', detail: 'the only version', writes: { kind: 'snippet', snippet: '1' } }];
    case 'truth':
      return raw(['true', 'false'], doc?.byDefault);
    case 'zeroOrOne':
      return raw(['0', '1'], doc?.byDefault);
    case 'duration':
      return raw(['10s', '30s', '1m', '5m', '10m', '15m', '30m', '60m'], doc?.byDefault);
    case 'choice':
      return shape.values.map(({ value, summary }, rank) => ({
        label: value,
        kind: 'value',
        documentation: asMarkdown(summary),
        writes: { kind: 'text', value },
        rank,
      }));
    case 'item':
      if (shape.of === 'allowed') return [];
      return shape.of !== 'pattern'
        ? argumentDrafts(shape.of, references(), slot, deps, typed)
        : itemDrafts(place, deps);
    case 'texts':
      return itemDrafts(place, deps, ['[', '$1]']);
    case 'text':
      return textDrafts(shape, slot, deps, typed);
    case 'value':
      return shape.of === 'url'
        ? [snippet('{ prefix: https://…, env: … }', fromEnvironment, "{ prefix: 'https://$1', env: $2 }", 1)]
        : references();
    case 'freeValue':
      if (shape.of === 'variable') return references(escapeSnippet(shape.name));
      return [
        snippet("{ prefix: 'Bearer ', env: … }", 'bearer token', "{ prefix: 'Bearer ', env: $1 }", 0),
        snippet("{ prefix: 'Bearer ', secret: … }", 'bearer token', "{ prefix: 'Bearer ', secret: ${1:NAME} }", 0),
        ...references(),
      ];
    case 'prefix':
      return [snippet('{ remove: …, add: … }', 'one prefix for another', "{ remove: '$1', add: '$2' }", 0)];
    default:
      return [];
  }
}

async function argumentDrafts(
  of: 'argument' | 'scope' | 'mediaType' | 'word',
  references: readonly Draft[],
  slot: Slot,
  deps: CompletionDeps,
  typed: string,
): Promise<Draft[]> {
  if (of !== 'argument') return [];
  const quoted = (value: string): Draft['writes'] => ({ kind: 'quoted', value });
  return [...references, ...(await pathDrafts(typed.slice(slot.quote.length), deps, true, quoted))];
}

/** Offers the tools of the server, and patterns for families of tools. @param frame the text around each */
export function itemDrafts(
  { shape, server, selection }: KnownPlace,
  deps: CompletionDeps,
  frame?: readonly [string, string],
): Draft[] {
  const of = shape.kind === 'texts' || shape.kind === 'item' ? shape.of : 'argument';
  if (of !== 'pattern' || server === undefined || selection !== 'tools') return [];
  const writes = (value: string): Draft['writes'] => {
    if (!frame) return { kind: 'quoted', value };
    return { kind: 'snippet', snippet: frame[0] + escapeSnippet(scalarText(value, "'")) + frame[1] };
  };
  const tools = deps.tools(server);
  const families = new Map<string, number>();
  for (const { original } of tools) {
    const family = /^[^_.-]+[_.-]/.exec(original)?.[0];
    if (family !== undefined) families.set(family, (families.get(family) ?? 0) + 1);
  }
  return [
    ...[...families]
      .filter(([, count]) => count > 1)
      .map(([family, count]): Draft => {
        const pattern = `${family}*`;
        return { label: pattern, kind: 'pattern', detail: `matches ${count} tools`, writes: writes(pattern), rank: 0 };
      }),
    ...tools.map(({ original, description }): Draft => ({
      label: original,
      kind: 'tool',
      documentation: formatted`${description}`,
      writes: writes(original),
      rank: 100,
    })),
  ];
}

/** Variables of the system, the shell and the editor. */
const usual =
  /^(?:VSCODE|ELECTRON|npm_|XDG|LC_|SSH_|DBUS_|_)|^(?:(?:OLD)?PWD|PATH|HOME|HOSTNAME|SHELL|SHLVL|LANG|LANGUAGE|LOGNAME|USER|TERM|DISPLAY|MAIL|TZ|TE?MP|TMPDIR)$/;

/** Orders variables. Names like those of secrets come first, because references are made for secrets. */
export function likelihood(variable: string): number {
  if (usual.test(variable)) return 2;
  return isSecretName(variable) ? 0 : 1;
}

async function textDrafts(
  { of }: Extract<PlaceShape, { kind: 'text' }>,
  slot: Slot,
  deps: CompletionDeps,
  typed: string,
): Promise<Draft[]> {
  switch (of) {
    case 'variable':
      return deps.variables.map((name) => ({
        label: name,
        kind: 'variable',
        detail: 'is set',
        writes: { kind: 'text', value: name },
        // `TOKEN: { env: TOKEN }` is the most usual reference.
        rank: name === slot.path.at(-2) ? -1 : likelihood(name),
      }));
    case 'folder':
      return pathDrafts(typed.slice(slot.quote.length), deps, false, (value) => ({ kind: 'text', value }));
    case 'file':
      return pathDrafts(typed.slice(slot.quote.length), deps, true, (value) => ({ kind: 'text', value }));
    case 'command':
      if (/^['"]?\./.test(typed)) {
        return pathDrafts(typed.slice(slot.quote.length), deps, true, (value) => ({ kind: 'text', value }));
      }
      return ['npx', 'node', 'uvx', 'python', 'docker'].map((value, rank) => ({
        label: value,
        kind: 'value',
        writes: { kind: 'text', value },
        rank,
      }));
    case 'scheme':
      return [
        { label: 'Bearer ', kind: 'value', detail: 'bearer token', writes: { kind: 'quoted', value: 'Bearer ' } },
      ];
    case 'secretName':
    case 'session':
    case 'affix':
    case 'prose':
      return [];
  }
}

/** Offers paths in the workspace folder, one level at a time, as far as the path is typed. */
async function pathDrafts(
  typed: string,
  deps: CompletionDeps,
  files: boolean,
  writes: (value: string) => Draft['writes'],
): Promise<Draft[]> {
  const parent = typed.slice(0, typed.lastIndexOf('/') + 1);
  if (parent.startsWith('/') || parent.startsWith('~') || typed.startsWith('-')) return [];
  const folder = parent.replace(/^\.\//, '').slice(0, -1);
  const entries = await deps.entries(folder);
  const drafts = entries
    .filter(({ name, isFolder }) => name !== '.git' && name !== 'node_modules' && (files || isFolder))
    .map(({ name, isFolder }): Draft => {
      const value = parent + name;
      return { label: value, kind: isFolder ? 'folder' : 'file', writes: writes(value), rank: isFolder ? 4 : 5 };
    });
  if (parent !== '') return drafts;
  const here: Draft = { label: '.', kind: 'folder', detail: 'the workspace folder', writes: writes('.') };
  return [here, ...drafts];
}

function raw(values: readonly string[], byDefault: string | undefined): Draft[] {
  return values.map((value, rank) => ({
    label: value,
    kind: 'value',
    detail: value === byDefault ? 'default' : '',
    writes: { kind: 'snippet', snippet: value },
    rank,
  }));
}
