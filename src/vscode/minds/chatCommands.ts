/** Answers the commands of `@minds` that need no model, and offers follow-ups. Does not import `vscode` at run time. */
import type * as vscode from 'vscode';
import { code, inert, formatted, markdownList, unmarked, type Markdown } from '../../core/base/inert.js';
import { needsAttention, type Problem } from '../../core/base/problem.js';
import type { ModelSetup } from '../../core/minds/conversation.js';
import { readRecord, type TurnRecord } from '../../core/minds/history.js';
import type { Member } from '../../core/team/team.js';
import { heldBy } from '../../core/host/conversationTools.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import type { EngineSlot, WindowState } from '../engine/engineSlot.js';
import type { InertStream } from '../views/inertEditor.js';
import { timeOf, toolCount, whyNothingRuns } from '../views/phrases.js';
import { stateWord } from '../views/serverStates.js';
import type { Engine } from '../engine/engine.js';
import type { TeamView } from './teamFiles.js';

const longestLine = 160;

/** Answers `/mcp`. */
export function showServers(stream: InertStream, state: WindowState, conversation: string): void {
  const { servers, problems } = state.snapshot;
  if (servers.length === 0) {
    stream.markdown(formatted`${whyNothingRuns(state.phase, state.snapshot)}\n\n`);
    showProblems(stream, problems, undefined);
    return;
  }
  const held = heldBy(conversation, state.snapshot);
  const lines = servers.map((server) => {
    const own = held.includes(server.id) ? formatted`, **this conversation has an instance**` : formatted``;
    return formatted`- ${code(server.id)} – ${stateOf(server)}, ${toolCount(server.tools.length, server.offered)}${own}\n`;
  });
  stream.markdown(formatted`${markdownList(lines, '')}\n`);
  showProblems(stream, problems, undefined);
  for (const { id } of servers) showProblems(stream, problems, id);
  stream.button({ command: 'mcpToolsets.servers.focus', title: inert`Show in Sidebar` });
}

/** @param id the server of the problems; undefined for problems of a whole file */
function showProblems(stream: InertStream, problems: readonly Problem[], id: string | undefined): void {
  for (const { server, severity, message, fix } of problems.filter(needsAttention)) {
    if (server !== id) continue;
    const where = id === undefined ? formatted`` : formatted`${code(id)}, `;
    stream.markdown(formatted`- ${where}${severity}: ${unmarked(`${message} ${fix}`)}\n`);
  }
}

function stateOf({ state, previous }: ServerStatus): string {
  return previous
    ? `${stateWord(state)}, has served its previous definition since ${timeOf(previous.since, Date.now())}`
    : stateWord(state);
}

/** Answers `/tools`. */
export function showTools(stream: InertStream, { tools }: ModelSetup, state: WindowState, who: Markdown): void {
  if (tools.length === 0) {
    const nothing = state.snapshot.servers.length === 0;
    stream.markdown(
      nothing ? formatted`${whyNothingRuns(state.phase, state.snapshot)}` : formatted`${who} has no tools now.`,
    );
    return;
  }
  stream.markdown(formatted`${who} has ${toolCount(tools.length)}.\n`);
  for (const toolset of new Set(tools.map((tool) => tool.toolset))) {
    stream.markdown(formatted`\n**${toolset}**\n\n`);
    for (const { name, description } of tools.filter((tool) => tool.toolset === toolset)) {
      stream.markdown(formatted`- ${code(name)} – ${firstWords(description)}\n`);
    }
  }
}

function firstWords(description: string): string {
  const [line = ''] = description.split('\n');
  return line.length > longestLine ? `${line.slice(0, longestLine).replace(/\s+\S*$/, '')} …` : line;
}

/** Answers `/release` for one server, or for all instances of the chat. */
export async function release(
  stream: InertStream,
  engine: Engine | undefined,
  conversation: string,
  server: string,
): Promise<void> {
  const host = engine?.host;
  const held = host ? heldBy(conversation, host.snapshot) : [];
  const wanted = server === '' ? held : [server.replace(/^['"`]|['"`]$/g, '')];
  if (!host || wanted.length === 0) return stream.markdown(formatted`This conversation has no instance.`);
  for (const id of wanted) {
    if (!host.snapshot.servers.some((known) => known.id === id)) {
      stream.markdown(formatted`There is no server ${code(id)}.\n\n`);
    } else if (await host.release(id, conversation)) {
      stream.markdown(
        formatted`The instance of ${code(id)} has ended. The next call in this conversation starts a new one.\n\n`,
      );
    } else {
      stream.markdown(formatted`This conversation has no instance of ${code(id)}.\n\n`);
    }
  }
}

/** Answers `/as` without a name or with an unknown name. */
export function showMembers(
  stream: InertStream,
  members: readonly Member[],
  asked: string,
  now: string | undefined,
): void {
  if (asked !== '') stream.markdown(formatted`There is no member ${code(asked)}.\n\n`);
  if (members.length === 0)
    return stream.markdown(formatted`The team has no members. List them in \`.minds/team.yaml\`.`);
  stream.markdown(
    now !== undefined
      ? formatted`${code(now)} answers in this conversation.\n\n`
      : formatted`No team member answers in this conversation.\n\n`,
  );
  for (const { id, name, purpose, grants } of members) {
    const toolsets = grants.map(({ grant }) =>
      grant.kind === 'all' ? '*' : grant.kind === 'except' ? `!${grant.id}` : grant.id,
    );
    const about = [name === id ? undefined : name, purpose].filter((part) => part !== undefined).join(', ');
    const has = toolsets.length > 0 ? markdownList(toolsets.map(code), ', ') : formatted`no toolsets`;
    stream.markdown(formatted`- ${code(id)}${about === '' ? formatted`` : formatted` – ${about}`}: ${has}\n`);
  }
  stream.markdown(formatted`\n\`/as\` with an id chooses a member. \`/as nobody\` returns to all toolsets.`);
}

const key = 'mcpToolsets';

export function metadataOf(record: TurnRecord): { readonly [key]: TurnRecord } {
  return { [key]: record };
}

export function recordIn({ metadata }: vscode.ChatResult): unknown {
  return (metadata as Record<string, unknown> | undefined)?.[key];
}

const mostFollowups = 3;

export function followupsOf(result: vscode.ChatResult, slot: EngineSlot, team: TeamView): vscode.ChatFollowup[] {
  const record = readRecord(recordIn(result));
  if (!record) return [];
  const { snapshot } = slot.state;
  const found: vscode.ChatFollowup[] = [];
  if (record.end === 'stopped' || record.end === 'stepLimit') {
    found.push({ prompt: '', command: 'continue', label: 'Continue where it stopped' });
  }
  for (const id of heldBy(record.conversation, snapshot)) {
    found.push({ prompt: id, command: 'release', label: `Release ${id}` });
  }
  if (snapshot.servers.some(({ state }) => state.kind === 'failed' || state.kind === 'invalid')) {
    found.push({ prompt: '', command: 'mcp', label: 'What is wrong with the MCP servers?' });
  }
  if (record.member === undefined && team.members.length > 0) {
    found.push({ prompt: '', command: 'as', label: 'Who is in the team?' });
  }
  return found.slice(0, mostFollowups);
}
