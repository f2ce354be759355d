/**
 * A fix needs the mistake in the present text (E1). `safe` fixes change no working part, so they
 * may go together.
 */
import { said } from '../base/language.js';
import type { Problem } from '../base/problem.js';
import { isOfRun, type ProblemCode } from '../base/problemCatalogue.js';
import { EditNodes, isAlias, isAnchored, isMap, isScalar } from '../yaml/editNodes.js';
import * as edits from '../yaml/edits.js';
import { nearest } from '../base/nearest.js';
import { asFields } from '../base/isObject.js';
import { asText } from '../base/text.js';
import { editsForMe } from '../config/edit/layerEdits.js';
import * as serverEdits from '../config/edit/serverEdits.js';
import { spellingsOf, suggestKey, suggestTransports, transportOfKey } from '../config/keys.js';
import { commandWords } from '../base/commandWords.js';
import { builtInToolset, type ConfigDeps } from '../config/model.js';
import { ConfigState } from '../config/read/merge.js';
import { TextPositions } from '../yaml/textPositions.js';
import { everySyntax, piecesOf } from '../config/foreignReferences.js';
import { isSecretName } from '../config/read/references.js';
import type { RunningPackage } from '../packages/package.js';
import { pinned } from '../packages/pin.js';
import { isValidName } from '../tools/names.js';
import { readYaml } from '../yaml/yamlTree.js';
import { textOf, valueIn, type MapEntry, type ValueNode } from '../yaml/valueNodes.js';
import type { CompletionDeps, KnownTool } from './completion.js';
import { symbolsAt, symbolsOf, type ConfigSymbol } from './symbols.js';

export interface QuickFix {
  readonly title: string;
  readonly does:
    | { readonly kind: 'edit'; readonly edits: readonly edits.TextEdit[] }
    | {
        readonly kind: 'command';
        readonly command: ServerCommand;
        readonly server: string;
      }
    | { readonly kind: 'create'; readonly path: string }
    /** The person enters the value of a secret; the edits are made when they have. */
    | {
        readonly kind: 'secret';
        readonly name: string;
        readonly edits: readonly edits.TextEdit[];
      };
  readonly preferred: boolean;
  readonly safe: boolean;
}

type ServerCommand =
  | 'restart'
  | 'start'
  | 'showServerLog'
  | 'signIn'
  | 'approve'
  | 'acceptTools'
  | 'updateLock'
  | 'keepOutUnused'
  | 'removeRivals';

type KeySymbol = Extract<ConfigSymbol, { kind: 'key' }>;

export interface QuickFixDeps extends Pick<CompletionDeps, 'tools' | 'variables'> {
  /** True if a server can restart, false if it can only start. */
  readonly restartable: (server: string) => boolean;
  /** True if a path of the workspace folder is free for a new file. */
  readonly isFree: (path: string) => boolean;
  /** The text below a layer with a part of a server; undefined if the text has the whole server. */
  readonly below?: (server: string) => string | undefined;
  /** The package of a server, with the version that runs. */
  readonly packageOf?: (server: string) => RunningPackage | undefined;
}

const mostOffered = 20;

type PatternSymbol = Extract<ConfigSymbol, { kind: 'pattern' }> & { readonly written: string };
type NamedSymbol = Extract<ConfigSymbol, { kind: 'variable' | 'secret' }>;

function secretFix(name: string, made: readonly edits.TextEdit[], preferred: boolean): QuickFix {
  const does = {
    kind: 'secret',
    name,
    edits: made,
  } as const;
  return {
    title: said`Enter the value of '${name}'…`,
    does,
    preferred,
    safe: false,
  };
}

/** Changes a list of a server. In a layer, a list begins with the one below (C7). */
function changed(
  text: string,
  server: string,
  { below }: QuickFixDeps,
  change: (text: string) => edits.Edits,
): edits.Edits {
  const shared = below?.(server);
  return shared === undefined ? change(text) : editsForMe({ shared, local: text }, server, change);
}

function withStep({ text, deps }: ReadFile, server: string, step: string): edits.Edits {
  return changed(text, server, deps, (now) => serverEdits.addStep(now, server, step));
}

/** Reads a text once, for any number of problems. @param text without a byte order mark */
export class QuickFixes {
  private readonly file: ReadFile | undefined;

  constructor(
    private readonly text: string,
    private readonly deps: QuickFixDeps,
  ) {
    const nodes = EditNodes.read(text);
    const { root } = readYaml(text);
    const symbols = symbolsOf(root);
    const positions = new TextPositions(text);
    this.file = nodes && { text, deps, nodes, root, symbols, positions };
  }

  for(problem: Problem): QuickFix[] {
    const broken = problem.code === 'yaml-syntax' ? spacesForTabs(this.text) : [];
    const fixes = this.file ? mechanical(new Mistake(this.file, problem)) : broken;
    const { server, tool } = problem;
    const blacklisted =
      server === undefined || tool === undefined
        ? undefined
        : changed(this.text, server, this.deps, (text) =>
            serverEdits.blacklistTool(text, server, tool),
          );
    return [
      ...fixes,
      ...fix(said`Blacklist '${tool ?? ''}'`, blacklisted),
      ...this.ofServer(problem),
    ];
  }

  /** Offers to override the tool or the argument at an offset (O1). No problem is needed. */
  at(offset: number): QuickFix[] {
    return symbolsAt(this.file?.symbols ?? [], offset).flatMap((symbol) => {
      const { server } = symbol;
      if (server === undefined) return [];
      const overridden = symbol.kind === 'overridden' ? symbol : undefined;
      const isPattern = symbol.kind === 'pattern' && symbol.of === 'tools';
      const name = overridden ? overridden.tool : isPattern && textOf(symbol.node);
      const tool = this.deps.tools(server).find(({ original }) => original === name);
      return tool ? this.ofTool(server, tool, overridden?.argument) : [];
    });
  }

  private ofTool(server: string, tool: KnownTool, argument: string | undefined): QuickFix[] {
    const { original, description } = tool;
    const edit = (path: readonly [string, ...string[]], value: string): edits.Edits =>
      serverEdits.addOverride(this.text, server, [original, ...path], value);
    const toFix = (title: string, name: string): QuickFix[] =>
      fix(title, edit(['arguments', name, 'fixed'], exampleOf(tool.arguments.get(name))));
    if (argument !== undefined) return toFix(said`Give This Argument a Fixed Value`, argument);
    const shortened =
      description === '' ? undefined : edit(['description'], edits.scalarText(description, '"'));
    const names = [...tool.arguments.keys()].slice(0, mostOffered);
    return [
      ...fix(said`Shorten Description of '${original}'…`, shortened),
      ...names.flatMap((name) => toFix(said`Give Argument '${name}' a Fixed Value`, name)),
    ];
  }

  all(problems: readonly Problem[]): edits.TextEdit[] {
    const { file } = this;
    if (!file) return [];
    const safe = problems.flatMap((problem) => {
      const found = mechanical(new Mistake(file, problem, 'together')).find((one) => one.safe);
      return found?.does.kind === 'edit' ? [found.does.edits] : [];
    });
    return safe.length === 0 ? [] : [...togetherSafe(this.text, safe, this.deps)];
  }

  private ofServer({ code, server, severity, related }: Problem): QuickFix[] {
    if (server === undefined) return [];
    const command = (title: string, name: ServerCommand, preferred = false): QuickFix[] => [
      {
        title,
        does: {
          kind: 'command',
          command: name,
          server,
        },
        preferred,
        safe: false,
      },
    ];
    const own = (): QuickFix[] => {
      switch (code) {
        case 'sign-in-needed':
          return command(said`Sign in to '${server}'`, 'signIn', true);
        case 'approval-pending':
          return command(said`Approve '${server}'…`, 'approve', true);
        case 'tools-changed': {
          const title = said`Review and accept the changes of '${server}'…`;
          return command(title, 'acceptTools', true);
        }
        case 'lock-differs':
        case 'lock-version':
          return command(said`Update lock of '${server}' for your team`, 'updateLock');
        case 'tools-unused':
          return command(said`Keep out unused tools of '${server}'…`, 'keepOutUnused', true);
        case 'editor-toolset-hidden': {
          const file = related?.[0]?.place.file ?? '';
          const rival = /(?:\.vscode[\\/])?[^\\/]+$/.exec(file)?.[0].replace('\\', '/');
          const title = said`Remove "${server ?? ''}" from ${rival ?? ''}…`;
          return rival === undefined ? [] : command(title, 'removeRivals', true);
        }
        default:
          return [];
      }
    };
    const again = (): QuickFix[] =>
      this.deps.restartable(server)
        ? command(said`Restart '${server}'`, 'restart')
        : command(said`Start '${server}' again`, 'start');
    const isRuntime = isOfRun(code);
    const runtime = isRuntime
      ? [...again(), ...command(said`Show the log of '${server}'`, 'showServerLog')]
      : [];
    const canBeOff = severity === 'error' || isRuntime || code === 'too-many-tools';
    const disabled = canBeOff ? serverEdits.setEnabled(this.text, server, false) : undefined;
    return [...own(), ...runtime, ...fix(said`Disable '${server}'`, disabled)];
  }
}

/** A text without errors. */
interface ReadFile {
  readonly text: string;
  readonly deps: QuickFixDeps;
  readonly nodes: EditNodes;
  readonly root: ValueNode;
  readonly symbols: readonly ConfigSymbol[];
  readonly positions: TextPositions;
}

/** A problem with its place in the present text. */
class Mistake {
  readonly nodes: EditNodes;
  readonly at: number;
  readonly end: number;

  /**
   * @param how `together` leaves the check of the result to the caller, because one check for all
   * takes less time
   */
  constructor(
    readonly file: ReadFile,
    readonly problem: Problem,
    readonly how: 'alone' | 'together' = 'alone',
  ) {
    const { range } = problem.place;
    this.nodes = file.nodes;
    this.at = file.positions.offset(range.start);
    this.end = file.positions.offset(range.end);
  }

  /** The key at the place. */
  get key(): KeySymbol | undefined {
    return this.keyWith(({ keySpan }) => keySpan.start === this.at);
  }

  /** The key of the scalar at the place. */
  get keyOfValue(): KeySymbol | undefined {
    return this.keyWith(({ value }) => value.kind === 'scalar' && value.span.start === this.at);
  }

  private keyWith(isMeant: (entry: MapEntry) => boolean): KeySymbol | undefined {
    return this.file.symbols.find(
      (one): one is KeySymbol => one.kind === 'key' && isMeant(one.entry),
    );
  }

  /** The key of the scalar at the place, if it has this name and the problem is about all of it. */
  wholeValueOf(name: string): KeySymbol | undefined {
    const key = this.keyOfValue;
    return key?.entry.key === name && key.entry.value.span.end === this.end ? key : undefined;
  }

  /** True if a key is in the entry of its server itself, and not in an anchor. */
  isOwn({ server = '', entry }: KeySymbol): boolean {
    const body = serverEdits.serverPair(this.nodes, server)?.pair.value;
    return this.nodes.pairOf(body, entry.key) !== undefined && !isAnchored(body);
  }

  change(
    { entry }: KeySymbol,
    to: string,
    rank: Rank = 'preferred',
    title = `'${to}'`,
  ): QuickFix[] {
    const edit = edits.replaceValue(this.nodes, entry.keySpan.start, to);
    return fix(said`Change to ${title}`, edit, rank);
  }

  /** Changes a value to one that is no text. */
  changeRaw({ entry }: KeySymbol, to: string, rank: Rank, title = `'${to}'`): QuickFix[] {
    const edit = edits.replaceValue(this.nodes, entry.keySpan.start, to, 'raw');
    return fix(said`Change to ${title}`, edit, rank);
  }

  remove({ entry }: KeySymbol, title = said`Remove '${entry.key}'`): QuickFix[] {
    return fix(title, edits.removeKey(this.nodes, entry.keySpan.start));
  }
}

type Fixer = (mistake: Mistake) => QuickFix[];

const fixers: Partial<Record<ProblemCode, Fixer>> = {
  'unknown-key': unknownKey,
  'transport-sse': transport,
  'transport-unsupported': transport,
  'command-with-arguments': argumentsOfCommand,
  'version-missing': ({ nodes }) =>
    fix(said`Add 'version: 1'`, serverEdits.insertVersion(nodes), 'safe'),
  'version-unsupported': ({ nodes }) =>
    fix(said`Change to 'version: 1'`, serverEdits.insertVersion(nodes), 'preferred'),
  'instances-evicted': ({ nodes, problem: { instead = '' } }) => {
    const edit = serverEdits.setHeadKey(nodes, 'maxInstances', instead);
    return fix(said`Write 'maxInstances: ${instead}'`, edit, 'preferred');
  },
  'key-not-for-transport': keyNotForTransport,
  'duplicate-key': duplicateKey,
  'missing-key': missingTransport,
  'local-entry-alone': ({ nodes, at, problem: { instead } }) =>
    instead === undefined || serverEdits.serverPair(nodes, instead)
      ? []
      : fix(said`Change to '${instead}'`, edits.renameKey(nodes, at, instead), 'preferred'),
  'wrong-type': wrongType,
  'duration-invalid': duration,
  'url-invalid': url,
  'reference-not-replaced': reference,
  'command-not-found': otherCommand,
  'cwd-missing': (mistake) =>
    removal(mistake, 'cwd', said`Remove 'cwd' to run in the workspace folder`),
  'env-file-unusable': (mistake) => [
    ...newFile(mistake),
    ...removal(mistake, 'envFile', said`Remove 'envFile'`),
  ],
  'version-not-pinned': pin,
  'server-id-invalid': serverId,
  'duplicate-server': (mistake) => [...serverId(mistake), ...duplicateKey(mistake)],
  'tool-name-invalid': replacement,
  'published-name-invalid': (mistake) => [...affixes(mistake), ...replacement(mistake)],
  'env-unset': unsetVariable,
  'secret-unset': (mistake) =>
    named('secret', mistake).map(({ name }) => secretFix(name, [], true)),
  'override-unknown': misspeltOverride,
  'pattern-blank': blankPattern,
  'pattern-matches-nothing': deadPattern,
  'pattern-overruled': deadPattern,
  'name-taken': ownPrefix,
  'name-reserved': ownPrefix,
};

function pin({ file, nodes, at, end, problem: { server = '' } }: Mistake): QuickFix[] {
  const running = file.deps.packageOf?.(server);
  const argument = textOf(readYaml(file.text.slice(at, end)).root);
  if (running?.runs === undefined || argument === undefined) return [];
  const text = pinned(argument, running, running.runs);
  return text === undefined
    ? []
    : fix(said`Pin to ${running.runs}`, edits.replaceItem(nodes, at, text), 'preferred');
}

function mechanical(mistake: Mistake): QuickFix[] {
  return fixers[mistake.problem.code]?.(mistake) ?? [];
}

type Rank = 'possible' | 'preferred' | 'safe';

/** @param rank a safe fix is preferred too */
function fix(title: string, made: edits.Edits, rank: Rank = 'possible'): QuickFix[] {
  if (!made || made.length === 0) return [];
  const does = { kind: 'edit', edits: made } as const;
  return [
    {
      title,
      does,
      preferred: rank !== 'possible',
      safe: rank === 'safe',
    },
  ];
}

function reference({ file, at: start, end, keyOfValue }: Mistake): QuickFix[] {
  if (['command', 'sessionId', 'clientId'].includes(keyOfValue?.entry.key ?? '')) return [];
  const written = file.text.slice(start, end);
  const pieces = piecesOf(textOf(readYaml(written).root) ?? '', everySyntax);
  const [only, ...more] = pieces.filter((piece) => piece.kind !== 'text');
  if (!only || more.length > 0 || isNoPlainText(written)) return [];
  const name = 'name' in only ? only.name : 'id' in only ? only.id : undefined;
  if (name === undefined) return [];
  const at = pieces.indexOf(only);
  const textAt = (index: number): string | undefined => {
    const piece = pieces[index];
    return piece?.kind === 'text' ? piece.text : undefined;
  };
  const isVariable = only.kind === 'variable';
  const keys = {
    prefix: textAt(at - 1),
    [isVariable ? 'env' : 'secret']: name,
    suffix: textAt(at + 1),
    default: isVariable ? only.fallback : undefined,
  };
  const parts = Object.entries(keys).flatMap(([key, part]) =>
    part === undefined ? [] : [`${key}: ${edits.scalarText(part, part === name ? '' : "'")}`],
  );
  const made = [{ span: { start, end }, text: `{ ${parts.join(', ')} }` }];
  return fix(said`Change to a reference to '${name}'`, made, 'preferred');
}

/** True for a scalar in block style, with an anchor or tag, an alias, or with several lines. */
function isNoPlainText(written: string): boolean {
  return /^[|>&*!]|[\r\n]/.test(written);
}

function otherCommand(mistake: Mistake): QuickFix[] {
  const { instead } = mistake.problem;
  const key = mistake.wholeValueOf('command');
  return key && instead !== undefined ? mistake.change(key, instead) : [];
}

function removal(mistake: Mistake, name: string, title: string): QuickFix[] {
  const key = mistake.wholeValueOf(name);
  return key && mistake.isOwn(key) ? mistake.remove(key, title) : [];
}

function ownPrefix({ file, problem }: Mistake): QuickFix[] {
  const { server = '' } = problem;
  const step = `prefix: ${edits.scalarText(`${server}_`, "'")}`;
  const edit = withStep(file, server, step);
  return fix(said`Add the prefix '${server}_'`, edit, 'preferred');
}

function missingTransport({ file, nodes, problem, how }: Mistake): QuickFix[] {
  const { server = '' } = problem;
  const body = valueIn(file.root, 'servers', server);
  if (body?.kind !== 'map' || body.entries.has('transport')) return [];
  const hasUrl = body.entries.has('url');
  if (hasUrl === body.entries.has('command')) return [];
  // A renamed key becomes the transport.
  if ([...body.entries.keys()].some((key) => suggestKey('server', key) === 'transport')) return [];
  const value = hasUrl ? 'streamable_http' : 'stdio';
  const together = how === 'together' && serverEdits.setOwnKey(nodes, server, 'transport', value);
  const inserted = together || serverEdits.setServerKey(file.text, server, 'transport', value);
  return fix(said`Add 'transport: ${value}'`, inserted, 'safe');
}

function serverId({ nodes, at }: Mistake): QuickFix[] {
  const pair = nodes.pairAt(at)?.pair;
  const servers = nodes.pairOf(nodes.root, 'servers')?.pair.value;
  if (!pair || !isMap(servers) || !servers.items.includes(pair) || !isScalar(pair.key)) return [];
  if (typeof pair.key.value !== 'string') return [];
  const taken = new Set([builtInToolset, ...servers.items.map(keyText)]);
  const letters = pair.key.value.normalize('NFKD').replace(/\p{M}/gu, '').trim();
  const plain = letters.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 60);
  const near = /[a-zA-Z0-9]/.test(plain) ? plain : 'server';
  let id = near;
  for (let count = 2; taken.has(id); count++) id = `${near}_${count}`;
  return fix(said`Rename to '${id}'`, edits.renameKey(nodes, at, id), 'preferred');
}

function keyText({ key }: { readonly key: unknown }): string {
  return asText(isScalar(key) ? key.value : key);
}

function newFile({ file, keyOfValue: key }: Mistake): QuickFix[] {
  const path = key?.entry.key === 'envFile' ? textOf(key.entry.value) : undefined;
  if (path === undefined || path.startsWith('~') || !file.deps.isFree(path)) return [];
  return [
    {
      title: said`Create '${path}'`,
      does: { kind: 'create', path },
      preferred: true,
      safe: false,
    },
  ];
}

function affixes(mistake: Mistake): QuickFix[] {
  const { file, problem } = mistake;
  return file.symbols.flatMap((symbol) => {
    if (symbol.kind !== 'key' || symbol.server !== problem.server) return [];
    if (symbol.level !== 'transformItem' && symbol.entry.key !== 'add') return [];
    const written = textOf(symbol.entry.value) ?? '';
    const usable = written.replace(/[^a-zA-Z0-9_-]+/g, '_');
    return usable === written ? [] : mistake.change(symbol, usable);
  });
}

/** Replaces the characters of the server's name that no published name may have (N4). */
function replacement({ file, problem: { server = '', tool = '' } }: Mistake): QuickFix[] {
  const unusable = /[^a-zA-Z0-9_-]/gu;
  const taken = file.deps.tools(server).map(({ original }) => original);
  const by = ['_', '-', '__'].find((each) => {
    const name = tool.replace(unusable, each);
    return isValidName(name) && !taken.includes(name);
  });
  const wrong = new Set(tool.match(unusable));
  if (by === undefined || wrong.size === 0) return [];
  const pairs = [...wrong].map((one) => `${edits.scalarText(one, "'")}: '${by}'`);
  const step = `replace: { ${pairs.join(', ')} }`;
  return fix(said`Add '${step}'`, withStep(file, server, step), 'preferred');
}

function named(kind: NamedSymbol['kind'], { file, problem, at }: Mistake): NamedSymbol[] {
  const isMeant = (one: ConfigSymbol): one is NamedSymbol =>
    one.kind === kind && one.server === problem.server && one.shownAt.includes(at);
  return file.symbols.filter(isMeant).slice(0, 1);
}

/** Offers a similar variable, or a secret in its place, so a person can enter the value. */
function unsetVariable(mistake: Mistake): QuickFix[] {
  const { nodes, file } = mistake;
  const { variables } = file.deps;
  return named('variable', mistake).flatMap(({ name, entry }) => {
    const at = entry.keySpan.start;
    const similar = variables.includes(name) ? undefined : nearest(name, variables);
    const change = similar === undefined ? undefined : edits.replaceValue(nodes, at, similar);
    const renamed = isSecretName(name) ? edits.renameKey(nodes, at, 'secret') : undefined;
    return [
      ...fix(said`Change to '${similar ?? ''}', which is set`, change),
      ...(renamed ? [secretFix(name, renamed, false)] : []),
    ];
  });
}

/** Renames an override of a tool, or of one of its arguments, to the nearest free name. */
function misspeltOverride({ nodes, file, problem: { server = '' }, at }: Mistake): QuickFix[] {
  const found = file.symbols.find(
    (one) => one.kind === 'overridden' && one.server === server && one.span.start === at,
  );
  if (found?.kind !== 'overridden') return [];
  const { tool, argument, entry } = found;
  const tools = file.deps.tools(server);
  const ofTool = tools.find(({ original }) => original === tool)?.arguments.keys() ?? [];
  const known = argument === undefined ? tools.map(({ original }) => original) : [...ofTool];
  const { map } = nodes.pairAt(at) ?? {};
  const free = known.filter((name) => !nodes.pairOf(map, name));
  const meant = known.includes(entry.key) ? undefined : nearest(entry.key, free);
  const renamed = meant === undefined ? undefined : edits.renameKey(nodes, at, meant);
  return fix(said`Change to "${meant ?? ''}"`, renamed, 'preferred');
}

function patternAt({ file, at }: Mistake): PatternSymbol | undefined {
  const symbol = file.symbols.find((one) => one.kind === 'pattern' && one.span.start === at);
  if (symbol?.kind !== 'pattern' || symbol.node.kind !== 'scalar') return undefined;
  return { ...symbol, written: String(symbol.node.value ?? '') };
}

function blankPattern(mistake: Mistake): QuickFix[] {
  if (patternAt(mistake)?.written.trim() !== '') return [];
  return fix(said`Remove the pattern`, edits.removeItem(mistake.nodes, mistake.at), 'safe');
}

function deadPattern(mistake: Mistake): QuickFix[] {
  const { nodes, at, file, problem } = mistake;
  const symbol = patternAt(mistake);
  if (!symbol || symbol.written !== problem.pattern) return [];
  const { items } = symbol.items;
  const written = items.map((node) => node.kind === 'scalar' && String(node.value));
  const names = file.deps.tools(problem.server ?? '').map(({ original }) => original);
  const meant = nearest(
    symbol.written,
    names.filter((name) => !written.includes(name)),
  );
  const change = meant === undefined ? undefined : edits.replaceItem(nodes, at, meant);
  const removed = edits.removeItem(nodes, at);
  const changes = fix(said`Change to '${meant ?? ''}'`, change, 'preferred');
  if (items.length > 1) {
    const rank = meant === undefined ? 'safe' : 'possible';
    return [...changes, ...fix(said`Remove the pattern`, removed, rank)];
  }
  // An empty list has another meaning than a list without matches.
  const title =
    symbol.list === 'whitelist'
      ? said`Remove the last pattern (an empty whitelist lets all tools through)`
      : said`Remove the last pattern of the list`;
  return [...changes, ...fix(title, removed)];
}

function scalarAt({ entry: { value } }: KeySymbol): string {
  return value.kind === 'scalar' ? String(value.value) : '';
}

function unknownKey(mistake: Mistake): QuickFix[] {
  const { nodes, at, key } = mistake;
  if (!key || key.doc) return [];
  const { level, entry, map } = key;
  const remove = mistake.remove(key);
  if (level === 'server' && entry.key.toLowerCase() === 'disabled')
    return [...turnedAround(nodes, key), ...remove];
  const meant = suggestKey(level, entry.key);
  if (meant === undefined || spellingsOf(meant).some((one) => map.entries.has(one))) return remove;
  // A guessed folder or file may not exist.
  const rank = meant === 'cwd' || meant === 'envFile' ? 'preferred' : 'safe';
  return [...fix(said`Rename to '${meant}'`, edits.renameKey(nodes, at, meant), rank), ...remove];
}

/** Changes `disabled` to `enabled` with the opposite value. */
function turnedAround(nodes: EditNodes, { entry, map }: KeySymbol): QuickFix[] {
  const { value, keySpan } = entry;
  const off = value.kind === 'scalar' ? value.value : undefined;
  if (typeof off !== 'boolean' || map.entries.has('enabled')) return [];
  const renamed = edits.renameKey(nodes, keySpan.start, 'enabled');
  const turned = edits.replaceValue(nodes, keySpan.start, String(!off), 'raw');
  const made = renamed && turned && [...renamed, ...turned];
  return fix(said`Change to 'enabled: ${String(!off)}'`, made, 'safe');
}

function transport(mistake: Mistake): QuickFix[] {
  const { keyOfValue: key, problem } = mistake;
  if (key?.entry.key !== 'transport') return [];
  const found = scalarAt(key);
  const isSse = problem.code === 'transport-sse';
  if (isSse !== (found === 'sse') || found === 'stdio' || found === 'streamable_http') return [];
  const { entries } = key.map;
  const isProgram = isSse && entries.has('command') && !entries.has('url');
  const meant = isProgram ? ['stdio'] : suggestTransports(found);
  const rank = meant.length > 1 ? 'possible' : 'preferred';
  return meant.flatMap((value) =>
    mistake.change(key, value, isSse ? 'safe' : rank, `'transport: ${value}'`),
  );
}

function keyNotForTransport(mistake: Mistake): QuickFix[] {
  const { key } = mistake;
  if (!key || key.level !== 'server' || !mistake.isOwn(key)) return [];
  const owner = transportOfKey.get(key.entry.key);
  const present = textOf(key.map.entries.get('transport')?.value);
  return owner === undefined || present === owner ? [] : mistake.remove(key);
}

function duplicateKey({ nodes, at }: Mistake): QuickFix[] {
  const { map, pair } = nodes.pairAt(at) ?? {};
  if (!map || !pair) return [];
  // Headers are the same key in upper and lower case.
  const names = spellingsOf(keyText(pair).toLowerCase());
  const same = map.items.filter((one) => names.includes(keyText(one).toLowerCase()));
  return same.length < 2 ? [] : fix(said`Remove this duplicate`, edits.removeKey(nodes, at));
}

function wrongType(mistake: Mistake): QuickFix[] {
  const { keyOfValue: key, file } = mistake;
  if (!key) return [];
  const { value } = key.entry;
  if (value.kind !== 'scalar' || value.value === null) return [];
  const text = String(value.value);
  switch (key.doc?.value.kind) {
    case 'truth':
      if (/^(?:true|yes|on)$/i.test(text)) return mistake.changeRaw(key, 'true', 'safe');
      return /^(?:false|no|off)$/i.test(text) ? mistake.changeRaw(key, 'false', 'safe') : [];
    case 'texts':
    case 'arguments': {
      const written = file.text.slice(value.span.start, value.span.end);
      if (isNoPlainText(written)) return [];
      const list = `[${edits.scalarText(text)}]`;
      return mistake.changeRaw(key, list, 'preferred', said`the list '[${written}]'`);
    }
    default:
      return [];
  }
}

function duration(mistake: Mistake): QuickFix[] {
  const { keyOfValue: key } = mistake;
  const units = /^(\d{1,4}) ?(h|hours?|min|minutes?|sec|seconds?)?$/i;
  const [, amount = '0', unit = ''] = units.exec(key ? scalarAt(key).trim() : '') ?? [];
  if (!key || amount === '0') return [];
  const letter = unit.charAt(0).toLowerCase();
  if (letter === 'h') return mistake.changeRaw(key, `${Number(amount) * 60}m`, 'preferred');
  if (letter !== '') return mistake.changeRaw(key, amount + letter, 'preferred');
  return ['s', 'ms'].flatMap((one) => mistake.changeRaw(key, amount + one, 'possible'));
}

/**
 * Moves words behind the program into the arguments. Shared keys get no fix: other servers may have
 * other partners.
 */
function argumentsOfCommand(mistake: Mistake): QuickFix[] {
  const { nodes, keyOfValue: key } = mistake;
  if (key?.entry.key !== 'command' || !mistake.isOwn(key)) return [];
  const at = key.entry.keySpan.start;
  const [program, ...more] = commandWords(scalarAt(key)) ?? [];
  const { map, pair } = nodes.pairAt(at) ?? {};
  if (program === undefined || more.length === 0 || !map || !pair) return [];
  const written = nodes.pairOf(map, 'args');
  const isShared = [pair.value, written?.pair.value].some(
    (node) => isAlias(node) || isAnchored(node),
  );
  if (isShared || (!written && key.map.entries.has('args'))) return [];
  const command = edits.replaceValue(nodes, at, program);
  const words = more.map((word) => edits.scalarText(word, "'"));
  const moved = written
    ? edits.prependItems(nodes, written, words)
    : edits.insertAfter(nodes, at, 'args', `[${words.join(', ')}]`);
  return fix(
    said`Move the arguments to 'args'`,
    command && moved && [...command, ...moved],
    'safe',
  );
}

function url(mistake: Mistake): QuickFix[] {
  const { keyOfValue: key } = mistake;
  const written = key ? scalarAt(key).trim() : '';
  const address = /^(?:localhost|\d+(?:\.\d+){3}|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:\/\S*)?$/i;
  if (!key || !address.test(written)) return [];
  const scheme = /^(?:localhost|127\.)/i.test(written) ? 'http' : 'https';
  return mistake.change(key, `${scheme}://${written}`);
}

/**
 * Offers spaces for tabs in the indentation, if the result is YAML. Other tabs stay if possible.
 */
function spacesForTabs(text: string): QuickFix[] {
  const tab = /^ {1,8}(?=[^\s#])/m.exec(text)?.[0] ?? '  ';
  const spaces = (blanks: string): string => blanks.replaceAll('\t', tab);
  for (const indentation of [/^\t[ \t]*/gm, /^ *\t[ \t]*/gm]) {
    if (!EditNodes.read(text.replace(indentation, spaces))) continue;
    const made = [...text.matchAll(indentation)].map(({ 0: blanks, index }) => ({
      span: { start: index, end: index + blanks.length },
      text: spaces(blanks),
    }));
    return fix(said`Change the tabs to spaces`, made, 'preferred');
  }
  return [];
}

/** Returns a value that the person replaces, in flow style. */
function exampleOf(schema: unknown): string {
  const { default: byDefault, const: only, enum: values } = asFields(schema);
  const known = byDefault ?? only ?? (Array.isArray(values) ? (values as unknown[])[0] : undefined);
  return known === undefined ? "''" : JSON.stringify(known);
}

type Fix = readonly edits.TextEdit[];

/** The limit of fixes that are tried one by one, because each costs a reading of the file. */
const mostTried = 24;

/**
 * Returns the edits of compatible fixes: each may be safe, but two of them may have the same
 * result.
 */
function togetherSafe(
  text: string,
  fixes: readonly Fix[],
  { variables, below: textBelow }: QuickFixDeps,
): Fix {
  // A mistake shared by several servers has a fix for each.
  const different = [...new Map(fixes.map((fix) => [JSON.stringify(fix), fix])).values()];
  const deps: ConfigDeps = {
    env: Object.fromEntries(variables.map((name) => [name, ''])),
    directoryExists: () => true,
    secret: () => '',
  };
  const ids = textBelow ? [...serverEdits.serverIds(text)] : [];
  const below = new Set(ids.flatMap((id) => textBelow?.(id) ?? []));
  const before = outcomeOf(text, below, deps);
  const works = (made: Fix): boolean => {
    if (edits.withoutOverlaps(made).length < made.length) return false;
    return isNoWorse(outcomeOf(edits.applyEdits(text, made), below, deps), before);
  };
  const tried = works(different.flat()) ? [different.flat()] : different.slice(0, mostTried);
  return tried.reduce((kept, fix) => (works([...kept, ...fix]) ? [...kept, ...fix] : kept), []);
}

interface Outcome {
  readonly isAccepted: boolean;
  /** The ids of valid servers. */
  readonly working: ReadonlySet<string>;
  readonly duplicates: number;
}

/** @param below the texts below a layer, because only the joined entries work (C7) */
function outcomeOf(text: string, below: ReadonlySet<string>, deps: ConfigDeps): Outcome {
  const own = { file: '', folder: '/', text };
  const others = [...below].map((other, index) => ({ ...own, file: `${index}`, text: other }));
  const sources = below.size > 0 ? [...others, { ...own, origin: 'local' as const }] : [own];
  const { model, problems, refused } = new ConfigState().apply(sources, deps);
  const valid = model.servers.filter(({ kind }) => kind === 'valid');
  return {
    isAccepted: !refused.includes(own.file),
    working: new Set(valid.map(({ id }) => id)),
    duplicates: problems.filter(({ code }) => code === 'duplicate-key').length,
  };
}

function isNoWorse(after: Outcome, before: Outcome): boolean {
  if (before.isAccepted && !after.isAccepted) return false;
  if (after.duplicates > before.duplicates) return false;
  return [...before.working].every((id) => after.working.has(id));
}
