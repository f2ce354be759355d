/**
 * Answers the commands of `@minds` that need no model, and offers follow-ups. Does not import
 * `vscode` at run time.
 */
import { said, translated } from '../../core/base/language.js';
import { commaList } from '../../core/base/text.js';
import type * as vscode from 'vscode';
import {
  code,
  inert,
  formatted,
  markdownList,
  unmarked,
  type Markdown,
} from '../../core/base/inert.js';
import { groupedBy } from '../../core/base/groupedBy.js';
import { needsAttention, type Problem } from '../../core/base/problem.js';
import type { ModelSetup } from '../../core/minds/conversation.js';
import { readRecord, type TurnRecord } from '../../core/minds/history.js';
import type { Member } from '../../core/team/team.js';
import { heldBy } from '../../core/calling/conversationTools.js';
import type { EngineSlot, WindowState } from '../engine/engineSlot.js';
import type { InertStream } from '../views/inertEditor.js';
import { present, timeOf, toolCount, whyNothingRuns } from '../views/phrases.js';
import { stateWord } from '../views/serverStates.js';
import type { WindowEngine } from '../engine/engine.js';
import type { TeamView } from './teamFiles.js';

const longestLine = 160;

export function showServers(
  stream: InertStream,
  { phase, snapshot }: WindowState,
  conversation: string,
): void {
  const { servers, problems } = snapshot;
  if (servers.length === 0) {
    stream.write`${whyNothingRuns(phase, snapshot)}\n\n`;
    return showProblems(stream, problems, undefined);
  }
  const held = heldBy(conversation, snapshot);
  const lines = servers.map((server) => {
    const { id, state, previous, tools, offered } = server;
    const before =
      previous &&
      said`, has served its previous definition since ${timeOf(previous.since, Date.now())}`;
    const own = held.includes(id)
      ? formatted`, **this conversation has an instance**`
      : formatted``;
    return formatted`- ${code(id)} – ${stateWord(state)}${before ?? ''}, ${toolCount(tools.length, offered)}${own}\n`;
  });
  stream.write`${markdownList(lines, '')}\n`;
  for (const id of [undefined, ...servers.map((server) => server.id)])
    showProblems(stream, problems, id);
  stream.button({ command: 'mcpToolsets.servers.focus', title: inert`Show in Sidebar` });
}

/** @param id the server of the problems; undefined for problems of a whole file */
function showProblems(
  stream: InertStream,
  problems: readonly Problem[],
  id: string | undefined,
): void {
  for (const { severity, message, fix } of problems.filter(
    (one) => one.server === id && needsAttention(one),
  )) {
    const where = id === undefined ? formatted`` : formatted`${code(id)}, `;
    stream.write`- ${where}${translated(severity)}: ${unmarked(`${translated(message)} ${translated(fix)}`)}\n`;
  }
}

export function showTools(
  stream: InertStream,
  { tools }: ModelSetup,
  state: WindowState,
  who: Markdown,
): void {
  if (tools.length === 0) {
    const { phase, snapshot } = state;
    const isEmpty = snapshot.servers.length === 0;
    return stream.markdown(
      isEmpty ? formatted`${whyNothingRuns(phase, snapshot)}` : formatted`${who} has no tools now.`,
    );
  }
  stream.write`${who} has ${toolCount(tools.length)}.\n`;
  for (const [toolset, own] of groupedBy(tools, (tool) => tool.toolset)) {
    stream.write`\n**${toolset}**\n\n`;
    for (const { name, description } of own)
      stream.write`- ${code(name)} – ${firstWords(description)}\n`;
  }
}

function firstWords(description: string): string {
  const [line = ''] = description.split('\n');
  return line.length > longestLine
    ? `${line.slice(0, longestLine).replace(/\s+\S*$/, '')} …`
    : line;
}

export async function release(
  stream: InertStream,
  engine: WindowEngine | undefined,
  conversation: string,
  server: string,
): Promise<void> {
  const host = engine?.host;
  const held = host ? heldBy(conversation, host.snapshot) : [];
  const wanted = server === '' ? held : [server.replace(/^['"`]|['"`]$/g, '')];
  if (!host || wanted.length === 0) return stream.write`This conversation has no instance.`;
  for (const id of wanted) {
    if (!host.snapshot.servers.some((known) => known.id === id)) {
      stream.write`There is no server ${code(id)}.\n\n`;
    } else if (await host.release(id, conversation)) {
      stream.write`The instance of ${code(id)} has ended. The next call in this conversation starts a new one.\n\n`;
    } else {
      stream.write`This conversation has no instance of ${code(id)}.\n\n`;
    }
  }
}

export function showMembers(
  stream: InertStream,
  members: readonly Member[],
  asked: string,
  now: string | undefined,
): void {
  if (asked !== '') stream.write`There is no member ${code(asked)}.\n\n`;
  if (members.length === 0)
    return stream.write`The team has no members. List them in \`.minds/team.yaml\`.`;
  const who = now === undefined ? formatted`No team member` : code(now);
  stream.write`${who} answers in this conversation.\n\n`;
  for (const { id, name, purpose, grants } of members) {
    const toolsets = grants.map(({ grant }) =>
      grant.kind === 'all' ? '*' : grant.kind === 'except' ? `!${grant.id}` : grant.id,
    );
    const about = commaList(present([name !== id && name, purpose]), said);
    const has =
      toolsets.length > 0 ? markdownList(toolsets.map(code), ', ') : formatted`no toolsets`;
    stream.write`- ${code(id)}${about === '' ? '' : ` – ${about}`}: ${has}\n`;
  }
  stream.write`\n\`/as\` with an id chooses a member. \`/as nobody\` returns to all toolsets.`;
}

const key = 'mcpToolsets';

export function metadataOf(record: TurnRecord): { readonly [key]: TurnRecord } {
  return { [key]: record };
}

export function recordIn({ metadata }: vscode.ChatResult): unknown {
  return (metadata as Record<string, unknown> | undefined)?.[key];
}

const mostFollowups = 3;

export function followupsOf(
  result: vscode.ChatResult,
  slot: EngineSlot,
  team: TeamView,
): vscode.ChatFollowup[] {
  const record = readRecord(recordIn(result));
  if (!record) return [];
  const { snapshot } = slot.state;
  const { conversation, end, member } = record;
  const isBroken = snapshot.servers.some(
    ({ state }) => state.kind === 'failed' || state.kind === 'invalid',
  );
  const found: vscode.ChatFollowup[] = present([
    (end === 'stopped' || end === 'stepLimit') &&
      followup('continue', said`Continue where it stopped`),
    ...heldBy(conversation, snapshot).map((id) => followup('release', said`Release ${id}`, id)),
    isBroken && followup('mcp', said`What is wrong with the MCP servers?`),
    member === undefined && team.members.length > 0 && followup('as', said`Who is in the team?`),
  ]);
  return found.slice(0, mostFollowups);
}

function followup(command: string, label: string, prompt = ''): vscode.ChatFollowup {
  return { prompt, command, label };
}
