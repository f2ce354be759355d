/**
 * Makes the rows of the sidebar from the status snapshot as plain values with stable ids: each server with its state, icon,
 * tooltip, actions and rows below it. Rows of tools, prompts and instances have modules beside this one. Pure; knows neither
 * `vscode` nor how rows are drawn.
 */
import { commandLine, launchLines } from '../../../core/approval/approvalTexts.js';
import { assertNever } from '../../../core/base/assertNever.js';
import { code, inert, formatted, markdownList, noMarkdown, unmarked, type Markdown } from '../../../core/base/inert.js';
import { needsAttention, type Problem } from '../../../core/base/problem.js';
import { firstLine } from '../../../core/base/text.js';
import { shortfallsOf } from '../../../core/reconcile/shortfall.js';
import type { ServerState, ServerStatus, StatusSnapshot } from '../../../core/reconcile/status.js';
import type { Toolset } from '../../../core/tools/catalogue.js';
import { estimatedTokensOf } from '../../../core/tools/tokens.js';
import {
  previousLine,
  rememberedPhrase,
  stateWord,
  timeOf,
  tokenPhrase,
  toolCount,
  transportWord,
} from '../phrases.js';
import { instanceNodes } from './instanceRows.js';
import { changedNodes, promptNodes, resourceNodes } from './promptRows.js';
import { actions, approvalActions, signInActions } from './serverActions.js';
import { excludedNode, excludedNodes, toolNode, toolNodes } from './toolRows.js';
import {
  group,
  pendingIcon,
  type TreeIcon,
  type TreeNode,
  type TreeOptions,
  uniqueIds,
  warningIcon,
} from './treeNode.js';

export function treeModel(snapshot: StatusSnapshot, options: TreeOptions): readonly TreeNode[] {
  const severalFiles = new Set(snapshot.servers.map(({ source }) => source)).size > 1;
  const unique = uniqueIds();
  const problems = new Map<string | undefined, Problem[]>();
  for (const problem of snapshot.problems) {
    const known = problems.get(problem.server);
    if (known) known.push(problem);
    else problems.set(problem.server, [problem]);
  }
  const ofServer = (id: string): readonly Problem[] => problems.get(id) ?? [];
  const shown = options.onlyWithProblems
    ? snapshot.servers.filter(({ id }) => ofServer(id).some(needsAttention))
    : snapshot.servers;
  const servers = shown.map((server) =>
    serverNode(unique(`${server.source}#${server.id}`), server, ofServer(server.id), options, severalFiles),
  );
  return snapshot.builtIn && !options.onlyWithProblems ? [...servers, builtInNode(snapshot.builtIn)] : servers;
}

/** True if rows show an age, which changes with time. */
export function showsAges({ servers }: StatusSnapshot): boolean {
  return servers.some(({ instances, rememberedAt }) => instances.length > 0 || rememberedAt !== undefined);
}

function serverNode(
  id: string,
  server: ServerStatus,
  problems: readonly Problem[],
  options: TreeOptions,
  severalFiles: boolean,
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
  const facts = [...serverDescription(server, options.now, lacks), ...sourceWords(server, options, severalFiles)];
  const state = server.state.kind;
  const switched = state === 'disabled' ? 'disabled' : 'enabled';
  return {
    id,
    kind: 'server',
    server: server.id,
    label: inert`${server.id}`,
    description: inert`${facts.join(' · ')}`,
    spoken: inert`${[server.id, 'server', ...(['running', 'failed'].includes(state) ? [state] : []), ...(lacks.length > 0 ? ['warning'] : []), ...facts].join(', ')}`,
    tooltip: serverTooltip(server, options),
    icon: serverIcon(server, lacks),
    context: [
      'server',
      ...actions(server.state),
      ...approvalActions(server),
      ...signInActions(server),
      ...(server.changedOffers.length > 0 ? ['changed'] : []),
      ...(state === 'failed' ? [state] : []),
      ...(server.hasSecrets || problems.some(({ code: of }) => of === 'secret-unset') ? ['secret'] : []),
      switched,
    ].join(' '),
    initially: state === 'pending' || state === 'failed' ? 'expanded' : children.length > 0 ? 'collapsed' : 'leaf',
    place: server.place,
    name: server.id,
    children,
  };
}

function serverDescription(server: ServerStatus, now: number, lacks: readonly string[]): string[] {
  const state = server.state.kind;
  const { previous, transport } = server;
  return [
    ...(server.tools.length > 0 || state === 'running' ? [toolCount(server.tools.length, server.offered)] : []),
    ...stateFacts(server.state),
    ...lacks,
    ...(server.rememberedAt === undefined ? [] : [rememberedPhrase(server.rememberedAt, now)]),
    ...(previous && server.approval.kind !== 'pending'
      ? [`previous definition since ${timeOf(previous.since, now)}`]
      : []),
    ...(server.approval.kind === 'pending' && state !== 'pending' ? ['waits for approval'] : []),
    ...(server.tools.length > 0 ? [tokenPhrase(estimatedTokensOf(server.tools))] : []),
    ...(transport === undefined ? [] : [transportWord(transport)]),
  ];
}

function stateFacts(state: ServerState): string[] {
  if (state.kind === 'running') return [];
  if (state.kind === 'failed') return [firstLine(unmarked(state.reason))];
  return [state.kind === 'starting' ? 'starting…' : stateWord(state)];
}

function serverIcon(server: ServerStatus, lacks: readonly string[]): TreeIcon {
  if (server.approval.kind === 'pending') return pendingIcon;
  return lacks.length > 0 || (server.previous && server.state.kind !== 'failed')
    ? warningIcon
    : stateIcon(server.state);
}

function stateIcon(state: ServerState): TreeIcon {
  switch (state.kind) {
    case 'disabled':
      return { id: 'circle-slash', color: 'disabledForeground' };
    case 'invalid':
    case 'failed':
      return { id: 'error', color: 'list.errorForeground' };
    case 'pending':
      return pendingIcon;
    case 'signInNeeded':
      return { id: 'key', color: 'list.warningForeground' };
    case 'starting':
      return { id: 'loading~spin' };
    case 'running':
      return { id: 'pass-filled', color: 'testing.iconPassed' };
    case 'remembered':
      return { id: 'history', color: 'testing.iconPassed' };
    case 'idle':
      return { id: 'pass', color: 'testing.iconPassed' };
    case 'reconnecting':
      return { id: 'sync~spin', color: 'list.warningForeground' };
    case 'stopped':
      return { id: 'circle-large-outline', color: 'disabledForeground' };
    default:
      return assertNever(state);
  }
}

function serverTooltip(server: ServerStatus, options: TreeOptions): Markdown {
  const { state, previous, serverInfo } = server;
  const at = (time: number): string => timeOf(time, options.now);
  const since = 'since' in state && state.kind !== 'remembered' ? ` since ${at(state.since)}` : '';
  const lines = [
    formatted`**${server.id}** ${stateWord(state)}${since}`,
    state.kind === 'reconnecting' ? formatted`${state.cause}` : noMarkdown,
    state.kind === 'signInNeeded' ? formatted`${state.why}` : noMarkdown,
    state.kind === 'failed' ? formatted`${unmarked(state.reason)}\n\n*${unmarked(state.fix)}*` : noMarkdown,
    previous ? formatted`${previousLine(previous, options.now)}` : noMarkdown,
    server.rememberedAt === undefined
      ? noMarkdown
      : formatted`Its tools are *remembered* from ${at(server.rememberedAt)}. A call waits until its server has started.`,
    server.offered > 0 ? toolsLine(server) : noMarkdown,
    leaseLine(server),
    markdownList(
      [
        server.transport === undefined ? noMarkdown : code(server.transport),
        serverInfo ? formatted`${serverInfo.name} ${serverInfo.version}` : noMarkdown,
        server.trulyStateless === undefined
          ? noMarkdown
          : server.trulyStateless
            ? formatted`one shared instance`
            : formatted`one instance for each conversation`,
      ],
      ' · ',
    ),
    formatted`${options.fileLabel(server.source)}`,
  ];
  return markdownList(lines, '\n\n');
}

/** The phrase explains the estimate. A person can compare it with other figures. */
function toolsLine({ tools, offered, savedTokens }: ServerStatus): Markdown {
  const tokens = estimatedTokensOf(tools);
  const saved = savedTokens > 0 ? `; filters and overrides save ${tokenPhrase(savedTokens)}` : '';
  return formatted`${toolCount(tools.length, offered)} published, ${tokenPhrase(tokens)} in each request (names, descriptions and schemas, four bytes to a token)${saved}`;
}

function leaseLine({ instances }: ServerStatus): Markdown {
  const leases = instances.filter(({ use }) => use.kind === 'leased').length;
  if (leases === 0) return noMarkdown;
  return leases === 1
    ? formatted`1 conversation holds an instance`
    : formatted`${leases} conversations hold an instance each`;
}

/** Makes the row of a waiting launch. A person sees the command without a click. */
function launchNodes(parent: string, { id: server, approval, place }: ServerStatus): TreeNode[] {
  if (approval.kind !== 'pending') return [];
  return [
    {
      id: `${parent}/launch`,
      kind: 'launch',
      server,
      label: inert`${commandLine(approval.launch)}`,
      description: inert``,
      spoken: inert`waits for approval: ${commandLine(approval.launch)}`,
      tooltip: markdownList(
        launchLines(approval.launch).map((line) => formatted`${line}`),
        '\n\n',
      ),
      icon: { id: 'terminal' },
      context: 'launch',
      initially: 'leaf',
      place,
      children: [],
    },
  ];
}

/** Makes the rows of a server's errors and warnings, which come before its tools. */
function problemNodes(parent: string, server: ServerStatus, problems: readonly Problem[]): TreeNode[] {
  const unique = uniqueIds();
  return problems
    .filter((problem) => problem.place.file === server.source)
    .filter(needsAttention)
    .map((problem) => ({
      id: unique(`${parent}/problem/${problem.code}:${problem.place.range.start.line}`),
      kind: 'problem',
      server: server.id,
      label: inert`${firstLine(unmarked(problem.message))}`,
      description: inert``,
      spoken: inert`${problem.severity}: ${unmarked(problem.message)}`,
      tooltip: formatted`${unmarked(problem.message)}\n\n*${unmarked(problem.fix)}*`,
      icon: problem.severity === 'error' ? { id: 'error', color: 'list.errorForeground' } : warningIcon,
      context: 'problem',
      initially: 'leaf',
      place: problem.place,
      name: `${problem.message} ${problem.fix}`,
      children: [],
    }));
}

/** Names the file of a server (C5), unless all servers come from one file of a folder. */
function sourceWords(server: ServerStatus, options: TreeOptions, severalFiles: boolean): string[] {
  switch (server.origin) {
    case 'folder':
      return severalFiles ? [options.folderLabel(server.source)] : [];
    case 'mcprc':
      return [options.fileLabel(server.source)];
    case 'user':
      return ['user'];
  }
}

function shadowedNodes(parent: string, server: ServerStatus, options: TreeOptions): TreeNode[] {
  return server.shadows.map((place) => {
    const file = options.fileLabel(place.file);
    return {
      id: `${parent}/shadowed/${place.file}`,
      kind: 'shadowed',
      server: server.id,
      label: inert`also in ${file}`,
      description: inert`shadowed`,
      spoken: inert`shadowed entry in ${file}`,
      tooltip: formatted`${file} also has an entry ${server.id}. The entry in ${options.fileLabel(server.source)} counts instead.`,
      icon: { id: 'layers' },
      context: 'shadowed',
      initially: 'leaf',
      place,
      children: [],
    };
  });
}

function builtInNode({ id, tools, excluded }: Toolset): TreeNode {
  const facts = ['built in', toolCount(tools.length, tools.length), tokenPhrase(estimatedTokensOf(tools))];
  return {
    id,
    kind: 'builtIn',
    server: id,
    label: inert`${id}`,
    description: inert`${facts.join(' · ')}`,
    spoken: inert`${[id, ...facts].join(', ')}`,
    tooltip: formatted`**${id}**\n\nBy these tools, agents see the state of your servers, release their instances, restart servers and reload the config files. The setting ${code('mcpToolsets.adminTools')} switches them off.`,
    icon: { id: 'extensions' },
    context: 'builtIn',
    initially: 'collapsed',
    name: id,
    children: [
      ...tools.map((tool) => toolNode(id, id, tool)),
      ...excluded.map((tool) => excludedNode(id, id, tool)),
    ].map((node) => ({ ...node, kind: 'builtIn', context: `builtInTool ${node.context}` })),
  };
}
