/** Makes the rows of the sidebar from the status snapshot as plain values with stable ids. Pure. */
import { commandLine, launchLines } from '../../../core/approval/approvalTexts.js';
import { changePhrase, type ChangedOffer } from '../../../core/approval/offerPrints.js';
import {
  code,
  formatted,
  markdownList,
  unmarked,
  type Markdown,
} from '../../../core/base/inert.js';
import { groupedBy } from '../../../core/base/groupedBy.js';
import { needsAttention, type Problem } from '../../../core/base/problem.js';
import { clipped, firstLine } from '../../../core/base/text.js';
import { shortfallsOf } from '../../../core/reconcile/shortfall.js';
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
} from '../../../core/tools/exclusion.js';
import { isValidName } from '../../../core/tools/names.js';
import { estimatedTokens, estimatedTokensOf } from '../../../core/tools/tokens.js';
import {
  durationPhrase,
  effects,
  failureText,
  instanceLabel,
  instancePhrase,
  overrideText,
  present,
  previousLine,
  rememberedPhrase,
  timeOf,
  tokenPhrase,
  toolCount,
  transportWord,
} from '../phrases.js';
import {
  actions,
  approvalActions,
  errorIcon,
  pendingIcon,
  signInActions,
  stateViews,
  stateWord,
  type ViewIcon,
} from '../serverStates.js';
import { group, row, type TreeNode, type TreeOptions, uniqueIds, warningIcon } from './treeNode.js';

export function treeModel(snapshot: StatusSnapshot, given: TreeOptions): readonly TreeNode[] {
  const options = {
    ...given,
    severalFiles: new Set(snapshot.servers.map(({ source }) => source)).size > 1,
  };
  const unique = uniqueIds();
  const problems = groupedBy(snapshot.problems, ({ server }) => server);
  const ofServer = (id: string): readonly Problem[] => problems.get(id) ?? [];
  const shown = options.onlyWithProblems
    ? snapshot.servers.filter(({ id }) => ofServer(id).some(needsAttention))
    : snapshot.servers;
  const servers = shown.map((server) =>
    serverNode(unique(`${server.source}#${server.id}`), server, ofServer(server.id), options),
  );
  return snapshot.builtIn && !options.onlyWithProblems
    ? [...servers, builtInNode(snapshot.builtIn)]
    : servers;
}

function serverNode(
  id: string,
  server: ServerStatus,
  problems: readonly Problem[],
  options: TreeOptions,
): TreeNode {
  const children = [
    ...launchNodes(id, server),
    ...problemNodes(id, server, problems),
    ...toolNodes(id, server),
    ...changedNodes(id, server),
    ...group(id, server.id, 'Prompts', 'prompts', promptNodes(id, server)),
    ...group(id, server.id, 'Resources', 'resources', resourceNodes(id, server)),
    ...group(id, server.id, 'Kept out', 'excluded', excludedNodes(id, server)),
    ...group(id, server.id, 'Instances', 'instances', instanceNodes(id, server, options)),
    ...shadowedNodes(id, server, options),
  ];
  const lacks = shortfallsOf(server, problems);
  const words = present([...serverWords(server, options.now, lacks), sourceWord(server, options)]);
  const { kind } = server.state;
  const hasSecret = server.hasSecrets || problems.some(({ code: of }) => of === 'secret-unset');
  return row({
    id,
    kind: 'server',
    server: server.id,
    label: server.id,
    words,
    spoken: [
      server.id,
      'server',
      (kind === 'running' || kind === 'failed') && kind,
      lacks.length > 0 && 'warning',
      ...words,
    ],
    lines: serverLines(server, options),
    icon: serverIcon(server, lacks),
    context: present([
      'server',
      ...actions(server.state),
      ...approvalActions(server),
      ...signInActions(server),
      server.changedOffers.length > 0 && 'changed',
      kind === 'failed' && kind,
      hasSecret && 'secret',
      kind === 'disabled' ? 'disabled' : 'enabled',
    ]).join(' '),
    initially:
      kind === 'pending' || kind === 'failed'
        ? 'expanded'
        : children.length > 0
          ? 'collapsed'
          : 'leaf',
    place: server.place,
    name: server.id,
    children,
  });
}

function serverWords(server: ServerStatus, now: number, lacks: readonly string[]) {
  const { state, previous, transport, rememberedAt, tools } = server;
  const isPending = server.approval.kind === 'pending';
  return [
    (tools.length > 0 || state.kind === 'running') && toolCount(tools.length, server.offered),
    stateFact(state),
    ...lacks,
    rememberedAt !== undefined && rememberedPhrase(rememberedAt, now),
    previous && !isPending && `previous definition since ${timeOf(previous.since, now)}`,
    isPending && state.kind !== 'pending' && 'waits for approval',
    tools.length > 0 && tokenPhrase(estimatedTokensOf(tools)),
    transport && transportWord(transport),
  ];
}

function stateFact(state: ServerState): string | undefined {
  if (state.kind === 'running') return undefined;
  if (state.kind === 'failed') return firstLine(unmarked(state.reason));
  return state.kind === 'starting' ? 'starting…' : stateWord(state);
}

function serverIcon(server: ServerStatus, lacks: readonly string[]): ViewIcon {
  if (server.approval.kind === 'pending') return pendingIcon;
  return lacks.length > 0 || (server.previous && server.state.kind !== 'failed')
    ? warningIcon
    : stateViews[server.state.kind].icon;
}

function serverLines(server: ServerStatus, { now, fileLabel }: TreeOptions) {
  const { state, previous, serverInfo, rememberedAt, trulyStateless } = server;
  const leases = server.instances.filter(({ use }) => use.kind === 'leased').length;
  const since =
    'since' in state && state.kind !== 'remembered' ? ` since ${timeOf(state.since, now)}` : '';
  const kinds = present([
    server.transport && code(server.transport),
    serverInfo && formatted`${serverInfo.name} ${serverInfo.version}`,
    trulyStateless !== undefined &&
      formatted`${trulyStateless ? 'one shared instance' : 'one instance for each conversation'}`,
  ]);
  return [
    formatted`**${server.id}** ${stateWord(state)}${since}`,
    state.kind === 'reconnecting' && formatted`${state.cause}`,
    state.kind === 'signInNeeded' && formatted`${state.why}`,
    state.kind === 'failed' && failureText(state),
    previous && formatted`${previousLine(previous, now)}`,
    rememberedAt !== undefined &&
      formatted`Its tools are *remembered* from ${timeOf(rememberedAt, now)}. A call waits until its server has started.`,
    server.offered > 0 && toolsLine(server),
    leases > 0 &&
      formatted`${leases === 1 ? '1 conversation holds an instance' : `${leases} conversations hold an instance each`}`,
    markdownList(kinds, ' · '),
    formatted`${fileLabel(server.source)}`,
  ];
}

function toolsLine({ tools, offered, savedTokens }: ServerStatus): Markdown {
  const tokens = estimatedTokensOf(tools);
  const saved = savedTokens > 0 ? `; filters and overrides save ${tokenPhrase(savedTokens)}` : '';
  return formatted`${toolCount(tools.length, offered)} published, ${tokenPhrase(tokens)} in each request (names, descriptions and schemas, four bytes to a token)${saved}`;
}

function launchNodes(parent: string, { id: server, approval, place }: ServerStatus): TreeNode[] {
  if (approval.kind !== 'pending') return [];
  const label = commandLine(approval.launch);
  const lines = launchLines(approval.launch).map((line) => formatted`${line}`);
  const spoken = [`waits for approval: ${label}`];
  return [
    row({
      id: `${parent}/launch`,
      kind: 'launch',
      server,
      label,
      spoken,
      lines,
      icon: { id: 'terminal' },
      place,
    }),
  ];
}

function problemNodes(
  parent: string,
  server: ServerStatus,
  problems: readonly Problem[],
): TreeNode[] {
  const unique = uniqueIds();
  return problems
    .filter((problem) => problem.place.file === server.source && needsAttention(problem))
    .map(({ code: of, severity, message, fix, place }) =>
      row({
        id: unique(`${parent}/problem/${of}:${place.range.start.line}`),
        kind: 'problem',
        server: server.id,
        label: firstLine(unmarked(message)),
        spoken: [`${severity}: ${unmarked(message)}`],
        lines: [formatted`${unmarked(message)}`, formatted`*${unmarked(fix)}*`],
        icon: severity === 'error' ? errorIcon : warningIcon,
        place,
        name: `${message} ${fix}`,
      }),
    );
}

/** Names the file of a server (C5), unless all servers come from one file of a folder. */
function sourceWord({ origin, source }: ServerStatus, options: TreeOptions) {
  if (origin === 'user') return 'user';
  if (origin === 'mcprc') return options.fileLabel(source);
  return options.severalFiles && options.folderLabel(source);
}

function shadowedNodes(
  parent: string,
  { id: server, shadows, source }: ServerStatus,
  options: TreeOptions,
): TreeNode[] {
  return shadows.map((place) => {
    const file = options.fileLabel(place.file);
    const line = formatted`${file} also has an entry ${server}. The entry in ${options.fileLabel(source)} counts instead.`;
    const texts = {
      label: `also in ${file}`,
      words: ['shadowed'],
      spoken: [`shadowed entry in ${file}`],
      lines: [line],
    };
    const id = `${parent}/shadowed/${place.file}`;
    return row({ id, kind: 'shadowed', server, ...texts, icon: { id: 'layers' }, place });
  });
}

function builtInNode({ id, tools, excluded }: Toolset): TreeNode {
  const facts = ['built in', toolCount(tools.length), tokenPhrase(estimatedTokensOf(tools))];
  const head = { id, kind: 'builtIn', server: id, label: id, name: id } as const;
  return row({
    ...head,
    words: facts,
    spoken: [id, ...facts],
    lines: [
      formatted`**${id}**`,
      formatted`By these tools, agents see the state of your servers, release their instances, restart servers and reload the config files. The setting ${code('mcpToolsets.adminTools')} switches them off.`,
    ],
    icon: { id: 'extensions' },
    initially: 'collapsed',
    children: [
      ...tools.map((tool) => toolNode(id, id, tool)),
      ...excluded.map((tool) => excludedNode(id, id, tool)),
    ].map((node) => ({ ...node, kind: 'builtIn', context: `builtInTool ${node.context}` })),
  });
}

function instanceNodes(
  parent: string,
  server: ServerStatus,
  { now, titleOf }: TreeOptions,
): TreeNode[] {
  return server.instances.map((instance) => {
    const { use, startedAt, lastCallAt, lastTool, pid, folder } = instance;
    const phrase = instancePhrase(use);
    const conversation = use.kind === 'leased' ? use.conversation : undefined;
    const { text: title, chat } =
      (conversation === undefined ? undefined : titleOf(conversation)) ?? {};
    const called = conversation === undefined || lastTool === undefined ? [] : [lastTool];
    const age = `${durationPhrase(now - startedAt)} old`;
    const words = [...(title === undefined ? [] : called), activity(instance, now), age];
    const label = instanceLabel(instance, title, now);
    const head = {
      id: `${parent}/instance/${instance.id}`,
      kind: 'instance',
      server: server.id,
      label,
    } as const;
    return row({
      ...head,
      words,
      spoken: [title ?? phrase, 'instance', words.join(' · ')],
      lines: [
        formatted`**${title ?? phrase}**`,
        use.kind === 'leased' &&
          formatted`conversation ${code(use.conversation)}, since ${timeOf(use.since, now)}; “Release Instance” ends it, and the next call of the conversation starts another`,
        formatted`started ${timeOf(startedAt, now)}${pid === undefined ? '' : `, process ${pid}`}`,
        folder !== undefined && formatted`works in ${code(folder)}`,
        lastCallAt === undefined
          ? formatted`not called yet`
          : formatted`last call ${called.join('')} ${timeOf(lastCallAt, now)}`,
      ],
      icon: { id: use.kind === 'leased' ? 'comment-discussion' : 'server-process' },
      context: `instance ${use.kind}`,
      ...(conversation !== undefined && { conversation, chat }),
    });
  });
}

function activity({ callsInFlight, lastCallAt }: InstanceStatus, now: number): string {
  if (callsInFlight > 0)
    return callsInFlight === 1 ? '1 call running' : `${callsInFlight} calls running`;
  return lastCallAt === undefined ? 'not called yet' : `idle ${durationPhrase(now - lastCallAt)}`;
}

const longestAbout = 200;

function toolNodes(parent: string, server: ServerStatus): TreeNode[] {
  const changed = changesOf(server, 'tool');
  const places = new Map(server.listed.map((name, index) => [name, index]));
  const placeOf = ({ original = '' }: TreeNode): number => places.get(original) ?? places.size;
  const published = server.tools.map((tool) => {
    const node = toolNode(parent, server.id, tool, changed.get(tool.original));
    return server.origin === 'mcprc'
      ? node
      : { ...node, ticked: true, context: `${node.context} ticked` };
  });
  const unticked = server.excluded.filter(hasTick).map((tool) => {
    const node = excludedNode(parent, server.id, tool);
    return {
      ...node,
      id: `${parent}/tool/${tool.original}`,
      ticked: false,
      context: `${node.context} unticked`,
    };
  });
  return [...published, ...unticked].sort((one, other) => placeOf(one) - placeOf(other));
}

function toolNode(
  parent: string,
  server: string,
  tool: ServedTool,
  changed?: ChangedOffer,
): TreeNode {
  const { original, published } = tool;
  const {
    annotations,
    title = annotations?.title ?? '',
    description = '',
    inputSchema,
  } = tool.tool;
  const refusal = editorRefusalPhrase(tool);
  const required = new Set(inputSchema.required ?? []);
  const takes = Object.keys(inputSchema.properties ?? {}).map((name) => ({
    name,
    required: required.has(name),
  }));
  const facts = [
    changed && changePhrase(changed.parts),
    refusal !== undefined && 'not in the editor',
    tool.isAsked && 'asks before calls',
    tool.override && 'overridden',
  ];
  const about = clipped(firstLine(description), longestAbout);
  const head = {
    id: `${parent}/tool/${original}`,
    kind: 'tool',
    server,
    label: published,
    name: published,
  } as const;
  return row({
    ...head,
    words: [...facts, about !== '' && about],
    spoken: [published, 'tool', original !== published && `originally ${original}`, ...facts],
    lines: [
      formatted`**${published}** ${title}`,
      formatted`${description}`,
      argumentLine(takes),
      originLine(original, published),
      refusal === undefined
        ? formatted`In this editor: ${code(tool.editorId)}`
        : formatted`Not in this editor: ${refusal}`,
      tool.override && overrideText(tool),
      changeLine(changed),
      formatted`${[...effects(tool.tool), tokenPhrase(estimatedTokens(tool))].join(' · ')}`,
    ],
    icon: { id: 'tools' },
    original,
    published,
    changed,
  });
}

function excludedNodes(parent: string, server: ServerStatus): TreeNode[] {
  const unique = uniqueIds();
  const changes = changesOf(server, 'tool');
  const excluded = server.excluded.filter((tool) => !hasTick(tool));
  return excluded.map((tool) => {
    const changed = tool.reason.kind === 'changed' ? changes.get(tool.original) : undefined;
    const node = excludedNode(parent, server.id, tool);
    return { ...node, id: unique(node.id), ...(changed && { changed }) };
  });
}

function excludedNode(
  parent: string,
  server: string,
  { original, reason }: ExcludedTool,
): TreeNode {
  const phrase = exclusionPhrase(reason);
  const head = {
    id: `${parent}/excluded/${original}`,
    kind: 'excluded',
    server,
    label: original,
  } as const;
  return row({
    ...head,
    words: [phrase],
    spoken: [original, `kept out: ${phrase}`],
    lines: [formatted`**${original}** ${phrase}`, formatted`*${exclusionRemedy(reason)}*`],
    icon: { id: 'circle-slash' },
    context: `excluded ${reason.kind}`,
    name: original,
    original,
    ...(reason.kind === 'denied' && { published: reason.published }),
  });
}

/** True if a list keeps the tool out. A tick can publish it. */
function hasTick({ original, reason }: ExcludedTool): boolean {
  return (reason.kind === 'blacklist' || reason.kind === 'whitelist') && isValidName(original);
}

export function promptNodes(parent: string, server: ServerStatus): TreeNode[] {
  const changes = changesOf(server, 'prompt');
  return server.prompts.map(({ original, published, prompt }) => {
    const changed = changes.get(original);
    const difference = changed && changePhrase(changed.parts);
    const isRenamed = original !== published;
    const head = {
      id: `${parent}/prompt/${published}`,
      kind: 'prompt',
      server: server.id,
      label: published,
    } as const;
    return row({
      ...head,
      words: [isRenamed && original, difference],
      spoken: [published, 'prompt', isRenamed && `originally ${original}`, difference],
      lines: [
        formatted`**${published}** ${prompt.title ?? ''}`,
        formatted`${prompt.description ?? ''}`,
        argumentLine(prompt.arguments ?? []),
        originLine(original, published),
        changeLine(changed),
      ],
      icon: { id: 'comment' },
      name: published,
      changed,
    });
  });
}

export function changedNodes(
  parent: string,
  { id: server, changedOffers }: ServerStatus,
): TreeNode[] {
  return changedOffers.flatMap((changed) => {
    const { kind, original, parts, held } = changed;
    const isNamed = kind !== 'instructions';
    if (kind === 'tool' || (isNamed && !held)) return [];
    const label = isNamed ? original : 'Instructions';
    const phrase = `${held ? 'held back: ' : ''}${changePhrase(parts)}`;
    const texts = { label, words: [phrase], spoken: [label, isNamed && kind, phrase] };
    const lines = [formatted`**${label}**`, changeLine(changed)];
    const id = `${parent}/changed/${kind}/${original}`;
    const name = isNamed && { name: original };
    return row({ id, kind, server, ...texts, lines, icon: { id: 'comment' }, ...name, changed });
  });
}

export function resourceNodes(parent: string, server: ServerStatus): TreeNode[] {
  const { resources } = server;
  const unique = uniqueIds();
  const all = [
    ...resources.resources.map((one) => ({ ...one, address: one.uri, word: 'resource' })),
    ...resources.templates.map((one) => ({
      ...one,
      address: one.uriTemplate,
      word: 'resource template',
    })),
  ];
  const changes = changesOf(server, 'resource');
  return all.map(({ name, title, description = '', mimeType, address, word }) => {
    const label = title ?? name;
    const changed = changes.get(address);
    const difference = changed && changePhrase(changed.parts);
    const kind = present([address, mimeType]).join(' · ');
    return row({
      id: unique(`${parent}/resource/${address}`),
      kind: 'resource',
      server: server.id,
      label,
      words: [address, difference],
      spoken: [label, word, address, difference],
      lines: [
        formatted`**${label}**`,
        formatted`${description}`,
        formatted`${kind}`,
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
  return new Map(changedOffers.flatMap((one) => (one.kind === kind ? [[one.original, one]] : [])));
}

function changeLine(changed: ChangedOffer | undefined): Markdown | undefined {
  if (!changed) return undefined;
  return changed.parts.includes('new')
    ? formatted`New since you let its server start.`
    : formatted`Its ${changed.parts.join(' and ')} changed since you let its server start.`;
}

function originLine(original: string, published: string): Markdown | false {
  return original !== published && formatted`The server calls it ${code(original)}.`;
}

function argumentLine(
  takes: readonly { readonly name: string; readonly required?: boolean | undefined }[],
): Markdown {
  if (takes.length === 0) return formatted`Takes no arguments.`;
  return formatted`Takes ${takes.map(({ name, required }) => (required ? name : `[${name}]`)).join(', ')}`;
}
