/**
 * Completes a config file, also in broken YAML (E2). It never offers a key already in its map, nor
 * a variable's value.
 */
import { isSecretName } from '../base/secrets.js';
import { english, plural, said, translated } from '../base/language.js';
import { asMarkdown, fenced, formatted, noMarkdown, type Markdown } from '../base/inert.js';
import {
  docOf,
  keys,
  requiredKeys,
  spellingsOf,
  type KeyDoc,
  type KeyLevel,
  type ValueShape,
} from '../config/keys.js';
import { scalarText } from '../yaml/edits.js';
import { sketch, type Sketch, type SketchPath, type Slot } from '../yaml/sketch.js';
import type { Span } from '../yaml/textPositions.js';

export interface Suggestion {
  readonly label: string;
  readonly kind: 'key' | 'value' | 'server' | 'tool' | 'pattern' | 'variable' | 'folder' | 'file';
  readonly detail: string;
  readonly documentation: Markdown;
  /** The editor's snippet for the span. It is indented relative to its first line. */
  readonly snippet: string;
  readonly span: Span;
  readonly filter: string;
  readonly order: string;
  /** True to ask again after the insertion, because the next part has suggestions too. */
  readonly andThen: boolean;
}

/**
 * A tool as its server lists it. A tool that is kept out has neither description nor arguments
 * here.
 */
export interface KnownTool {
  readonly original: string;
  readonly description: string;
  readonly arguments: ReadonlyMap<string, unknown>;
}

export interface CompletionDeps {
  /** Returns all tools of a server, with filtered ones. None are known before its first list. */
  readonly tools: (server: string) => readonly KnownTool[];
  readonly variables: readonly string[];
  /** Lists a folder by its path in the workspace folder; `''` is the folder itself. */
  readonly entries: (
    path: string,
  ) => Promise<readonly { readonly name: string; readonly isFolder: boolean }[]>;
}

interface Draft {
  readonly label: string;
  readonly kind: Suggestion['kind'];
  readonly detail?: string;
  readonly documentation?: Markdown;
  /**
   * The kind of text; by default the label. `text` and `quoted` are scalars; the second always has
   * quotes.
   */
  readonly writes?:
    | { readonly kind: 'text' | 'quoted'; readonly value: string }
    | {
        readonly kind: 'key';
        readonly key: string;
        readonly rest: string;
      }
    | { readonly kind: 'snippet'; readonly snippet: string };
  readonly rank?: number;
  readonly always?: boolean;
  readonly andThen?: boolean;
}

const fromEnvironment = english`copied from the editor's environment`;
const mostVariables = 200;

interface KnownPlace {
  readonly shape: ValueShape;
  readonly server: string | undefined;
  /** The enclosing one of `tools`, `prompts` and `resources`, or else `tools`. */
  readonly selection: string;
  readonly doc: KeyDoc | undefined;
}

interface Request {
  readonly read: Sketch;
  readonly slot: Slot;
  readonly place: KnownPlace;
  readonly deps: CompletionDeps;
  /** The text between the beginning of the slot and the cursor. */
  readonly typed: string;
}

/** @param text without a byte order mark */
export async function complete(
  text: string,
  offset: number,
  deps: CompletionDeps,
): Promise<readonly Suggestion[]> {
  const read = sketch(text, offset);
  const { slot } = read;
  const place = slot && placeAt(slot.path);
  if (!slot || !place) return [];
  const typed = text.slice(slot.span.start, offset);
  const request = {
    read,
    slot,
    place,
    deps,
    typed,
  };
  return fit(slot.role === 'key' ? keyDrafts(request) : await valueDrafts(request), slot, typed);
}

function placeAt(path: SketchPath): KnownPlace | undefined {
  let shape: ValueShape = { kind: 'table', level: 'root' };
  let server: string | undefined;
  let selection = 'tools';
  let doc: KeyDoc | undefined;
  for (const step of path) {
    doc = shape.level && typeof step === 'string' ? docOf(shape.level, step) : undefined;
    const next: ValueShape | undefined =
      doc?.value ?? (typeof step === 'string' ? shape.each : shape.item);
    if (!next) return undefined;
    if (shape.kind === 'servers') server = String(step);
    if (shape.level === 'server' && (step === 'prompts' || step === 'resources')) selection = step;
    shape = next;
  }
  return {
    shape,
    server,
    selection,
    doc,
  };
}

export function documentation({ summary, details, byDefault }: KeyDoc): Markdown {
  const texts = [summary, ...(details?.split('\n\n') ?? [])].map(translated);
  if (byDefault !== undefined) {
    const value = byDefault.includes(' ') ? translated(byDefault) : `\`${byDefault}\``;
    texts.push(said`Default: ${value}.`);
  }
  return asMarkdown(texts.join('\n\n'));
}

function keyDrafts(request: Request): readonly Draft[] {
  const { slot, place, typed } = request;
  const { shape } = place;
  switch (shape.kind) {
    // The place is below a key for a list.
    case 'texts':
      return slot.flow ? [] : itemDrafts(request, ['- ', '']);
    case 'transforms':
      return slot.flow ? [] : levelDrafts('transformItem', request, ['- ', '']);
    case 'servers':
      return slot.complete || slot.quote !== '' ? [] : serverDrafts(slot, typed);
    case 'tables':
      return slot.complete ? [] : namedDrafts(shape.each?.level, request);
    case 'values':
      return slot.complete ? [] : freeDrafts(shape.of, request);
    default:
      return shape.level ? tableDrafts(shape.level, request) : [];
  }
}

function tableDrafts(level: KeyLevel, request: Request): Draft[] {
  const { slot } = request;
  const isNew = !slot.complete && slot.quote === '' && !slot.flow;
  const takesFile = level === 'root' && isNew && keysBeside(request).size === 0;
  const files = takesFile ? serverDrafts(slot, '', 'config file') : [];
  return [...files, ...levelDrafts(level, request)];
}

/** The keys next to the slot, with their texts. */
function keysBeside({ read, slot }: Request): ReadonlyMap<string, string> {
  const entries = read.box(slot.path)?.entries ?? [];
  const beside = entries.filter(({ keySpan }) => keySpan.start !== slot.span.start);
  return new Map(beside.map(({ key, text }) => [key, text]));
}

const sources = ['env', 'secret', 'command'];

/** @param frame the text before and behind a key that begins an item of a list */
function levelDrafts(
  level: KeyLevel,
  request: Request,
  frame?: readonly [before: string, behind: string],
): Draft[] {
  const { slot } = request;
  const written = keysBeside(request);
  const isBeside = slot.role === 'key' && !frame;
  // The keys of one item exclude each other.
  if (level === 'transformItem' && isBeside && written.size > 0) return [];
  const transport = written.get('transport');
  // A value has one source.
  const hasSource = level === 'reference' && sources.some((key) => written.has(key));
  const isOffered = (key: string, doc: KeyDoc): boolean => {
    if (isBeside && spellingsOf(key).some((one) => written.has(one))) return false;
    if (hasSource && sources.includes(key)) return false;
    return !doc.transport || !transport || doc.transport === transport;
  };
  const required = requiredKeys(level, transport);
  return Object.entries(keys[level]).flatMap(([key, doc], index) => {
    if (!isOffered(key, doc)) return [];
    const draft = keyDraft(key, doc, slot, frame);
    if (!required.includes(key)) return [{ ...draft, rank: 100 + index }];
    return [
      {
        ...draft,
        detail: said`required`,
        rank: index,
      },
    ];
  });
}

function keyDraft(
  key: string,
  doc: KeyDoc,
  slot: Slot,
  frame?: readonly [before: string, behind: string],
): Draft {
  const { byDefault, value } = doc;
  const block = (slot.flow ? doc.flow : undefined) ?? doc.block ?? ': ';
  const rest = slot.complete ? '' : block;
  return {
    label: key,
    kind: 'key',
    detail: byDefault === undefined ? '' : said`default: ${translated(byDefault)}`,
    documentation: documentation(doc),
    writes: frame
      ? { kind: 'snippet', snippet: frame[0] + key + rest + frame[1] }
      : {
          kind: 'key',
          key,
          rest,
        },
    andThen: !slot.complete && (block === ': ' || value.kind === 'texts'),
  };
}

function serverDrafts(
  slot: Slot,
  typed: string,
  whole: 'server' | 'config file' = 'server',
): Draft[] {
  const name = `\${1:${/^[a-zA-Z0-9_-]+$/.test(typed) ? typed : 'name'}}`;
  const draft = (label: string, detail: string, lines: readonly string[], index: number): Draft => {
    const [head, indent, first] =
      whole === 'server' ? ['', '', 0] : ['version: 1\nservers:\n', '  ', -9];
    const block =
      head +
      [`${name}:`, ...lines.map((line) => `  ${line}`)].map((line) => indent + line).join('\n');
    const documentation = fenced(block.replace(/\$\{\d+:([^}]*)\}/g, '$1'), 'yaml');
    const inFlow = lines.join(', ').replace(/headers:,\s+(.*)$/s, 'headers: { $1 }');
    const snippet = slot.flow ? `${name}: { ${inFlow} }` : `${block}\n$0`;
    const writes = { kind: 'snippet', snippet } as const;
    const rank = first + index;
    return {
      label: said`${translated(whole)}: ${label}`,
      kind: 'server',
      detail,
      documentation,
      writes,
      rank,
      always: true,
    };
  };
  const http = ['transport: streamable_http', 'url: ${2:https://example.com/mcp}'];
  const token = ['headers:', "  Authorization: { prefix: 'Bearer ', env: ${3:NAME} }"];
  const program = ['transport: stdio', 'command: ${2:npx}', "args: ['-y', '${3:package}']"];
  return [
    draft('stdio', said`a program on this machine`, program, 0),
    draft('streamable_http', said`a server at a URL`, http, 1),
    draft(
      said`streamable_http with a token`,
      said`the token comes from the environment`,
      [...http, ...token],
      2,
    ),
  ];
}

function namedDrafts(level: KeyLevel | undefined, { read, slot, place, deps }: Request): Draft[] {
  const { server } = place;
  const written = new Set(read.box(slot.path)?.entries.map(({ key }) => key));
  const tools = server === undefined ? [] : deps.tools(server);
  const draft = (label: string, kind: Draft['kind'], about: string, rest: string): Draft[] => {
    const writes = {
      kind: 'key',
      key: scalarText(label, ''),
      rest,
    } as const;
    return written.has(label)
      ? []
      : [{ label, kind, documentation: formatted`${about}`, writes, andThen: true }];
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

function freeDrafts(of: 'variable' | 'header', { typed, deps }: Request): Draft[] {
  if (of === 'header') {
    const label = 'Authorization';
    const detail = said`bearer token from the environment`;
    const documentation = formatted`\`Bearer \` and the value of an environment variable of the editor. The secret stays out of the file.`;
    const writes = {
      kind: 'key',
      key: label,
      rest: ": { prefix: 'Bearer ', env: ${1:NAME} }",
    } as const;
    return [
      {
        label,
        kind: 'key',
        detail,
        documentation,
        writes,
      },
    ];
  }
  return deps.variables.slice(0, typed === '' ? mostVariables : undefined).map((name): Draft => {
    const writes = {
      kind: 'key',
      key: name,
      rest: `: { env: ${escapeSnippet(name)} }`,
    } as const;
    return {
      label: name,
      kind: 'variable',
      detail: translated(fromEnvironment),
      writes,
      rank: likelihood(name),
    };
  });
}

const literals = {
  one: ['1'],
  truth: ['true', 'false'],
  zeroOrOne: ['0', '1'],
  duration: ['10s', '30s', '1m', '5m', '10m', '15m', '30m', '60m'],
} as const;

function snippetDraft(label: string, detail: string, snippet: string, rank = 0): Draft {
  const writes = { kind: 'snippet', snippet } as const;
  return {
    label,
    kind: 'value',
    detail,
    writes,
    rank,
    always: true,
    andThen: true,
  };
}

/** @param name a likely name for the variable or the secret */
function referenceDrafts(name = ''): Draft[] {
  const variable = name === '' ? '$1' : `\${1:${name}}`;
  const secret = `{ secret: \${1:${name || 'NAME'}} }`;
  return [
    snippetDraft('{ env: … }', translated(fromEnvironment), `{ env: ${variable} }`, 1),
    snippetDraft('{ secret: … }', said`a value that you enter once`, secret, 2),
    snippetDraft('{ command: … }', said`what a program prints`, "{ command: ['$1'] }", 3),
  ];
}

function bearerDraft(source: string, name: string): Draft {
  const label = `{ prefix: 'Bearer ', ${source}: … }`;
  return snippetDraft(label, said`bearer token`, `{ prefix: 'Bearer ', ${source}: ${name} }`);
}

async function valueDrafts(request: Request): Promise<readonly Draft[]> {
  const { slot, place } = request;
  const { shape, doc } = place;
  switch (shape.kind) {
    case 'one':
    case 'truth':
    case 'zeroOrOne':
    case 'duration':
      return literals[shape.kind].map((label, rank): Draft => {
        const detail = label === doc?.byDefault ? said`default` : '';
        return {
          label,
          kind: 'value',
          detail,
          writes: { kind: 'snippet', snippet: label },
          rank,
        };
      });
    case 'choice':
      return shape.values.map(({ value: label, summary }, rank): Draft => {
        return {
          label,
          kind: 'value',
          documentation: asMarkdown(translated(summary)),
          rank,
        };
      });
    case 'table':
      if (shape.level !== 'transformItem') return [];
      return levelDrafts('transformItem', request, slot.flow ? ['{ ', ' }'] : undefined);
    case 'texts':
      return itemDrafts(request, ['[', '$1]']);
    case 'text':
      return await textDrafts(shape.of, request);
    case 'value':
      return await launchValueDrafts(shape.of, request);
    case 'prefix': {
      const text = "{ remove: '$1', add: '$2' }";
      return [snippetDraft('{ remove: …, add: … }', said`one prefix for another`, text)];
    }
    default:
      return [];
  }
}

async function launchValueDrafts(
  of: Extract<ValueShape, { kind: 'value' }>['of'],
  request: Request,
): Promise<readonly Draft[]> {
  switch (of) {
    case 'url': {
      const label = '{ prefix: https://…, env: … }';
      return [
        snippetDraft(label, translated(fromEnvironment), "{ prefix: 'https://$1', env: $2 }", 1),
      ];
    }
    case 'argument':
      return [...referenceDrafts(), ...(await pathDrafts(request, true, 'quoted'))];
    case 'variable':
      return referenceDrafts(escapeSnippet(String(request.slot.path.at(-1))));
    case 'header':
      return [bearerDraft('env', '$1'), bearerDraft('secret', '${1:NAME}'), ...referenceDrafts()];
    case 'secret':
      return referenceDrafts();
  }
}

function itemDrafts({ place, deps }: Request, frame?: readonly [string, string]): Draft[] {
  const { shape, server, selection } = place;
  const { item = shape } = shape;
  const isPattern = item.kind === 'text' && item.of === 'pattern';
  if (!isPattern || server === undefined || selection !== 'tools') return [];
  const writes = (value: string): Required<Draft>['writes'] => {
    if (!frame) return { kind: 'quoted', value };
    return {
      kind: 'snippet',
      snippet: frame[0] + escapeSnippet(scalarText(value, "'")) + frame[1],
    };
  };
  const tools = deps.tools(server);
  const families = new Map<string, number>();
  for (const { original } of tools) {
    const family = /^[^_.-]+[_.-]/.exec(original)?.[0];
    if (family !== undefined) families.set(family, (families.get(family) ?? 0) + 1);
  }
  const patterns = [...families].flatMap(([family, count]): Draft[] => {
    const label = `${family}*`;
    const detail = plural(count, 'matches 1 tool', 'matches {0} tools');
    return count > 1 ? [{ label, kind: 'pattern', detail, writes: writes(label), rank: 0 }] : [];
  });
  const names = tools.map(({ original: label, description }): Draft => {
    return {
      label,
      kind: 'tool',
      documentation: formatted`${description}`,
      writes: writes(label),
      rank: 100,
    };
  });
  return [...patterns, ...names];
}

const usual =
  /^(?:VSCODE|ELECTRON|npm_|XDG|LC_|SSH_|DBUS_|_)|^(?:(?:OLD)?PWD|PATH|HOME|HOSTNAME|SHELL|SHLVL|LANG|LANGUAGE|LOGNAME|USER|TERM|DISPLAY|MAIL|TZ|TE?MP|TMPDIR)$/;

/**
 * Orders variables. Names like those of secrets come first, because references are made for
 * secrets.
 */
function likelihood(variable: string): number {
  if (usual.test(variable)) return 2;
  return isSecretName(variable) ? 0 : 1;
}

async function textDrafts(
  of: Extract<ValueShape, { kind: 'text' }>['of'],
  request: Request,
): Promise<Draft[]> {
  const { slot, deps, typed } = request;
  switch (of) {
    case 'variable':
      return deps.variables.map((label): Draft => {
        // `TOKEN: { env: TOKEN }` is the most usual reference.
        const rank = label === slot.path.at(-2) ? -1 : likelihood(label);
        return {
          label,
          kind: 'variable',
          detail: said`is set`,
          rank,
        };
      });
    case 'folder':
    case 'file':
      return await pathDrafts(request, of === 'file', 'text');
    case 'command':
      if (/^['"]?\./.test(typed)) return await pathDrafts(request, true, 'text');
      return ['npx', 'node', 'uvx', 'python', 'docker'].map((label, rank) => ({
        label,
        kind: 'value',
        rank,
      }));
    case 'scheme': {
      const writes = { kind: 'quoted', value: 'Bearer ' } as const;
      return [
        {
          label: 'Bearer ',
          kind: 'value',
          detail: said`bearer token`,
          writes,
        },
      ];
    }
    case 'pattern':
      return itemDrafts(request);
    default:
      return [];
  }
}

async function pathDrafts(
  request: Request,
  files: boolean,
  kind: 'text' | 'quoted',
): Promise<Draft[]> {
  const { slot, deps } = request;
  const typed = request.typed.slice(slot.quote.length);
  const parent = typed.slice(0, typed.lastIndexOf('/') + 1);
  if (parent.startsWith('/') || parent.startsWith('~') || typed.startsWith('-')) return [];
  const folder = parent.replace(/^\.\//, '').slice(0, -1);
  const entries = await deps.entries(folder);
  const drafts = entries
    .filter(
      ({ name, isFolder }) => name !== '.git' && name !== 'node_modules' && (files || isFolder),
    )
    .map(({ name, isFolder }): Draft => {
      const value = parent + name;
      const [folderOrFile, rank] = isFolder ? (['folder', 4] as const) : (['file', 5] as const);
      return {
        label: value,
        kind: folderOrFile,
        writes: { kind, value },
        rank,
      };
    });
  if (parent !== '') return drafts;
  return [
    {
      label: '.',
      kind: 'folder',
      detail: said`the workspace folder`,
      writes: { kind, value: '.' },
    },
    ...drafts,
  ];
}

function fit(drafts: readonly Draft[], slot: Slot, typed: string): Suggestion[] {
  const { span, spaced, quote } = slot;
  return drafts.flatMap((draft) => {
    const text = written(draft, slot);
    if (text === undefined) return [];
    const {
      label,
      kind,
      detail = '',
      documentation = noMarkdown,
      rank = 0,
      always,
      andThen = false,
    } = draft;
    const filter = always ? typed || label : quote + label;
    const order = String(rank + 1000).padStart(6, '0') + label;
    const snippet = spaced ? text : ` ${text}`;
    return [{ label, kind, detail, documentation, snippet, span, filter, order, andThen }];
  });
}

function written(
  { label, writes = { kind: 'text', value: label } }: Draft,
  { quote }: Slot,
): string | undefined {
  switch (writes.kind) {
    case 'text':
    case 'quoted':
      return escapeSnippet(scalarText(writes.value, writes.kind === 'text' ? quote : quote || "'"));
    case 'key':
      return escapeSnippet(quote === '' ? writes.key : scalarText(writes.key, quote)) + writes.rest;
    case 'snippet':
      return quote === '' ? writes.snippet : undefined;
  }
}

function escapeSnippet(text: string): string {
  return text.replace(/[\\$}]/g, '\\$&');
}
