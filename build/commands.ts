/**
 * The commands of the extension, and where the editor shows them. `npm run contributions` writes
 * `contributes.commands` and `contributes.menus` of `package.json` from this table. `src` takes
 * only the type of its names, because the editor has read `package.json` before it loads the
 * extension (P1).
 */

/** An entry of a command in the menus of the editor. */
interface Entry {
  readonly menu: 'view/title' | 'view/item/context' | 'editor/title';
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
/** For commands that need a row or a document. */
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

export const commands = {
  start: {
    title: 'Start Server',
    icon: 'play',
    enabled: serving,
    palette: serving,
    menus: [onServerRow('=~ /^server.* startable/', 'inline@1', '1_run@1')],
  },
  stop: {
    title: 'Stop Server',
    icon: 'debug-stop',
    enabled: serving,
    palette: serving,
    menus: [onServerRow('=~ /^server.* stoppable/', 'inline@3', '1_run@3')],
  },
  restart: {
    title: 'Restart Server',
    icon: 'debug-restart',
    enabled: serving,
    palette: serving,
    menus: [onServerRow('=~ /^server.* restartable/', 'inline@2', '1_run@2')],
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
    palette: `${serving} && !mcpToolsets.onlyWithProblems`,
    menus: [inTitle('servers', '1_servers@4', `${serving} && !mcpToolsets.onlyWithProblems`)],
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
    title: 'Review Pending Servers…',
    icon: 'diff',
    enabled: serving,
    palette: `${serving} && mcpToolsets.pending`,
    menus: [onServerRow('=~ /^server.* approvable/', 'inline@0', '0_approval@2')],
  },
  revoke: {
    title: 'Revoke Server Approval',
    icon: 'shield',
    enabled: serving,
    palette: serving,
    menus: [onServerRow('=~ /^server.* revocable/', '0_approval@3')],
  },
  acceptTools: {
    title: 'Accept Changed Tools…',
    icon: 'check',
    enabled: serving,
    palette: serving,
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
    palette: serving,
    menus: [onServerRow('=~ /^server.* signInable/', 'inline@0', '0_signIn@1')],
  },
  setSecret: {
    title: 'Set Secret…',
    icon: 'key',
    enabled: serving,
    palette: serving,
    menus: [onServerRow('=~ /^server.* secret/', '0_signIn@3')],
  },
  signOut: {
    title: 'Sign Out of Server',
    icon: 'sign-out',
    enabled: serving,
    palette: serving,
    menus: [onServerRow('=~ /^server.* signOutable/', '0_signIn@2')],
  },
  enable: {
    title: 'Enable Server',
    icon: 'circle-large-filled',
    enabled: serving,
    palette: serving,
    menus: [onServerRow('=~ /^server.* disabled/', '1_run@4')],
  },
  disable: {
    title: 'Disable Server',
    icon: 'circle-slash',
    enabled: serving,
    palette: serving,
    menus: [onServerRow('=~ /^server.* enabled/', '1_run@4')],
  },
  showServerLog: {
    title: 'Show Server Log',
    icon: 'output',
    enabled: serving,
    palette: serving,
    menus: [
      onServerRow('=~ /^server.* failed/', 'inline@3'),
      onServerRow('=~ /^server/', '2_look@2'),
    ],
  },
  goToDefinition: {
    title: 'Go to Server Definition',
    icon: 'go-to-file',
    enabled: serving,
    palette: serving,
    menus: [
      onServerRow('=~ /^server/', 'inline@4'),
      onServerRow('=~ /^(server|tool|excluded)/', '2_look@1'),
    ],
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
    palette: serving,
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
  askBeforeCalls: {
    title: 'Ask Before Calls',
    enabled: serving,
    palette: never,
    menus: [onServerRow('=~ /^(tool|builtInTool|excluded denied)/', '4_permission@2')],
  },
  denyTool: {
    title: 'Deny',
    enabled: serving,
    palette: never,
    menus: [onServerRow('=~ /^(tool|builtInTool tool)/', '4_permission@3')],
  },
  allowTool: {
    title: 'Allow',
    enabled: serving,
    palette: never,
    menus: [onServerRow('=~ /^(tool|builtInTool|excluded denied)/', '4_permission@1')],
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
  createConfig: { title: 'Create Config File', icon: 'new-file', palette: withFolder },
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
    palette: `${trusted} && ${serving}`,
  },
  import: {
    title: 'Import Servers from Other Programs…',
    icon: 'cloud-download',
    enabled: trusted,
    palette: trusted,
    menus: [inTitle('servers', '0_add', trusted)],
  },
  explainTool: { title: 'Why Is a Tool Missing…', icon: 'question', palette: serving },
  copyDiagnostics: {
    title: 'Copy Diagnostics',
    icon: 'bug',
    menus: [inTitle('servers', '2_log@2')],
  },
  openDocumentation: { title: 'Open Documentation…', icon: 'book' },
  openSettings: { title: 'Open Settings', menus: [inTitle('servers', '2_settings')] },
  openWalkthrough: { title: 'Get Started' },
  showLog: { title: 'Show Log', icon: 'output', menus: [inTitle('servers', '2_log@1')] },
  'minds.continue': {
    title: 'Continue @minds in Chat',
    icon: 'debug-continue',
    enabled: serving,
    palette: serving,
  },
  writeAgents: {
    title: 'Write Custom Agents for Team Members',
    icon: 'organization',
    enabled: serving,
    palette: serving,
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
  showCallInstance: {
    title: 'Show Instance',
    palette: never,
    menus: [onCallRow('=~ / instance$/', '1_call@3')],
  },
  filterCalls: {
    title: 'Filter Calls…',
    icon: 'filter',
    palette: withFolder,
    menus: [inTitle('calls', 'navigation@0', '!mcpToolsets.callsFiltered')],
  },
  clearCallFilter: {
    title: 'Clear Filter of Calls',
    icon: 'filter-filled',
    palette: 'mcpToolsets.callsFiltered',
    menus: [inTitle('calls', 'navigation@0', 'mcpToolsets.callsFiltered')],
  },
  showNewCalls: {
    title: 'Show New Calls',
    icon: 'arrow-up',
    palette: 'mcpToolsets.callsWait',
    menus: [inTitle('calls', 'navigation@1', 'mcpToolsets.callsWait')],
  },
  callsByTime: {
    title: 'Show Calls by Time',
    palette: withFolder,
    menus: [inTitle('calls', '1_group@0', 'mcpToolsets.callGrouping != time')],
  },
  callsByConversation: {
    title: 'Group Calls by Conversation',
    palette: withFolder,
    menus: [inTitle('calls', '1_group@1', 'mcpToolsets.callGrouping != conversation')],
  },
  callsByServer: {
    title: 'Group Calls by Server',
    palette: withFolder,
    menus: [inTitle('calls', '1_group@2', 'mcpToolsets.callGrouping != server')],
  },
  exportCalls: {
    title: 'Export Calls…',
    palette: withFolder,
    menus: [inTitle('calls', '2_record@0')],
  },
  clearCalls: {
    title: 'Clear Calls…',
    palette: withFolder,
    menus: [inTitle('calls', '2_record@1')],
  },
} satisfies Record<string, Command>;

/** Commands without an entry in `package.json`: only our own links, buttons and rows run them. */
type InternalCommand = 'minds.answer' | 'openApp' | 'removeRivals' | 'revealInstance';

/** The id of a command is `mcpToolsets.<name>`. */
export type CommandName = keyof typeof commands | InternalCommand;
