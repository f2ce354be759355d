/**
 * A fix needs the mistake in the present text (E1). `safe` fixes change no working part, so they
 * may go together.
 */
import type { Problem } from '../base/problem.js';
import { isOfRun, type ProblemCode } from '../base/problemCatalogue.js';
import { EditNodes, isAlias, isAnchored, isMap, isScalar } from '../yaml/editNodes.js';
import * as edits from '../yaml/edits.js';
import { nearest } from '../base/nearest.js';
import { asFields } from '../base/isObject.js';
import { asText } from '../base/text.js';
import * as serverEdits from '../config/edit/serverEdits.js';
import { suggestKey, suggestTransports, transportOfKey } from '../config/keys.js';
import { commandWords } from '../config/read/commandWords.js';
import { builtInToolset, type ConfigDeps } from '../config/model.js';
import { parseMindsFile } from '../config/read/parse.js';
import { TextPositions } from '../yaml/textPositions.js';
import { everySyntax, piecesOf } from '../config/foreignReferences.js';
import { isSecretName } from '../config/read/references.js';
import { readYaml } from '../yaml/yamlTree.js';
import { textOf, valueIn, type MapEntry, type ValueNode } from '../yaml/valueNodes.js';
import type { CompletionDeps, KnownTool } from './completion.js';
import { symbolsAt, symbolsOf, type ConfigSymbol } from './symbols.js';

export interface QuickFix {
  readonly title: string;
  readonly does:
    | { readonly kind: 'edit'; readonly edits: readonly edits.TextEdit[] }
    | { readonly kind: 'command'; readonly command: ServerCommand; readonly server: string }
    | { readonly kind: 'create'; readonly path: string }
    /** The person enters the value of a secret; the edits are made when they have. */
    | { readonly kind: 'secret'; readonly name: string; readonly edits: readonly edits.TextEdit[] };
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
  | 'removeRivals';

type KeySymbol = Extract<ConfigSymbol, { kind: 'key' }>;

export interface QuickFixDeps extends Pick<CompletionDeps, 'tools' | 'variables'> {
  /** True if a server can restart, false if it can only start. */
  readonly restartable: (server: string) => boolean;
  /** True if a path of the workspace folder is free for a new file. */
  readonly isFree: (path: string) => boolean;
}

const mostOffered = 20;

type PatternSymbol = Extract<ConfigSymbol, { kind: 'pattern' }> & { readonly written: string };
type NamedSymbol = Extract<ConfigSymbol, { kind: 'variable' | 'secret' }>;

function secretFix(name: string, made: readonly edits.TextEdit[], preferred: boolean): QuickFix {
  const does = { kind: 'secret', name, edits: made } as const;
  return { title: `Enter the value of '${name}'…`, does, preferred, safe: false };
}

/** Reads a text once, for any number of problems. @param text without a byte order mark */
export class QuickFixes {
  private readonly nodes: EditNodes | undefined;
  private readonly symbols: readonly ConfigSymbol[];
  private readonly root: ValueNode;
  private readonly positions: TextPositions;

  constructor(
    private readonly text: string,
    private readonly deps: QuickFixDeps,
  ) {
    this.nodes = EditNodes.read(text);
    this.root = readYaml(text).root;
    this.symbols = symbolsOf(this.root);
    this.positions = new TextPositions(text);
  }

  for(problem: Problem): QuickFix[] {
    const broken = problem.code === 'yaml-syntax' ? spacesForTabs(this.text) : [];
    const fixes = this.nodes ? this.mechanical(problem, this.nodes) : broken;
    const { server, tool } = problem;
    const blacklisted =
      server === undefined || tool === undefined
        ? undefined
        : serverEdits.blacklistTool(this.text, server, tool);
    return [...fixes, ...fix(`Blacklist '${tool}'`, blacklisted), ...this.ofServer(problem)];
  }

  /** Offers to override the tool or the argument at an offset (O1). No problem is needed. */
  at(offset: number): QuickFix[] {
    return symbolsAt(this.symbols, offset).flatMap((symbol) => {
      const { server } = symbol;
      if (server === undefined) return [];
      const pattern =
        symbol.kind === 'pattern' && symbol.of === 'tools' ? textOf(symbol.node) : undefined;
      const [name, argument] =
        symbol.kind === 'overridden' ? [symbol.tool, symbol.argument] : [pattern];
      const tool = this.deps.tools(server).find(({ original }) => original === name);
      return tool ? this.ofTool(server, tool, argument) : [];
    });
  }

  private ofTool(server: string, tool: KnownTool, argument: string | undefined): QuickFix[] {
    const { original, description } = tool;
    const edit = (path: readonly [string, ...string[]], value: string): edits.Edits =>
      serverEdits.addOverride(this.text, server, original, path, value);
    const toFix = (title: string, name: string): QuickFix[] =>
      fix(title, edit(['arguments', name, 'fixed'], exampleOf(tool.arguments.get(name))));
    if (argument !== undefined) return toFix('Fix This Argument', argument);
    const shortened =
      description === '' ? undefined : edit(['description'], edits.scalarText(description, '"'));
    const names = [...tool.arguments.keys()].slice(0, mostOffered);
    return [
      ...fix(`Shorten Description of '${original}'…`, shortened),
      ...names.flatMap((name) => toFix(`Fix Argument '${name}'`, name)),
    ];
  }

  all(problems: readonly Problem[]): edits.TextEdit[] {
    const { nodes } = this;
    if (!nodes) return [];
    const safe = problems.flatMap((problem) => {
      const found = this.mechanical(problem, nodes, 'together').find((fix) => fix.safe);
      return found?.does.kind === 'edit' ? [found.does.edits] : [];
    });
    return safe.length === 0 ? [] : [...togetherSafe(this.text, safe, this.deps.variables)];
  }

  private ofServer({ code, server, severity, related = [] }: Problem): QuickFix[] {
    if (server === undefined) return [];
    const command = (title: string, name: ServerCommand, preferred = false): QuickFix[] => [
      { title, does: { kind: 'command', command: name, server }, preferred, safe: false },
    ];
    const [again, title] = this.deps.restartable(server)
      ? (['restart', `Restart '${server}'`] as const)
      : (['start', `Start '${server}' again`] as const);
    const rival = /(?:\.vscode[\\/])?[^\\/]+$/
      .exec(related[0]?.place.file ?? '')?.[0]
      .replace('\\', '/');
    const special: Partial<Record<ProblemCode, QuickFix[]>> = {
      'sign-in-needed': command(`Sign in to '${server}'`, 'signIn', true),
      'approval-pending': command(`Approve '${server}'…`, 'approve', true),
      'tools-changed': command(
        `Review and accept the changes of '${server}'…`,
        'acceptTools',
        true,
      ),
      'editor-toolset-hidden':
        rival === undefined
          ? []
          : command(`Remove "${server}" from ${rival}…`, 'removeRivals', true),
    };
    const isRuntime = isOfRun(code);
    const isOff = severity === 'error' || isRuntime || code === 'too-many-tools';
    return [
      ...(special[code] ?? []),
      ...(isRuntime
        ? [...command(title, again), ...command(`Show the log of '${server}'`, 'showServerLog')]
        : []),
      ...(isOff
        ? fix(`Disable '${server}'`, serverEdits.setEnabled(this.text, server, false))
        : []),
    ];
  }

  /**
   * @param how `together` leaves the check of the result to the caller, because one check for all
   * takes less time
   */
  private mechanical(
    problem: Problem,
    nodes: EditNodes,
    how: 'alone' | 'together' = 'alone',
  ): QuickFix[] {
    const { code, server = '', instead } = problem;
    const [at, end] = this.offsets(problem);
    const keyWith = (isMeant: (entry: MapEntry) => boolean): KeySymbol | undefined =>
      this.symbols.find((one): one is KeySymbol => one.kind === 'key' && isMeant(one.entry));
    const key = keyWith(({ keySpan }) => keySpan.start === at);
    const valueKey = keyWith(({ value }) => value.kind === 'scalar' && value.span.start === at);
    const ofKey = (make: (nodes: EditNodes, key: KeySymbol) => QuickFix[]): QuickFix[] =>
      key ? make(nodes, key) : [];
    const ofValue = (
      make: (nodes: EditNodes, key: KeySymbol) => QuickFix[],
      name = valueKey?.entry.key,
    ): QuickFix[] => (valueKey && valueKey.entry.key === name ? make(nodes, valueKey) : []);
    const isAsLong = ({ entry }: KeySymbol): boolean => entry.value.span.end === end;
    const remove = (own: KeySymbol, title: string): QuickFix[] =>
      this.ownKey(own) && isAsLong(own) ? removal(nodes, own, title) : [];
    const deadPattern = (): QuickFix[] => this.deadPattern(nodes, at, problem);
    const prefix = (): QuickFix[] =>
      fix(
        `Add the prefix '${server}_'`,
        serverEdits.addPrefix(this.text, server, `${server}_`),
        'preferred',
      );
    const transportFix = (): QuickFix[] =>
      ofValue((_, own) => transport(nodes, own, code), 'transport');
    const made: Partial<Record<ProblemCode, () => QuickFix[]>> = {
      'unknown-key': () => ofKey(unknownKey),
      'transport-sse': transportFix,
      'transport-unsupported': transportFix,
      'command-with-arguments': () =>
        ofValue((_, own) => (this.ownKey(own) ? argumentsOfCommand(nodes, own) : []), 'command'),
      'version-missing': () => fix("Add 'version: 1'", serverEdits.insertVersion(nodes), 'safe'),
      'version-unsupported': () =>
        fix("Change to 'version: 1'", serverEdits.insertVersion(nodes), 'preferred'),
      'key-not-for-transport': () =>
        ofKey((_, own) => (this.ownKey(own) ? keyNotForTransport(nodes, own) : [])),
      'duplicate-key': () => duplicateKey(nodes, at),
      'missing-key': () => this.missingTransport(problem, nodes, how),
      'wrong-type': () => ofValue(wrongType),
      'duration-invalid': () => ofValue(duration),
      'url-invalid': () => ofValue(url),
      'reference-not-replaced': () =>
        ['command', 'sessionId', 'clientId'].includes(valueKey?.entry.key ?? '')
          ? []
          : this.reference(at, end),
      'command-not-found': () =>
        ofValue(
          (_, own) => (instead !== undefined && isAsLong(own) ? changeTo(nodes, own, instead) : []),
          'command',
        ),
      'cwd-missing': () =>
        ofValue((_, own) => remove(own, "Remove 'cwd' to run in the workspace folder"), 'cwd'),
      'env-file-unusable': () =>
        ofValue((_, own) => [...this.newFile(own), ...remove(own, "Remove 'envFile'")], 'envFile'),
      'server-id-invalid': () => this.serverId(nodes, at),
      'duplicate-server': () => [...this.serverId(nodes, at), ...duplicateKey(nodes, at)],
      'published-name-invalid': () => this.affixes(nodes, problem),
      'env-unset': () => this.unsetVariable(nodes, problem),
      'secret-unset': () =>
        this.named('secret', problem).map(({ name }) => secretFix(name, [], true)),
      'pattern-blank': () =>
        this.patternAt(at)?.written.trim() === ''
          ? fix('Remove the pattern', edits.removeItem(nodes, at), 'safe')
          : [],
      'pattern-matches-nothing': deadPattern,
      'pattern-overruled': deadPattern,
      'name-taken': prefix,
      'name-reserved': prefix,
    };
    return made[code]?.() ?? [];
  }

  private offsets({ place: { range } }: Problem): readonly [number, number] {
    return [this.positions.offset(range.start), this.positions.offset(range.end)];
  }

  private reference(start: number, end: number): QuickFix[] {
    const written = this.text.slice(start, end);
    const pieces = piecesOf(textOf(readYaml(written).root) ?? '', everySyntax);
    const at = pieces.findIndex(({ kind }) => kind !== 'text');
    const before = pieces[at - 1];
    const only = pieces[at];
    const behind = pieces[at + 1];
    const isOne = pieces.filter(({ kind }) => kind !== 'text').length === 1;
    if (!isOne || !only || !('name' in only || 'id' in only) || /^[|>&*!]|[\r\n]/.test(written))
      return [];
    const name = 'id' in only ? only.id : only.name;
    const keys = {
      prefix: before?.kind === 'text' ? before.text : undefined,
      [only.kind === 'variable' ? 'env' : 'secret']: name,
      suffix: behind?.kind === 'text' ? behind.text : undefined,
      default: only.kind === 'variable' ? only.fallback : undefined,
    };
    const parts = Object.entries(keys).flatMap(([key, part]) =>
      part === undefined ? [] : [`${key}: ${edits.scalarText(part, part === name ? '' : "'")}`],
    );
    const made = [{ span: { start, end }, text: `{ ${parts.join(', ')} }` }];
    return fix(`Change to a reference to '${name}'`, made, 'preferred');
  }

  /** True if a key is in the entry of its server itself, and not in an anchor. */
  private ownKey({ server, entry }: KeySymbol): boolean {
    const nodes = this.nodes;
    const body = nodes && serverEdits.serverPair(nodes, server ?? '')?.pair.value;
    return nodes?.pairOf(body, entry.key) !== undefined && !isAnchored(body);
  }

  private missingTransport(
    { server }: Problem,
    nodes: EditNodes,
    how: 'alone' | 'together',
  ): QuickFix[] {
    const body = valueIn(this.root, 'servers', server ?? '');
    if (server === undefined || body?.kind !== 'map' || body.entries.has('transport')) return [];
    if (body.entries.has('url') === body.entries.has('command')) return [];
    // A renamed key becomes the transport.
    if ([...body.entries.keys()].some((key) => suggestKey('server', key) === 'transport'))
      return [];
    const value = body.entries.has('url') ? 'streamable_http' : 'stdio';
    const together = how === 'together' && serverEdits.setOwnKey(nodes, server, 'transport', value);
    const inserted = together || serverEdits.setServerKey(this.text, server, 'transport', value);
    return fix(`Add 'transport: ${value}'`, inserted, 'safe');
  }

  private serverId(nodes: EditNodes, at: number): QuickFix[] {
    const pair = nodes.pairAt(at)?.pair;
    const servers = nodes.pairOf(nodes.root, 'servers')?.pair.value;
    if (!isMap(servers) || !servers.items.some((one) => one === pair) || !isScalar(pair?.key))
      return [];
    if (typeof pair.key.value !== 'string') return [];
    const taken = new Set([
      builtInToolset,
      ...servers.items.map(({ key }) => asText(isScalar(key) ? key.value : key)),
    ]);
    const letters = pair.key.value.normalize('NFKD').replace(/\p{M}/gu, '').trim();
    const plain = letters.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 60);
    const near = /[a-zA-Z0-9]/.test(plain) ? plain : 'server';
    let id = near;
    for (let count = 2; taken.has(id); count++) id = `${near}_${count}`;
    return fix(`Rename to '${id}'`, edits.renameKey(nodes, at, id), 'preferred');
  }

  private newFile({ entry }: KeySymbol): QuickFix[] {
    const path = textOf(entry.value) ?? '';
    if (path.startsWith('~') || !this.deps.isFree(path)) return [];
    return [
      { title: `Create '${path}'`, does: { kind: 'create', path }, preferred: true, safe: false },
    ];
  }

  private affixes(nodes: EditNodes, { server }: Problem): QuickFix[] {
    return this.symbols.flatMap((symbol) => {
      if (symbol.kind !== 'key' || symbol.server !== server || symbol.doc?.value.kind === 'table')
        return [];
      if (symbol.level !== 'transformItem' && symbol.entry.key !== 'add') return [];
      const written = textOf(symbol.entry.value) ?? '';
      const usable = written.replace(/[^a-zA-Z0-9_-]+/g, '_');
      return usable === written ? [] : changeTo(nodes, symbol, usable);
    });
  }

  private named(kind: 'variable' | 'secret', problem: Problem): NamedSymbol[] {
    const [at] = this.offsets(problem);
    const isMeant = (one: ConfigSymbol): one is NamedSymbol =>
      one.kind === kind && one.server === problem.server && one.shownAt.includes(at);
    return this.symbols.filter(isMeant).slice(0, 1);
  }

  /** Offers a similar variable, or a secret in its place, so a person can enter the value. */
  private unsetVariable(nodes: EditNodes, problem: Problem): QuickFix[] {
    const { variables } = this.deps;
    return this.named('variable', problem).flatMap(({ name, entry }) => {
      const at = entry.keySpan.start;
      const similar = variables.includes(name) ? undefined : nearest(name, variables);
      const change = similar === undefined ? undefined : edits.replaceValue(nodes, at, similar);
      const renamed = isSecretName(name) ? edits.renameKey(nodes, at, 'secret') : undefined;
      return [
        ...fix(`Change to '${similar}', which is set`, change),
        ...(renamed ? [secretFix(name, renamed, false)] : []),
      ];
    });
  }

  private patternAt(at: number): PatternSymbol | undefined {
    const symbol = this.symbols.find((one) => one.kind === 'pattern' && one.span.start === at);
    if (symbol?.kind !== 'pattern' || symbol.node.kind !== 'scalar') return undefined;
    return { ...symbol, written: String(symbol.node.value ?? '') };
  }

  private deadPattern(nodes: EditNodes, at: number, { server, pattern }: Problem): QuickFix[] {
    const symbol = this.patternAt(at);
    if (!symbol || symbol.written !== pattern) return [];
    const written = symbol.items.items.flatMap((node) =>
      node.kind === 'scalar' ? [String(node.value)] : [],
    );
    const names = this.deps.tools(server ?? '').map(({ original }) => original);
    const meant = nearest(
      symbol.written,
      names.filter((name) => !written.includes(name)),
    );
    const isLast = symbol.items.items.length === 1;
    // An empty list has another meaning than a list without matches.
    const effect =
      symbol.list === 'whitelist' ? '(an empty whitelist lets all tools through)' : 'of the list';
    const title = isLast ? `Remove the last pattern ${effect}` : 'Remove the pattern';
    return [
      ...(meant === undefined
        ? []
        : fix(`Change to '${meant}'`, edits.replaceItem(nodes, at, meant), 'preferred')),
      ...fix(
        title,
        edits.removeItem(nodes, at),
        meant === undefined && !isLast ? 'safe' : 'possible',
      ),
    ];
  }
}

/** @param rank a safe fix is preferred too */
function fix(
  title: string,
  made: edits.Edits,
  rank: 'possible' | 'preferred' | 'safe' = 'possible',
): QuickFix[] {
  if (!made || made.length === 0) return [];
  return [
    {
      title,
      does: { kind: 'edit', edits: made },
      preferred: rank !== 'possible',
      safe: rank === 'safe',
    },
  ];
}

function scalarAt({ entry: { value } }: KeySymbol): string {
  return value.kind === 'scalar' ? String(value.value) : '';
}

function changeTo(nodes: EditNodes, { entry }: KeySymbol, to: string): QuickFix[] {
  return fix(`Change to '${to}'`, edits.replaceValue(nodes, entry.keySpan.start, to), 'preferred');
}

function removal(
  nodes: EditNodes,
  { entry }: KeySymbol,
  title = `Remove '${entry.key}'`,
): QuickFix[] {
  return fix(title, edits.removeKey(nodes, entry.keySpan.start));
}

function unknownKey(nodes: EditNodes, symbol: KeySymbol): QuickFix[] {
  const { level, entry, map, doc } = symbol;
  if (doc) return [];
  const at = entry.keySpan.start;
  const remove = removal(nodes, symbol);
  const { value } = entry;
  if (level === 'server' && entry.key.toLowerCase() === 'disabled') {
    if (value.kind !== 'scalar' || typeof value.value !== 'boolean' || map.entries.has('enabled'))
      return remove;
    const key = edits.renameKey(nodes, at, 'enabled');
    const turned = edits.replaceValue(nodes, at, String(!value.value), 'raw');
    return [
      ...fix(`Change to 'enabled: ${!value.value}'`, key && turned && [...key, ...turned], 'safe'),
      ...remove,
    ];
  }
  const meant = suggestKey(level, entry.key);
  if (meant === undefined || map.entries.has(meant)) return remove;
  // A guessed folder or file may not exist.
  const rank = meant === 'cwd' || meant === 'envFile' ? 'preferred' : 'safe';
  return [...fix(`Rename to '${meant}'`, edits.renameKey(nodes, at, meant), rank), ...remove];
}

function transport(nodes: EditNodes, symbol: KeySymbol, code: ProblemCode): QuickFix[] {
  const found = scalarAt(symbol);
  const { entry, map } = symbol;
  const sse = code === 'transport-sse';
  if (sse !== (found === 'sse') || found === 'stdio' || found === 'streamable_http') return [];
  const isProgram = sse && map.entries.has('command') && !map.entries.has('url');
  const meant = isProgram ? ['stdio'] : suggestTransports(found);
  const rank = sse ? 'safe' : meant.length > 1 ? 'possible' : 'preferred';
  return meant.flatMap((value) =>
    fix(
      `Change to 'transport: ${value}'`,
      edits.replaceValue(nodes, entry.keySpan.start, value),
      rank,
    ),
  );
}

function keyNotForTransport(nodes: EditNodes, symbol: KeySymbol): QuickFix[] {
  const { level, entry, map } = symbol;
  const belongsTo = level === 'server' ? transportOfKey.get(entry.key) : undefined;
  if (belongsTo === undefined || textOf(map.entries.get('transport')?.value) === belongsTo)
    return [];
  return removal(nodes, symbol);
}

function duplicateKey(nodes: EditNodes, at: number): QuickFix[] {
  const { map, pair } = nodes.pairAt(at) ?? {};
  // Headers are the same key in upper and lower case.
  const name = ({ key }: { readonly key: unknown }): string =>
    asText(isScalar(key) ? key.value : key).toLowerCase();
  if (!map || !pair || map.items.filter((one) => name(one) === name(pair)).length < 2) return [];
  return fix('Remove this duplicate', edits.removeKey(nodes, at));
}

function wrongType(nodes: EditNodes, symbol: KeySymbol): QuickFix[] {
  const { value, keySpan } = symbol.entry;
  const kind = symbol.doc?.value.kind;
  if (value.kind !== 'scalar' || value.value === null) return [];
  const change = (title: string, to: string, rank: 'preferred' | 'safe'): QuickFix[] =>
    fix(`Change to ${title}`, edits.replaceValue(nodes, keySpan.start, to, 'raw'), rank);
  if (kind === 'truth') {
    const [, yes, no] = /^(?:(true|yes|on)|(false|no|off))$/i.exec(String(value.value)) ?? [];
    const said = yes === undefined ? no && 'false' : 'true';
    return said === undefined ? [] : change(`'${said}'`, said, 'safe');
  }
  const written = nodes.text.slice(value.span.start, value.span.end);
  if ((kind !== 'texts' && kind !== 'arguments') || /^[|>&*!]|[\r\n]/.test(written)) return [];
  return change(
    `the list '[${written}]'`,
    `[${edits.scalarText(String(value.value))}]`,
    'preferred',
  );
}

function duration(nodes: EditNodes, symbol: KeySymbol): QuickFix[] {
  const [, amount = '0', unit = ''] =
    /^(\d{1,4}) ?(h|hours?|min|minutes?|sec|seconds?)?$/i.exec(scalarAt(symbol).trim()) ?? [];
  if (amount === '0') return [];
  const letter = unit.charAt(0).toLowerCase();
  const options =
    letter === 'h'
      ? [`${Number(amount) * 60}m`]
      : letter
        ? [amount + letter]
        : [`${amount}s`, `${amount}ms`];
  const rank = options.length === 1 ? 'preferred' : 'possible';
  return options.flatMap((value) =>
    fix(
      `Change to '${value}'`,
      edits.replaceValue(nodes, symbol.entry.keySpan.start, value, 'raw'),
      rank,
    ),
  );
}

/**
 * Moves words behind the program into the arguments. Shared keys get no fix: other servers may have
 * other partners.
 */
function argumentsOfCommand(nodes: EditNodes, symbol: KeySymbol): QuickFix[] {
  const at = symbol.entry.keySpan.start;
  const [program, ...more] = commandWords(scalarAt(symbol)) ?? [];
  const { map, pair } = nodes.pairAt(at) ?? {};
  if (program === undefined || more.length === 0 || !map || !pair) return [];
  const command = edits.replaceValue(nodes, at, program);
  const words = more.map((word) => edits.scalarText(word, "'"));
  const written = nodes.pairOf(map, 'args');
  const isShared = [pair.value, written?.pair.value].some(
    (node) => isAlias(node) || isAnchored(node),
  );
  if (isShared || (!written && symbol.map.entries.has('args'))) return [];
  const moved = written
    ? edits.prependItems(nodes, written, words)
    : edits.insertAfter(nodes, at, 'args', `[${words.join(', ')}]`);
  return fix("Move the arguments to 'args'", command && moved && [...command, ...moved], 'safe');
}

function url(nodes: EditNodes, symbol: KeySymbol): QuickFix[] {
  const written = scalarAt(symbol).trim();
  if (!/^(?:localhost|\d+(?:\.\d+){3}|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:\/\S*)?$/i.test(written))
    return [];
  return changeTo(
    nodes,
    symbol,
    `${/^(?:localhost|127\.)/i.test(written) ? 'http' : 'https'}://${written}`,
  );
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
    return fix('Change the tabs to spaces', made, 'preferred');
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
function togetherSafe(text: string, fixes: readonly Fix[], variables: readonly string[]): Fix {
  // A mistake shared by several servers has a fix for each.
  const different = [...new Map(fixes.map((fix) => [JSON.stringify(fix), fix])).values()];
  const deps: ConfigDeps = {
    env: Object.fromEntries(variables.map((name) => [name, ''])),
    directoryExists: () => true,
    secret: () => '',
  };
  const before = outcomeOf(text, deps);
  const works = (made: Fix): boolean => {
    if (edits.withoutOverlaps(made).length < made.length) return false;
    const after = outcomeOf(edits.applyEdits(text, made), deps);
    return (
      after.duplicates <= before.duplicates &&
      [...before.working].every((id) => after.working.has(id))
    );
  };
  const tried = works(different.flat()) ? [different.flat()] : different.slice(0, mostTried);
  return tried.reduce((kept, fix) => (works([...kept, ...fix]) ? [...kept, ...fix] : kept), []);
}

/** `working` has the ids of valid servers, and an empty text for a file that is not refused. */
function outcomeOf(
  text: string,
  deps: ConfigDeps,
): { readonly working: Set<string>; readonly duplicates: number } {
  const parsed = parseMindsFile({ file: '', folder: '/', text }, deps);
  const ids =
    parsed.kind === 'refused'
      ? []
      : parsed.servers.flatMap(({ kind, id }) => (kind === 'valid' ? [id] : []));
  const duplicates = parsed.problems.filter(({ code }) => code === 'duplicate-key').length;
  return { working: new Set(parsed.kind === 'refused' ? [] : ['', ...ids]), duplicates };
}
