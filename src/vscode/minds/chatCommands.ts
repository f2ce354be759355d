/** Answers the commands of `@minds` that need no model: `/mcp`, `/tools`, `/reload`, `/release`, and the members for `/as`. */
import type * as vscode from 'vscode';
import type { ModelSetup } from '../../core/dialog/dialog.js';
import type { Member } from '../../core/team/team.js';
import { heldBy } from '../../core/host/dialogTools.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import type { WindowState } from '../engine/engineSlot.js';
import { escapeMarkdown } from '../views/markdown.js';
import { stateWord, timeOf, toolCount, whyNothingRuns } from '../views/phrases.js';
import type { Engine } from '../engine/engine.js';

/** How many characters of a tool's description are shown. */
const longestLine = 160;

/** Answers `/mcp`. */
export function showServers(stream: vscode.ChatResponseStream, state: WindowState, dialog: string): void {
  const { servers, problems } = state.snapshot;
  if (servers.length === 0) {
    stream.markdown(whyNothingRuns(state.phase));
    return;
  }
  const held = heldBy(dialog, state.snapshot);
  const lines = servers.map((server) => {
    const own = held.includes(server.id) ? ', **this chat has an instance**' : '';
    return `- \`${server.id}\` – ${stateOf(server)}, ${toolCount(server.tools.length, server.offered)}${own}\n`;
  });
  stream.markdown(`${lines.join('')}\n`);
  for (const { id } of servers) {
    for (const { server, severity, message, fix } of problems) {
      if (server !== id || severity === 'information') continue;
      stream.markdown(`- \`${id}\`, ${severity}: ${escapeMarkdown(`${message} ${fix}`)}\n`);
    }
  }
  stream.button({ command: 'mcpToolsets.servers.focus', title: 'Show in Sidebar' });
}

function stateOf({ state, previous }: ServerStatus): string {
  return previous
    ? `${stateWord(state)}, serves its previous definition since ${timeOf(previous.since, Date.now())}`
    : stateWord(state);
}

/** Answers `/tools`. */
export function showTools(
  stream: vscode.ChatResponseStream,
  { tools }: ModelSetup,
  state: WindowState,
  who: string,
): void {
  if (tools.length === 0) {
    stream.markdown(state.snapshot.servers.length === 0 ? whyNothingRuns(state.phase) : `${who} has no tools now.`);
    return;
  }
  stream.markdown(`${who} has ${toolCount(tools.length, tools.length)}.\n`);
  for (const toolset of new Set(tools.map((tool) => tool.toolset))) {
    stream.markdown(`\n**${escapeMarkdown(toolset)}**\n\n`);
    for (const { name, description } of tools.filter((tool) => tool.toolset === toolset)) {
      stream.markdown(`- \`${name}\` – ${escapeMarkdown(firstWords(description))}\n`);
    }
  }
}

/** Shortens the first line to whole words. */
function firstWords(description: string): string {
  const [line = ''] = description.split('\n');
  return line.length > longestLine ? `${line.slice(0, longestLine).replace(/\s+\S*$/, '')} …` : line;
}

/** Answers `/release`, for one server or for all that the chat holds. */
export async function release(
  stream: vscode.ChatResponseStream,
  engine: Engine | undefined,
  dialog: string,
  server: string,
): Promise<void> {
  const host = engine?.host;
  const held = host ? heldBy(dialog, host.snapshot) : [];
  const wanted = server === '' ? held : [server.replace(/^['"`]|['"`]$/g, '')];
  if (!host || wanted.length === 0) {
    stream.markdown('This chat holds no instance.');
    return;
  }
  for (const id of wanted) {
    if (!host.snapshot.servers.some((known) => known.id === id)) {
      stream.markdown(`There is no server \`${id.replaceAll('`', '')}\`.\n\n`);
    } else if (await host.release(id, dialog)) {
      stream.markdown(`The instance of \`${id}\` that this chat had has ended. The next call starts a new one.\n\n`);
    } else {
      stream.markdown(`This chat holds no instance of \`${id}\`.\n\n`);
    }
  }
}

/** Answers `/as` without a name, or with a name that nobody has. */
export function showMembers(
  stream: vscode.ChatResponseStream,
  members: readonly Member[],
  asked: string,
  now: string | undefined,
): void {
  if (asked !== '') stream.markdown(`There is no member \`${asked.replaceAll('`', '')}\`.\n\n`);
  if (members.length === 0) {
    stream.markdown('The team has no members. Name them in `.minds/team.yaml`.');
    return;
  }
  stream.markdown(
    `${now !== undefined ? `\`${now}\` answers in this chat.` : 'Nobody in particular answers in this chat.'}\n\n`,
  );
  for (const { id, name, purpose, grants } of members) {
    const toolsets = grants.map(({ grant }) =>
      grant.kind === 'all' ? '*' : grant.kind === 'except' ? `!${grant.id}` : grant.id,
    );
    const about = [name === id ? undefined : name, purpose].filter((part) => part !== undefined).join(', ');
    const has = toolsets.length > 0 ? toolsets.map((toolset) => `\`${toolset}\``).join(', ') : 'no toolsets';
    stream.markdown(`- \`${id}\`${about === '' ? '' : ` – ${escapeMarkdown(about)}`}: ${has}\n`);
  }
  stream.markdown('\n`/as` and an id chooses one, `/as nobody` goes back to all toolsets.');
}
