/** Makes the rows of the sidebar from the status snapshot as plain values with stable ids. Pure. */
import { english, plural, said, translated } from '../../../core/base/language.js';
import { commandLine, launchLines } from '../../../core/approval/approvalTexts.js';
import { changePhrase } from '../../../core/approval/changePhrase.js';
import type { ChangedOffer } from '../../../core/approval/offerPrints.js';
import {
  code,
  formatted,
  inert,
  markdownList,
  unmarked,
  type Markdown,
} from '../../../core/base/inert.js';
import { groupedBy } from '../../../core/base/groupedBy.js';
import { needsAttention, type Problem } from '../../../core/base/problem.js';
import { clipped, commaList, firstLine, andList, shortList } from '../../../core/base/text.js';
import type { ToolsetUse } from '../../../core/calls/counts.js';
import { serves, shortfallsOf } from '../../../core/reconcile/shortfall.js';
import type {
  InstanceStatus,
  ServerState,
  ServerStatus,
  StatusSnapshot,
} from '../../../core/reconcile/status.js';
import type { ExcludedTool, ServedTool, Toolset } from '../../../core/tools/catalogue.js';
import {
  editorRefusalPhrase,
  exclusionPhrase,
  exclusionRemedy,
  exclusionWord,
  hasTick,
} from '../../../core/tools/exclusion.js';
import { estimatedTokens, estimatedTokensOf } from '../../../core/tools/tokens.js';
import {
  durationPhrase,
  effects,
  failureText,
  instanceLabel,
  instancePhrase,
  overrideText,
  packageLine,
  present,
  previousLine,
  problemsBelow,
  rememberedPhrase,
  timeOf,
  tokenPhrase,
  toolCount,
  transportWord,
  versionWord,
  worstOf,
} from '../phrases.js';
import {
  abilities,
  errorIcon,
  pendingIcon,
  stateViews,
  stateWord,
  type ViewIcon,
} from '../serverStates.js';
import {
  group,
  row,
  rowBelow,
  uniqueIds,
  warningIcon,
  type Parent,
  type TreeNode,
  type TreeOptions,
} from './treeNode.js';

export function treeModel(snapshot: StatusSnapshot, given: TreeOptions): readonly TreeNode[] {
  const { servers, builtIn } = snapshot;
  const severalFiles = new Set(servers.map(({ source }) => source)).size > 1;
  const options = { ...given, severalFiles };
  const unique = uniqueIds();
  const problems = groupedBy(snapshot.problems, ({ server }) => server);
  const rows = servers.flatMap((server) => {
    const own = problems.get(server.id) ?? [];
    if (options.onlyWithProblems && !own.some(needsAttention)) return [];
    return serverNode(unique(`${server.source}#${server.id}`), server, own, options);
  });
  const own = builtIn && !options.onlyWithProblems ? [builtInNode(builtIn, options)] : [];
  return [...fileProblemNodes(snapshot, options), ...rows, ...own];
}

/** The mistakes of whole files, because no row of a server shows them. */
function fileProblemNodes(
  { servers, problems, refused }: StatusSnapshot,
  { fileLabel }: TreeOptions,
): TreeNode[] {
  const files = refused.map(({ file }) => file);
  const ids = servers.map(({ id }) => id);
  const shown = problems.filter(
    ({ server = '', severity, place }) =>
      severity === 'error' &&
      !ids.includes(server) &&
      (servers.length === 0 || files.includes(place.file)),
  );
  const unique = uniqueIds();
  return shown.map((problem) => {
    const { file, range } = problem.place;
    const said = translated(problem.message);
    const message = inert`Line ${range.start.line + 1}: ${said} (${fileLabel(file)})`;
    return problemNode({ id: file, server: '' }, { ...problem, message }, unique);
  });
}

function serverNode(
  id: string,
  server: ServerStatus,
  problems: readonly Problem[],
  options: TreeOptions,
): TreeNode {
  const parent = { id, server: server.id };
  const { kind } = server.state;
  const lacks = shortfallsOf(server, problems).map(translated);
  const below = problemsBelow(server, problems);
  const worst = worstOf(below) ?? (lacks.length > 0 ? 'warning' : undefined);
  const use = options.useOf?.(server);
  const words = present([
    ...serverWords(server, options.now, lacks, use),
    sourceWord(server, options),
  ]);
  return row({
    ...parent,
    kind: 'server',
    label: server.id,
    words,
    spoken: [
      server.id,
      said`server`,
      (kind === 'running' || kind === 'failed') && stateWord(server.state),
      kind !== 'failed' && worst && translated(worst),
      ...words,
    ],
    lines: serverLines(server, options),
    icon: serverIcon(server, worst),
    context: ['server', ...abilities(server, problems)].join(' '),
    isUnfolded: ['pending', 'failed', 'invalid'].includes(kind),
    place: server.place,
    name: server.id,
    children: [
      ...launchNodes(parent, server),
      ...problemNodes(parent, below),
      ...toolNodes(parent, server, { ...options, use }),
      ...changedNodes(parent, server),
      ...group(parent, 'prompts', said`Prompts`, 'comment', promptNodes(parent, server)),
      ...group(parent, 'resources', said`Resources`, 'files', resourceNodes(parent, server)),
      ...group(parent, 'excluded', said`Left out`, 'filter', excludedNodes(parent, server)),
      ...group(
        parent,
        'instances',
        said`Instances`,
        'server-process',
        server.instances.map((instance) => instanceNode(parent, instance, options)),
      ),
      ...shadowedNodes(parent, server, options),
    ],
  });
}

function serverWords(
  server: ServerStatus,
  now: number,
  lacks: readonly string[],
  use: ToolsetUse | undefined,
) {
  const { state, previous, transport, rememberedAt, tools, waits, package: named } = server;
  const isPending = server.approval.kind === 'pending';
  return [
    stateFact(state),
    server.local.length > 0 && onlyForMe(),
    (tools.length > 0 || state.kind === 'running') && toolCount(tools.length, server.offered),
    ...lacks,
    rememberedAt !== undefined && rememberedPhrase(rememberedAt, now),
    waits && state.kind !== 'waiting' && stateWord({ kind: 'waiting' }),
    previous && !isPending && said`previous definition since ${timeOf(previous.since, now)}`,
    isPending && state.kind !== 'pending' && said`waits for approval`,
    tools.length > 0 && tokenPhrase(estimatedTokensOf(tools)),
    usedWord(server, use),
    transport && transportWord(transport),
    named && versionWord(named),
  ];
}

function usedWord({ tools }: ServerStatus, use: ToolsetUse | undefined): string | undefined {
  if (use?.judgedDays === undefined || tools.length === 0) return undefined;
  const used = tools.filter(({ original }) => !use.isUnused(original));
  return said`used ${used.length} of ${tools.length}`;
}

const onlyForMe = (): string => said`only for me`;

function mineLine({ local, localPlace }: ServerStatus, { fileLabel }: TreeOptions) {
  return (
    local.length > 0 &&
    localPlace &&
    formatted`Only for me, by ${fileLabel(localPlace.file)}: ${markdownList(local.map(code), ', ')}`
  );
}

/** True if the layer has the value at a path of the entry, or a part of it. */
function isMine({ local }: ServerStatus, path: string): boolean {
  return local.some((one) => `${one}.`.startsWith(`${path}.`));
}

function stateFact(state: ServerState): string | undefined {
  if (state.kind === 'running') return undefined;
  if (state.kind === 'failed') return firstLine(unmarked(translated(state.reason)));
  return state.kind === 'starting' ? said`starting…` : stateWord(state);
}

/** The worst problem decides about the colour, but a start is no problem. */
function serverIcon(server: ServerStatus, worst: 'error' | 'warning' | undefined): ViewIcon {
  const { state, approval, previous } = server;
  const { icon } = stateViews[state.kind];
  if (approval.kind === 'pending') return pendingIcon;
  if (state.kind === 'starting') return icon;
  const isOld = previous !== undefined && state.kind !== 'failed';
  const decisive = worst ?? (isOld ? 'warning' : undefined);
  if (decisive === undefined) return icon;
  const shown = decisive === 'error' ? errorIcon : warningIcon;
  return serves(server) || isOld ? shown : { ...icon, ...(shown.color && { color: shown.color }) };
}

function serverLines(server: ServerStatus, options: TreeOptions) {
  const { now, fileLabel } = options;
  const { state, previous, serverInfo, rememberedAt, trulyStateless } = server;
  const leases = server.instances.filter(({ use }) => use.kind === 'leased').length;
  const word = stateWord(state);
  const since = 'since' in state && state.kind !== 'remembered' && timeOf(state.since, now);
  const kinds = present([
    server.transport && code(server.transport),
    serverInfo && formatted`${serverInfo.name} ${serverInfo.version}`,
    trulyStateless !== undefined &&
      (trulyStateless
        ? formatted`one shared instance`
        : formatted`one instance for each conversation`),
  ]);
  return [
    since === false
      ? formatted`**${server.id}** ${word}`
      : formatted`**${server.id}** ${word} since ${since}`,
    state.kind === 'reconnecting' && formatted`${translated(state.cause)}`,
    state.kind === 'signInNeeded' && formatted`${translated(state.why)}`,
    state.kind === 'failed' && failureText(state),
    previous && formatted`${previousLine(previous, now)}`,
    rememberedAt !== undefined &&
      formatted`Its tools are *remembered* from ${timeOf(rememberedAt, now)}. A call waits until its server has started.`,
    server.offered > 0 && toolsLine(server),
    leases > 0 &&
      formatted`${plural(leases, '1 conversation holds an instance', '{0} conversations hold an instance each')}`,
    markdownList(kinds, ' · '),
    server.package && packageLine(server.package),
    formatted`${fileLabel(server.source)}`,
    mineLine(server, options),
  ];
}

function toolsLine({ tools, offered, savedTokens }: ServerStatus): Markdown {
  const tokens = estimatedTokensOf(tools);
  const count = toolCount(tools.length, offered);
  const published = formatted`${count} published, ${tokenPhrase(tokens)} in each request (names, descriptions and schemas, four bytes to a token)`;
  return savedTokens > 0
    ? formatted`${published}; filters and overrides save ${tokenPhrase(savedTokens)}`
    : published;
}

function launchNodes(parent: Parent, { approval, place }: ServerStatus): TreeNode[] {
  if (approval.kind !== 'pending') return [];
  const label = commandLine(approval.launch);
  const launch = rowBelow(parent, 'launch', {
    kind: 'launch',
    label,
    spoken: [said`waits for approval: ${label}`],
    lines: launchLines(approval.launch).map((line) => formatted`${line}`),
    icon: { id: 'terminal' },
    place,
  });
  return [launch];
}

function problemNodes(parent: Parent, problems: readonly Problem[]): TreeNode[] {
  const unique = uniqueIds();
  return problems.map((problem) => problemNode(parent, problem, unique));
}

function problemNode(
  parent: Parent,
  { code: of, severity, place, ...texts }: Problem,
  unique: (id: string) => string,
): TreeNode {
  const message = translated(texts.message);
  const fix = translated(texts.fix);
  return rowBelow(parent, unique(`problem/${of}:${place.range.start.line}`), {
    kind: 'problem',
    label: firstLine(unmarked(message)),
    spoken: [`${translated(severity)}: ${unmarked(message)}`],
    lines: [formatted`${unmarked(message)}`, formatted`*${unmarked(fix)}*`],
    icon: severity === 'error' ? errorIcon : warningIcon,
    place,
    name: `${message} ${fix}`,
  });
}

/** Names the file of a server (C5), unless all servers come from one file of a folder. */
function sourceWord({ origin, source }: ServerStatus, options: TreeOptions) {
  if (origin === 'user') return said`user`;
  if (origin === 'mcprc') return options.fileLabel(source);
  return options.severalFiles && options.folderLabel(source);
}

function shadowedNodes(
  parent: Parent,
  { id, shadows, source }: ServerStatus,
  { fileLabel }: TreeOptions,
): TreeNode[] {
  return shadows.map((place) => {
    const file = fileLabel(place.file);
    const line = formatted`${file} also has an entry ${id}. The entry in ${fileLabel(source)} counts instead.`;
    return rowBelow(parent, `shadowed/${place.file}`, {
      kind: 'shadowed',
      label: said`also in ${file}`,
      words: [said`shadowed`],
      spoken: [said`shadowed entry in ${file}`],
      lines: [line],
      icon: { id: 'layers' },
      place,
    });
  });
}

function builtInNode({ id, tools, excluded }: Toolset, options: TreeOptions): TreeNode {
  const parent = { id, server: id };
  const facts = [said`built in`, toolCount(tools.length), tokenPhrase(estimatedTokensOf(tools))];
  const rows = [
    ...tools.map((tool) => toolNode(parent, tool, options)),
    ...excluded.map((tool) => excludedNode(parent, tool)),
  ];
  return row({
    ...parent,
    kind: 'builtIn',
    label: id,
    words: facts,
    spoken: [id, ...facts],
    lines: [
      formatted`**${id}**`,
      formatted`By these tools, agents see the state of your servers, release their instances, restart servers and reload the config files. The setting ${code('mcpToolsets.adminTools')} switches them off.`,
    ],
    icon: { id: 'extensions' },
    name: id,
    children: rows.map((node) => ({
      ...node,
      kind: 'builtIn',
      context: `builtInTool ${node.context}`,
    })),
  });
}

function instanceNode(
  parent: Parent,
  instance: InstanceStatus,
  { now, titleOf }: TreeOptions,
): TreeNode {
  const { use, startedAt, lastCallAt, lastTool = '', pid, folder } = instance;
  const conversation = use.kind === 'leased' ? use.conversation : undefined;
  const title = conversation === undefined ? undefined : titleOf(conversation);
  const about = title?.text ?? instancePhrase(use);
  const words = present([
    title && lastTool !== '' && lastTool,
    activity(instance, now),
    said`${durationPhrase(now - startedAt)} old`,
  ]);
  return rowBelow(parent, `instance/${instance.id}`, {
    kind: 'instance',
    label: instanceLabel(instance, title?.text, now),
    words,
    spoken: [about, said`instance`, words.join(' · ')],
    lines: [
      formatted`**${about}**`,
      use.kind === 'leased' &&
        formatted`conversation ${code(use.conversation)}, since ${timeOf(use.since, now)}; “Release Instance” ends it, and the next call of the conversation starts another`,
      pid === undefined
        ? formatted`started ${timeOf(startedAt, now)}`
        : formatted`started ${timeOf(startedAt, now)}, process ${pid}`,
      folder !== undefined && formatted`works in ${code(folder)}`,
      lastCallAt === undefined
        ? formatted`not called yet`
        : formatted`last call ${conversation === undefined ? '' : lastTool} ${timeOf(lastCallAt, now)}`,
    ],
    icon: { id: use.kind === 'leased' ? 'comment-discussion' : 'server-process' },
    context: `instance ${use.kind}`,
    conversation,
    chat: title?.chat,
  });
}

function activity({ callsInFlight, lastCallAt }: InstanceStatus, now: number): string {
  if (callsInFlight > 0) return plural(callsInFlight, '1 call running', '{0} calls running');
  return lastCallAt === undefined
    ? said`not called yet`
    : said`idle ${durationPhrase(now - lastCallAt)}`;
}

const longestAbout = 200;
const mostAgents = 3;

type ToolOptions = TreeOptions & { readonly use?: ToolsetUse | undefined };

/** The rows of tools with a tick, published or not, in the order of the server. */
function toolNodes(parent: Parent, server: ServerStatus, options: ToolOptions): TreeNode[] {
  const changed = changesOf(server, 'tool');
  const sifted = server.siftedForMe();
  // The product changes no `.mcprc`, only the layer over it.
  const canTick = server.origin !== 'mcprc' || options.changesForMe === true;
  const places = new Map(server.listed.map((name, index) => [name, index]));
  const placeOf = ({ original = '' }: TreeNode): number => places.get(original) ?? places.size;
  const published = server.tools.map((tool) => {
    const { original } = tool;
    const isSifted = sifted.has(original);
    const ofMine = isSifted || isMine(server, `tools.override.${original}`);
    const node = toolNode(parent, tool, options, changed.get(original), ofMine);
    return canTick ? withTick(node, true) : node;
  });
  const unticked = server.excluded.filter(hasTick).map((tool) => {
    const node = excludedNode(parent, tool, sifted.has(tool.original));
    return {
      ...(canTick ? withTick(node, false) : node),
      id: `${parent.id}/tool/${tool.original}`,
    };
  });
  return [...published, ...unticked].sort((one, other) => placeOf(one) - placeOf(other));
}

function withTick(node: TreeNode, ticked: boolean): TreeNode {
  return {
    ...node,
    ticked,
    context: `${node.context} ${ticked ? 'ticked' : 'unticked'}`,
  };
}

function askingPhrase({ isAsked, otherwise }: ServedTool): string | undefined {
  if (isAsked) return said`asks before calls`;
  return otherwise && said`its arguments decide`;
}

function asksUsually({ isAsked, otherwise }: ServedTool): boolean {
  return otherwise === undefined ? isAsked === true : otherwise === 'ask';
}

function toolNode(
  parent: Parent,
  tool: ServedTool,
  { isAllowed, use, now }: ToolOptions,
  changed?: ChangedOffer,
  ofMine = false,
): TreeNode {
  const { original, published } = tool;
  const {
    annotations,
    title = annotations?.title ?? '',
    description = '',
    inputSchema,
  } = tool.tool;
  const refusal = editorRefusalPhrase(tool);
  const facts = [
    changed && translated(changePhrase(changed.parts)),
    refusal !== undefined && said`not in the editor`,
    askingPhrase(tool),
    tool.override && said`overridden`,
    ofMine && onlyForMe(),
    use && usePhrase(use, original, now),
  ];
  const about = clipped(firstLine(description), longestAbout);
  const usual = isAllowed(published) ? 'calledAllow' : 'calledDefault';
  const called = asksUsually(tool) ? 'calledAsk' : usual;
  return rowBelow(parent, `tool/${original}`, {
    kind: 'tool',
    label: published,
    name: published,
    words: [...facts, about !== '' && about],
    spoken: [
      published,
      said`tool`,
      original !== published && said`originally ${original}`,
      ...facts,
    ],
    lines: [
      formatted`**${published}** ${title}`,
      formatted`${description}`,
      argumentLine(Object.keys(inputSchema.properties ?? {}), inputSchema.required),
      originLine(original, published),
      refusal === undefined
        ? formatted`In this editor: ${code(tool.editorId)}`
        : formatted`Not in this editor: ${translated(refusal)}`,
      tool.override && overrideText(tool),
      changeLine(changed),
      use && useLine(use, original, now),
      formatted`${[...effects(tool.tool), tokenPhrase(estimatedTokens(tool))].join(' · ')}`,
    ],
    icon: { id: 'tools' },
    context: present(['tool', changed && 'changed', called]).join(' '),
    original,
    published,
    changed,
  });
}

/** Returns undefined if nothing can be said yet. */
function usePhrase(use: ToolsetUse, original: string, now: number): string | undefined {
  const { judgedDays: days = 0 } = use;
  if (use.isUnused(original))
    return plural(days, 'never called in 1 day', 'never called in {0} days');
  const found = use.tools.get(original);
  if (!found) return undefined;
  const since = durationPhrase(now - found.last);
  return plural(found.calls, '1 call, last {1} ago', '{0} calls, last {1} ago', since);
}

function useLine(use: ToolsetUse, original: string, now: number): Markdown | undefined {
  const phrase = usePhrase(use, original, now);
  if (phrase === undefined) return undefined;
  const { failed = 0, agents = [] } = use.tools.get(original) ?? {};
  const facts = present([
    phrase,
    failed > 0 && said`${failed} failed`,
    agents.length > 0 && said`by ${shortList(agents, mostAgents, said)}`,
  ]);
  return formatted`${facts.join(' · ')}`;
}

function excludedNodes(parent: Parent, server: ServerStatus): TreeNode[] {
  const unique = uniqueIds();
  const changes = changesOf(server, 'tool');
  const excluded = server.excluded.filter((tool) => !hasTick(tool));
  return excluded.map((tool) => {
    const node = excludedNode(parent, tool);
    const changed = tool.reason.kind === 'changed' ? changes.get(tool.original) : undefined;
    return {
      ...node,
      id: unique(node.id),
      changed,
    };
  });
}

function excludedNode(
  parent: Parent,
  { original, reason }: ExcludedTool,
  ofMine = false,
): TreeNode {
  const phrase = translated(exclusionPhrase(reason));
  const published = reason.kind === 'denied' ? reason.published : undefined;
  const label = published ?? original;
  return rowBelow(parent, `excluded/${original}`, {
    kind: 'excluded',
    label,
    words: [phrase, ofMine && onlyForMe()],
    spoken: [label, `${translated(exclusionWord(reason))}: ${phrase}`, ofMine && onlyForMe()],
    lines: [
      formatted`**${original}** ${phrase}`,
      formatted`*${translated(exclusionRemedy(reason))}*`,
    ],
    icon: { id: 'circle-slash' },
    context: `excluded ${reason.kind}`,
    name: original,
    original,
    published,
  });
}

export function promptNodes(parent: Parent, server: ServerStatus): TreeNode[] {
  const changes = changesOf(server, 'prompt');
  return server.prompts.map(({ original, published, prompt }) => {
    const changed = changes.get(original);
    const difference = changed && translated(changePhrase(changed.parts));
    const isRenamed = original !== published;
    const takes = prompt.arguments ?? [];
    const required = takes.filter((one) => one.required);
    return rowBelow(parent, `prompt/${published}`, {
      kind: 'prompt',
      label: published,
      words: [isRenamed && original, difference],
      spoken: [published, said`prompt`, isRenamed && said`originally ${original}`, difference],
      lines: [
        formatted`**${published}** ${prompt.title ?? ''}`,
        formatted`${prompt.description ?? ''}`,
        argumentLine(takes.map(nameOf), required.map(nameOf)),
        originLine(original, published),
        changeLine(changed),
      ],
      icon: { id: 'comment' },
      name: published,
      changed,
    });
  });
}

/** Instructions that changed, and prompts and resources that are held back. */
export function changedNodes(parent: Parent, { changedOffers }: ServerStatus): TreeNode[] {
  return changedOffers.flatMap((changed) => {
    const { kind, original, parts, held } = changed;
    const isNamed = kind !== 'instructions';
    if (kind === 'tool' || (isNamed && !held)) return [];
    const label = isNamed ? original : said`Instructions`;
    const change = translated(changePhrase(parts));
    const phrase = held ? said`held back: ${change}` : change;
    return rowBelow(parent, `changed/${kind}/${original}`, {
      kind,
      label,
      words: [phrase],
      spoken: [label, isNamed && translated(kind), phrase],
      lines: [formatted`**${label}**`, changeLine(changed)],
      icon: { id: 'comment' },
      name: isNamed ? original : undefined,
      changed,
    });
  });
}

export function resourceNodes(parent: Parent, server: ServerStatus): TreeNode[] {
  const { resources, templates } = server.resources;
  const unique = uniqueIds();
  const changes = changesOf(server, 'resource');
  const all = [
    ...resources.map((one) => ({
      ...one,
      address: one.uri,
      word: english`resource`,
    })),
    ...templates.map((one) => ({
      ...one,
      address: one.uriTemplate,
      word: english`resource template`,
    })),
  ];
  return all.map(({ name, title, description = '', mimeType, address, word }) => {
    const label = title ?? name;
    const changed = changes.get(address);
    const difference = changed && translated(changePhrase(changed.parts));
    return rowBelow(parent, unique(`resource/${address}`), {
      kind: 'resource',
      label,
      words: [address, difference],
      spoken: [label, translated(word), address, difference],
      lines: [
        formatted`**${label}**`,
        formatted`${description}`,
        formatted`${present([address, mimeType]).join(' · ')}`,
        changeLine(changed),
      ],
      icon: { id: word === 'resource' ? 'file' : 'symbol-file' },
      name: address,
      changed,
    });
  });
}

function changesOf(
  { changedOffers }: ServerStatus,
  kind: ChangedOffer['kind'],
): Map<string, ChangedOffer> {
  const changes = changedOffers.filter((one) => one.kind === kind);
  return new Map(changes.map((one) => [one.original, one]));
}

function changeLine(changed: ChangedOffer | undefined): Markdown | undefined {
  if (!changed) return undefined;
  return changed.parts.includes('new')
    ? formatted`New since you let its server start.`
    : formatted`Its ${translated(andList(changed.parts))} changed since you let its server start.`;
}

function originLine(original: string, published: string): Markdown | false {
  return original !== published && formatted`The server calls it ${code(original)}.`;
}

function argumentLine(names: readonly string[], required: readonly string[] = []): Markdown {
  if (names.length === 0) return formatted`Takes no arguments.`;
  const words = names.map((name) => (required.includes(name) ? name : `[${name}]`));
  return formatted`Takes ${commaList(words, said)}`;
}

const nameOf = ({ name }: { readonly name: string }): string => name;
