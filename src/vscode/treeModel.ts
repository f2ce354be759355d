/**
 * What the sidebar shows, computed from the status snapshot alone: a tree of plain values with ids that stay the same
 * as long as the thing does. Pure; does not import `vscode`, does not know how rows are drawn.
 */
import type { Place } from '../core/base/problem.js';
import { assertNever } from '../core/base/assertNever.js';
import type { InstanceStatus, ServerState, ServerStatus, StatusSnapshot } from '../core/reconcile/status.js';
import type { ExcludedTool, ServedTool } from '../core/tools/catalogue.js';
import { approvalActions, launchNodes, pendingIcon } from './approvalRows.js';
import { escapeMarkdown } from './markdown.js';
import { exclusionPhrase, instancePhrase, stateWord, timeOf, toolCount } from './phrases.js';

export interface TreeIcon {
  /** Of the editor's icon font. */
  readonly id: string;
  /** Of the theme. */
  readonly color?: string;
}

export interface TreeNode {
  readonly id: string;
  readonly kind: 'server' | 'launch' | 'problem' | 'tool' | 'group' | 'excluded' | 'instance';
  /** The id of the server it belongs to. */
  readonly server: string;
  readonly label: string;
  readonly description: string;
  /** Markdown; what comes from servers is escaped. */
  readonly tooltip: string;
  readonly icon: TreeIcon;
  /** Words that menus look for, separated by spaces. */
  readonly context: string;
  readonly initially: 'leaf' | 'collapsed' | 'expanded';
  /** Opened by a click. */
  readonly place?: Place;
  /** What “copy name” copies. */
  readonly name?: string;
  /** Of an instance that belongs to one. */
  readonly dialog?: string;
  readonly children: readonly TreeNode[];
}

export interface TreeSurroundings {
  readonly now: number;
  /** How a file is written for a person, e.g. relative to its workspace folder. */
  readonly fileLabel: (file: string) => string;
  /** What tells the files of several workspace folders apart, in a word. */
  readonly folderLabel: (file: string) => string;
}

export function treeModel(snapshot: StatusSnapshot, around: TreeSurroundings): readonly TreeNode[] {
  const severalFiles = new Set(snapshot.servers.map(({ source }) => source)).size > 1;
  const unique = uniqueIds();
  return snapshot.servers.map((server) =>
    serverNode(unique(`${server.source}#${server.id}`), server, snapshot, around, severalFiles),
  );
}

function serverNode(
  id: string,
  server: ServerStatus,
  snapshot: StatusSnapshot,
  around: TreeSurroundings,
  severalFiles: boolean,
): TreeNode {
  const children = [
    ...launchNodes(id, server),
    ...problemNodes(id, server, snapshot),
    ...server.tools.map((tool) => toolNode(id, server.id, tool)),
    ...group(id, server.id, 'Kept out', 'excluded', excludedNodes(id, server)),
    ...group(id, server.id, 'Instances', 'instances', instanceNodes(id, server, around.now)),
  ];
  const switched = server.state.kind === 'disabled' ? 'disabled' : 'enabled';
  return {
    id,
    kind: 'server',
    server: server.id,
    label: server.id,
    description: [...serverDescription(server), ...(severalFiles ? [around.folderLabel(server.source)] : [])].join(
      ' · ',
    ),
    tooltip: serverTooltip(server, around),
    icon: serverIcon(server),
    context: ['server', ...actions(server.state), ...approvalActions(server), switched].join(' '),
    initially: server.state.kind === 'pending' ? 'expanded' : children.length > 0 ? 'collapsed' : 'leaf',
    place: server.place,
    name: server.id,
    children,
  };
}

function serverDescription(server: ServerStatus): string[] {
  const state = server.state.kind;
  return [
    ...(server.tools.length > 0 || state === 'running' ? [toolCount(server.tools.length, server.offered)] : []),
    ...(state === 'running' ? [] : [state === 'starting' ? 'starting…' : stateWord(server.state)]),
    ...(server.previous && server.approval.kind !== 'pending' ? ['previous definition'] : []),
    ...(server.approval.kind === 'pending' && state !== 'pending' ? ['waits for approval'] : []),
  ];
}

function serverIcon(server: ServerStatus): TreeIcon {
  if (server.approval.kind === 'pending') return pendingIcon;
  return server.previous && server.state.kind !== 'failed' ? warningIcon : stateIcon(server.state);
}

const warningIcon: TreeIcon = { id: 'warning', color: 'list.warningForeground' };

function stateIcon(state: ServerState): TreeIcon {
  switch (state.kind) {
    case 'disabled':
      return { id: 'circle-slash', color: 'disabledForeground' };
    case 'invalid':
    case 'failed':
      return { id: 'error', color: 'list.errorForeground' };
    case 'pending':
      return pendingIcon;
    case 'starting':
      return { id: 'loading~spin' };
    case 'running':
      return { id: 'pass-filled', color: 'testing.iconPassed' };
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

/** What a person can ask of a server in this state. */
export function actions(state: ServerState): readonly ('startable' | 'stoppable' | 'restartable')[] {
  switch (state.kind) {
    case 'disabled':
    case 'invalid':
    case 'pending':
      return [];
    case 'stopped':
    case 'failed':
      return ['startable'];
    case 'idle':
      return ['startable', 'stoppable', 'restartable'];
    case 'starting':
      return ['stoppable'];
    case 'running':
    case 'reconnecting':
      return ['stoppable', 'restartable'];
    default:
      return assertNever(state);
  }
}

function serverTooltip(server: ServerStatus, around: TreeSurroundings): string {
  const { state, previous, serverInfo } = server;
  const at = (time: number): string => timeOf(time, around.now);
  const since = 'since' in state ? ` since ${at(state.since)}` : '';
  const lines = [
    `**${escapeMarkdown(server.id)}** ${stateWord(state)}${since}`,
    state.kind === 'reconnecting' ? escapeMarkdown(state.cause) : '',
    state.kind === 'failed' ? `${escapeMarkdown(state.reason)}\n\n*${escapeMarkdown(state.fix)}*` : '',
    previous
      ? `Serves its **previous definition** since ${at(previous.since)}: ${escapeMarkdown(previous.reason)}`
      : '',
    server.offered > 0 ? `${toolCount(server.tools.length, server.offered)} published` : '',
    [
      server.transport === undefined ? '' : `\`${server.transport}\``,
      serverInfo ? escapeMarkdown(`${serverInfo.name} ${serverInfo.version}`) : '',
      server.trulyStateless === undefined
        ? ''
        : server.trulyStateless
          ? 'one shared instance'
          : 'one instance each conversation',
    ]
      .filter((part) => part !== '')
      .join(' · '),
    escapeMarkdown(around.fileLabel(server.source)),
  ];
  return lines.filter((line) => line !== '').join('\n\n');
}

function problemNodes(parent: string, server: ServerStatus, snapshot: StatusSnapshot): TreeNode[] {
  const unique = uniqueIds();
  return snapshot.problems
    .filter((problem) => problem.server === server.id && problem.place.file === server.source)
    .filter(({ severity }) => severity !== 'information')
    .map((problem) => ({
      id: unique(`${parent}/problem/${problem.code}:${problem.place.range.start.line}`),
      kind: 'problem',
      server: server.id,
      label: problem.message,
      description: '',
      tooltip: `${escapeMarkdown(problem.message)}\n\n*${escapeMarkdown(problem.fix)}*`,
      icon: problem.severity === 'error' ? { id: 'error', color: 'list.errorForeground' } : warningIcon,
      context: 'problem',
      initially: 'leaf',
      place: problem.place,
      children: [],
    }));
}

function toolNode(parent: string, server: string, tool: ServedTool): TreeNode {
  const { original, published } = tool;
  const title = tool.tool.annotations?.title ?? tool.tool.title;
  const lines = [
    `**${escapeMarkdown(published)}**${title ? ` ${escapeMarkdown(title)}` : ''}`,
    escapeMarkdown(tool.tool.description ?? ''),
    original === published ? '' : `The server calls it \`${original}\`.`,
    `In this editor: \`${tool.editorId}\``,
  ];
  return {
    id: `${parent}/tool/${published}`,
    kind: 'tool',
    server,
    label: published,
    description: original === published ? '' : original,
    tooltip: lines.filter((line) => line !== '').join('\n\n'),
    icon: { id: 'tools' },
    context: 'tool',
    initially: 'leaf',
    name: published,
    children: [],
  };
}

function excludedNodes(parent: string, server: ServerStatus): TreeNode[] {
  const unique = uniqueIds();
  return server.excluded.map(({ original, reason }: ExcludedTool) => ({
    id: unique(`${parent}/excluded/${original}`),
    kind: 'excluded',
    server: server.id,
    label: original,
    description: exclusionPhrase(reason),
    tooltip: `**${escapeMarkdown(original)}** ${escapeMarkdown(exclusionPhrase(reason))}`,
    icon: { id: 'circle-slash', color: 'disabledForeground' },
    context: 'excluded',
    initially: 'leaf',
    name: original,
    children: [],
  }));
}

function instanceNodes(parent: string, server: ServerStatus, now: number): TreeNode[] {
  return server.instances.map((instance: InstanceStatus) => {
    const calls = instance.callsInFlight;
    const facts = [
      instance.pid === undefined ? '' : `process ${instance.pid}`,
      `since ${timeOf(instance.startedAt, now)}`,
      calls === 0 ? '' : calls === 1 ? '1 call running' : `${calls} calls running`,
    ].filter((fact) => fact !== '');
    const lines = [
      `**${escapeMarkdown(instancePhrase(instance.use))}**`,
      ...facts,
      instance.use.kind === 'leased' ? `conversation \`${instance.use.dialog}\`` : '',
      instance.lastCallAt === undefined ? 'not called yet' : `last call ${timeOf(instance.lastCallAt, now)}`,
    ];
    return {
      id: `${parent}/instance/${instance.id}`,
      kind: 'instance',
      server: server.id,
      label: instancePhrase(instance.use),
      description: facts.join(' · '),
      tooltip: lines.filter((line) => line !== '').join('\n\n'),
      icon: { id: instance.use.kind === 'leased' ? 'comment-discussion' : 'server-process' },
      context: `instance ${instance.use.kind}`,
      initially: 'leaf',
      ...(instance.use.kind === 'leased' && { dialog: instance.use.dialog }),
      children: [],
    };
  });
}

function group(parent: string, server: string, label: string, key: string, children: TreeNode[]): TreeNode[] {
  if (children.length === 0) return [];
  return [
    {
      id: `${parent}/${key}`,
      kind: 'group',
      server,
      label,
      description: String(children.length),
      tooltip: '',
      icon: { id: key === 'excluded' ? 'filter' : 'server-process' },
      context: `group ${key}`,
      initially: 'collapsed',
      children,
    },
  ];
}

/** The editor refuses a tree in which two rows have one id. */
function uniqueIds(): (id: string) => string {
  const seen = new Map<string, number>();
  return (id) => {
    const count = (seen.get(id) ?? 0) + 1;
    seen.set(id, count);
    return count > 1 ? `${id}/${count}` : id;
  };
}
