/**
 * The commands of the extension, and where the editor shows them. `npm run contributions` writes
 * `contributes.commands` and `contributes.menus` of `package.json` from this table. `src` takes
 * only the type of its names, because the editor has read `package.json` before it loads the
 * extension (P1).
 */

/** An entry of a command in the menus of the editor. */
interface Entry {
  readonly menu: 'view/title' | 'view/item/context' | 'editor/title' | typeof whenCalledMenu;
  readonly when: string;
  /** The sections with their orders. `inline` and `navigation` show the icon. */
  readonly groups: readonly string[];
}

export interface Command {
  readonly title: string;
  /** The label of its button. */
  readonly shortTitle?: string;
  /** A name of the icon font of the editor. */
  readonly icon?: string;
  /** Otherwise the editor shows it, but does not run it. */
  readonly enabled?: string;
  /** When the palette has the command. By default, in every window. */
  readonly palette?: string;
  readonly menus?: readonly Entry[];
}

const serving = 'mcpToolsets.phase == serving';
const trusted = 'isWorkspaceTrusted';
const withFolder = `${trusted} && workspaceFolderCount > 0`;
/** The view *Calls* was shown, and the record has something. */
const withCalls = `${withFolder} && mcpToolsets.hasCalls`;
/** For commands that need a row or a document, or are in *Manage Server…*. */
const never = 'false';

/** The buttons and the menu in the title of one of our views. */
function inTitle(view: 'servers' | 'calls', group: string, condition?: string): Entry {
  const inView = `view == mcpToolsets.${view}`;
  const when = condition === undefined ? inView : `${inView} && ${condition}`;
  return { menu: 'view/title', when, groups: [group] };
}

/** @param is compares the words of the row, the `context` of `ShownRow` */
function onRow(view: 'servers' | 'calls', is: string, groups: readonly string[]): Entry {
  return {
    menu: 'view/item/context',
    when: `view == mcpToolsets.${view} && viewItem ${is}`,
    groups,
  };
}

function onServerRow(is: string, ...groups: string[]): Entry {
  return onRow('servers', is, groups);
}

function onCallRow(is: string, ...groups: string[]): Entry {
  return onRow('calls', is, groups);
}

/**
 * The title of a document that a person reviews. The editor takes the label of a button from its
 * command, so each label has a command.
 */
function inReview(group: string, ...reviews: string[]): Entry {
  const schemes = reviews.map((review) => `resourceScheme == mcp-toolsets-${review}`);
  return { menu: 'editor/title', when: schemes.join(' || '), groups: [group] };
}

/** The submenu of a tool. */
export const whenCalledMenu = 'mcpToolsets.whenCalled';

/**
 * A choice of the submenu. Menus of extensions have no check marks, so the present choice is a
 * command with the mark in its title.
 */
function whenCalled(title: string, order: number, word: string, isPresent: boolean): Command {
  const is = `viewItem =~ / ${word}\\b/`;
  const when = isPresent ? is : `!(${is})`;
  return {
    title: isPresent ? `✓ ${title}` : title,
    enabled: serving,
    palette: never,
    menus: [{ menu: whenCalledMenu, when, groups: [`1_choice@${order}`] }],
  };
}

export const submenus = [
  {
    id: whenCalledMenu,
    label: 'When Called',
    when: 'view == mcpToolsets.servers && viewItem =~ /^(tool|builtInTool|excluded denied)/',
    group: '4_permission',
  },
];

export const keys = [
  {
    command: 'mcpToolsets.toggleTick',
    key: 'space',
    when: 'focusedView == mcpToolsets.servers && listFocus && !inputFocus',
    // The editor replaces it by the focused row.
    args: { $treeViewId: 'mcpToolsets.servers', $focusedTreeItem: true },
  },
];

export const commands = {
  manageServer: {
    title: 'Manage Server…',
    icon: 'settings-gear',
    enabled: serving,
    palette: serving,
    menus: [onServerRow('=~ /^server/', '1_run@5')],
  },
  start: {
    title: 'Start Server',
    icon: 'play',
    enabled: serving,
    palette: never,
    menus: [
      onServerRow('=~ /^server(?!.* (approvable|restartable)).* startable/', 'inline@1'),
      onServerRow('=~ /^server.* startable/', '1_run@1'),
    ],
  },
  stop: {
    title: 'Stop Server',
    icon: 'debug-stop',
    enabled: serving,
    palette: never,
    menus: [
      onServerRow('=~ /^server(?!.* (approvable|restartable)).* stoppable/', 'inline@3'),
      onServerRow('=~ /^server.* stoppable/', '1_run@3'),
    ],
  },
  restart: {
    title: 'Restart Server',
    icon: 'debug-restart',
    enabled: serving,
    palette: never,
    menus: [
      onServerRow('=~ /^server(?!.* (approvable|startable)).* restartable/', 'inline@2'),
      onServerRow('=~ /^server.* restartable/', '1_run@2'),
    ],
  },
  restartAll: {
    title: 'Restart All Servers',
    icon: 'debug-restart',
    enabled: serving,
    palette: serving,
    menus: [inTitle('servers', '1_servers@1', serving)],
  },
  stopAll: {
    title: 'Stop All Servers',
    icon: 'stop-circle',
    enabled: serving,
    palette: serving,
    menus: [inTitle('servers', '1_servers@2', serving)],
  },
  showWithProblems: {
    title: 'Show Only Servers with Problems',
    icon: 'filter',
    enabled: serving,
    palette: `${serving} && mcpToolsets.problems && !mcpToolsets.onlyWithProblems`,
    menus: [
      inTitle(
        'servers',
        '1_servers@4',
        `${serving} && mcpToolsets.problems && !mcpToolsets.onlyWithProblems`,
      ),
    ],
  },
  showAll: {
    title: 'Show All Servers',
    icon: 'filter-filled',
    enabled: serving,
    palette: 'mcpToolsets.onlyWithProblems',
    menus: [inTitle('servers', 'navigation@2', 'mcpToolsets.onlyWithProblems')],
  },
  release: {
    title: 'Release Instance',
    icon: 'debug-disconnect',
    enabled: serving,
    palette: never,
    menus: [onServerRow("== 'instance leased'", 'inline@1', '1_run@4')],
  },
  showConversationFiles: {
    title: 'Show Files of This Conversation',
    icon: 'files',
    enabled: serving,
    palette: never,
    menus: [onServerRow("== 'instance leased'", 'inline@0', '2_look@1')],
  },
  approve: {
    title: 'Approve Server…',
    icon: 'check',
    enabled: serving,
    palette: `${serving} && mcpToolsets.pending`,
    menus: [onServerRow('=~ /^server.* approvable/', 'inline@0', '0_approval@1')],
  },
  reviewPending: {
    title: 'Review Servers Waiting for Approval…',
    icon: 'diff',
    enabled: serving,
    palette: `${serving} && mcpToolsets.pending`,
    menus: [onServerRow('=~ /^server.* approvable/', 'inline@0', '0_approval@2')],
  },
  acceptTools: {
    title: 'Accept Changed Tools…',
    icon: 'check',
    enabled: serving,
    palette: `${serving} && mcpToolsets.changed`,
    menus: [
      onServerRow('=~ /^server.* changed/', '0_approval@4'),
      onServerRow('=~ /^(tool|excluded|prompt|instructions) changed/', 'inline@0', '0_approval@1'),
    ],
  },
  approveShown: {
    title: 'Approve What Is Shown',
    shortTitle: 'Approve',
    palette: never,
    menus: [inReview('navigation@-1', 'approval')],
  },
  acceptShown: {
    title: 'Accept What Is Shown',
    shortTitle: 'Accept',
    palette: never,
    menus: [inReview('navigation@-1', 'changes')],
  },
  importShown: {
    title: 'Import What Is Shown',
    shortTitle: 'Import',
    palette: never,
    menus: [inReview('navigation@-1', 'import')],
  },
  writeShown: {
    title: 'Write What Is Shown',
    shortTitle: 'Write',
    palette: never,
    menus: [inReview('navigation@-1', 'agent', 'removal')],
  },
  allowShown: {
    title: 'Allow the Shown Call',
    shortTitle: 'Allow',
    palette: never,
    menus: [inReview('navigation@-3', 'question')],
  },
  allowAllShown: {
    title: 'Allow the Shown Call in This Conversation',
    shortTitle: 'Allow in This Conversation',
    palette: never,
    menus: [inReview('navigation@-2', 'question')],
  },
  refuseShown: {
    title: 'Do Not Allow the Shown Call',
    shortTitle: 'Do Not Allow',
    palette: never,
    menus: [inReview('navigation@-1', 'question')],
  },
  signIn: {
    title: 'Sign In to Server…',
    icon: 'key',
    enabled: serving,
    palette: never,
    menus: [
      onServerRow('=~ /^server(?!.* approvable).* signInable/', 'inline@0'),
      onServerRow('=~ /^server.* signInable/', '0_signIn@1'),
    ],
  },
  enableForMe: {
    title: 'Enable for Me',
    icon: 'circle-large-filled',
    enabled: serving,
    palette: never,
    menus: [onServerRow('=~ /^server.* disabled/', '1_run@4')],
  },
  disableForMe: {
    title: 'Disable for Me',
    icon: 'circle-slash',
    enabled: serving,
    palette: never,
    menus: [onServerRow('=~ /^server.* enabled/', '1_run@4')],
  },
  enable: {
    title: 'Enable for Everyone',
    icon: 'circle-large-filled',
    enabled: serving,
    palette: never,
    menus: [onServerRow('=~ /^server(?!.* mine).* disabled/', '1_run@4')],
  },
  disable: {
    title: 'Disable for Everyone',
    icon: 'circle-slash',
    enabled: serving,
    palette: never,
    menus: [onServerRow('=~ /^server(?!.* mine).* enabled/', '1_run@4')],
  },
  changesForMe: {
    title: 'Changes Only for Me',
    icon: 'account',
    enabled: serving,
    palette: never,
    menus: [inTitle('servers', 'navigation@3', `${serving} && !mcpToolsets.changesForMe`)],
  },
  changesForEveryone: {
    title: 'Changes for Everyone',
    icon: 'organization',
    enabled: serving,
    palette: never,
    menus: [inTitle('servers', 'navigation@3', `${serving} && mcpToolsets.changesForMe`)],
  },
  showServerLog: {
    title: 'Show Server Log',
    icon: 'output',
    enabled: serving,
    palette: never,
    menus: [
      onServerRow('=~ /^server(?!.* (approvable|signInable)).* failed/', 'inline@3'),
      onServerRow('=~ /^server/', '2_look@2'),
    ],
  },
  goToDefinition: {
    title: 'Go to Server Definition',
    icon: 'go-to-file',
    enabled: serving,
    palette: never,
    menus: [onServerRow('=~ /^(server|tool|excluded)/', '2_look@1')],
  },
  goToPattern: {
    title: 'Go to the Pattern',
    icon: 'go-to-file',
    enabled: serving,
    palette: never,
    menus: [onServerRow('=~ /^(tool|excluded (whitelist|blacklist))/', '2_look@2')],
  },
  copyName: {
    title: 'Copy Name',
    icon: 'copy',
    enabled: serving,
    palette: never,
    menus: [onServerRow('=~ /^(server|tool|excluded|prompt|resource|builtIn)/', '3_copy')],
  },
  copyError: {
    title: 'Copy Error',
    icon: 'copy',
    enabled: serving,
    palette: never,
    menus: [onServerRow('== problem', 'inline@1', '3_copy')],
  },
  tryTool: {
    title: 'Try Tool',
    icon: 'beaker',
    enabled: serving,
    palette: serving,
    menus: [onServerRow('=~ /^tool/', 'inline@1', '1_run@1')],
  },
  publishTool: {
    title: 'Publish',
    enabled: serving,
    palette: never,
    menus: [onServerRow('=~ / unticked/', '1_run@2')],
  },
  keepOutTool: {
    title: 'Keep Out',
    enabled: serving,
    palette: never,
    menus: [onServerRow('=~ / ticked/', '1_run@2')],
  },
  keepOutUnused: {
    title: 'Keep Out Unused Tools…',
    enabled: serving,
    palette: `${serving} && mcpToolsets.unused`,
    menus: [
      inTitle('servers', '1_servers@5', `${serving} && mcpToolsets.unused`),
      onServerRow('=~ /^server.* unused/', '1_run@6'),
    ],
  },
  editorDecides: whenCalled('As the Editor Decides', 0, 'calledDefault', false),
  editorDecidesNow: whenCalled('As the Editor Decides', 0, 'calledDefault', true),
  askBeforeCalls: whenCalled('Ask', 1, 'calledAsk', false),
  askBeforeCallsNow: whenCalled('Ask', 1, 'calledAsk', true),
  allowTool: whenCalled('Allow', 2, 'calledAllow', false),
  allowToolNow: whenCalled('Allow', 2, 'calledAllow', true),
  denyTool: whenCalled('Deny', 3, 'denied', false),
  denyToolNow: whenCalled('Deny', 3, 'denied', true),
  calledInAllFolders: {
    title: 'In All Folders',
    enabled: serving,
    palette: never,
    menus: [{ menu: whenCalledMenu, when: 'true', groups: ['2_scope'] }],
  },
  reload: {
    title: 'Reload Config Files',
    icon: 'refresh',
    enabled: serving,
    palette: serving,
    menus: [inTitle('servers', '1_servers@3', serving)],
  },
  openConfig: {
    title: 'Open Config File',
    icon: 'edit',
    palette: serving,
    menus: [inTitle('servers', 'navigation@1', serving)],
  },
  openLocalConfig: {
    title: 'Open My Local File',
    icon: 'edit',
    palette: withFolder,
    menus: [inTitle('servers', '1_servers@0', serving)],
  },
  createConfig: {
    title: 'Create Config File',
    icon: 'new-file',
    palette: `${withFolder} && mcpToolsets.phase == noFile`,
  },
  addServer: {
    title: 'Add Server…',
    icon: 'add',
    enabled: trusted,
    palette: trusted,
    menus: [inTitle('servers', 'navigation@0', trusted)],
  },
  setUpAgent: {
    title: 'Set Up Another Agent…',
    icon: 'plug',
    enabled: `${trusted} && ${serving}`,
    palette: `${trusted} && ${serving}`,
    menus: [inTitle('servers', '0_add', `${trusted} && ${serving}`)],
  },
  renewEditorToken: {
    title: 'Renew Token for the Editor',
    icon: 'key',
    enabled: `${trusted} && ${serving}`,
    palette: `${trusted} && ${serving} && mcpToolsets.agentSessions`,
  },
  import: {
    title: 'Import Servers from Other Programs…',
    icon: 'cloud-download',
    enabled: trusted,
    palette: trusted,
    menus: [inTitle('servers', '0_add', trusted)],
  },
  explainTool: {
    title: 'Why Is a Tool Missing?',
    icon: 'question',
    palette: serving,
    menus: [onServerRow('=~ /excluded/', '2_look@0')],
  },
  copyDiagnostics: {
    title: 'Copy Diagnostics',
    icon: 'bug',
    menus: [inTitle('servers', '2_log@2')],
  },
  whatAgentsRead: {
    title: 'What Agents Read',
    icon: 'open-preview',
    enabled: serving,
    palette: serving,
    menus: [inTitle('servers', '2_log@0', serving)],
  },
  openDocumentation: { title: 'Open Documentation…', icon: 'book' },
  openSettings: { title: 'Open Settings', menus: [inTitle('servers', '2_settings')] },
  openWalkthrough: { title: 'Get Started' },
  showLog: { title: 'Show Log', icon: 'output', menus: [inTitle('servers', '2_log@1')] },
  writeAgents: {
    title: 'Write Custom Agents for Team Members',
    icon: 'organization',
    enabled: serving,
    palette: `${serving} && mcpToolsets.team`,
  },
  showCall: {
    title: 'Show Call',
    icon: 'open-preview',
    palette: never,
    menus: [onCallRow('=~ /^call/', '1_call@0')],
  },
  tryCallAgain: {
    title: 'Try Again',
    icon: 'play',
    palette: never,
    menus: [onCallRow('=~ /^call tool/', 'inline@0', '1_call@1')],
  },
  copyCallAsCommand: {
    title: 'Copy as Command',
    palette: never,
    menus: [onCallRow('=~ /^call tool/', '1_call@2')],
  },
  keepOutCalledTool: {
    title: 'Keep This Tool Out',
    palette: never,
    menus: [onCallRow('=~ /^call tool/', '2_rule@0')],
  },
  askNextTime: {
    title: 'Ask Next Time',
    palette: never,
    menus: [onCallRow('=~ /^call tool/', '2_rule@1')],
  },
  fixArgument: {
    title: 'Fix an Argument to What Was Sent…',
    palette: never,
    menus: [onCallRow('=~ /^call tool/', '2_rule@2')],
  },
  showCallInstance: {
    title: 'Show Instance',
    palette: never,
    menus: [onCallRow('=~ / instance$/', '1_call@3')],
  },
  filterCalls: {
    title: 'Filter Calls…',
    icon: 'filter',
    palette: withCalls,
    menus: [inTitle('calls', 'navigation@0')],
  },
  clearCallFilter: {
    title: 'Clear Filter of Calls',
    icon: 'clear-all',
    palette: 'mcpToolsets.callsFiltered',
    menus: [inTitle('calls', 'navigation@1', 'mcpToolsets.callsFiltered')],
  },
  showNewCalls: {
    title: 'Show New Calls',
    icon: 'arrow-up',
    palette: 'mcpToolsets.callsWait',
    menus: [inTitle('calls', 'navigation@2', 'mcpToolsets.callsWait')],
  },
  groupCalls: {
    title: 'Group Calls…',
    palette: withCalls,
    menus: [inTitle('calls', '1_group@0')],
  },
  showServerEvents: {
    title: 'Show Server Events',
    palette: `${withCalls} && !mcpToolsets.serverEvents`,
    menus: [inTitle('calls', '1_group@1', '!mcpToolsets.serverEvents')],
  },
  hideServerEvents: {
    title: 'Hide Server Events',
    palette: `${withCalls} && mcpToolsets.serverEvents`,
    menus: [inTitle('calls', '1_group@1', 'mcpToolsets.serverEvents')],
  },
  exportCalls: {
    title: 'Export Calls…',
    palette: never,
    menus: [inTitle('calls', '2_record@0')],
  },
  clearCalls: {
    title: 'Clear Calls…',
    palette: never,
    menus: [inTitle('calls', '2_record@1')],
  },
} satisfies Record<string, Command>;

/** Commands without an entry in `package.json`: only our own links, buttons, keys, rows and lists run them. */
type InternalCommand =
  | 'minds.answer'
  | 'minds.continue'
  | 'keepOutOfGit'
  | 'openApp'
  | 'removeRivals'
  | 'revealInstance'
  | 'revoke'
  | 'setSecret'
  | 'signOut'
  | 'toggleTick'
  | 'updateLock';

/** The id of a command is `mcpToolsets.<name>`. */
export type CommandName = keyof typeof commands | InternalCommand;
