/** The phrases for states, tools and reasons in every view. Pure; does not import `vscode`. */
import { english, plural, said, translated } from '../../core/base/language.js';
import {
  code,
  formatted,
  inert,
  markdownList,
  unmarked,
  type Inert,
  type Markdown,
} from '../../core/base/inert.js';
import { needsAttention, type Problem } from '../../core/base/problem.js';
import { clipped, commaList } from '../../core/base/text.js';
import type { ArgumentRule, OfferedTool, ServedTool } from '../../core/tools/catalogue.js';
import { estimatedTokens, estimatedTokensOf, offeredTokens } from '../../core/tools/tokens.js';
import type { WindowState } from '../engine/engineSlot.js';
import { conversationLabel } from '../../core/protocol/conversationLabel.js';
import { isTrial } from '../engine/conversationTitles.js';
import { heldChanges, serves, shortfallsOf } from '../../core/reconcile/shortfall.js';
import type { InstanceStatus, ServerStatus, StatusSnapshot } from '../../core/reconcile/status.js';
import { filesOf, isPending, isStarting, stateWord } from './serverStates.js';

type Part<Kind> = Kind | false | undefined;

export function present<Kind>(parts: readonly Part<Kind>[]): Kind[] {
  return parts.filter((part): part is Kind => part !== false && part !== undefined);
}

export interface RowTexts {
  readonly label: string;
  readonly words?: readonly Part<string>[] | undefined;
  readonly spoken: readonly Part<string>[];
  readonly lines?: readonly Part<Markdown>[] | undefined;
}

export function rowTexts({ label, words = [], spoken, lines = [] }: RowTexts) {
  return {
    label: inert`${label}`,
    description: inert`${present(words).join(' · ')}`,
    spoken: inert`${present(spoken).join(', ')}`,
    tooltip: markdownList(present(lines), '\n\n'),
  };
}

export function previousLine(
  { since, reason }: NonNullable<ServerStatus['previous']>,
  now: number,
): string {
  return said`Its previous definition has served since ${timeOf(since, now)}: ${translated(reason)}`;
}

export function failureText(failure: { readonly reason: string; readonly fix: string }): Markdown {
  return formatted`${unmarked(translated(failure.reason))}\n\n*${unmarked(translated(failure.fix))}*`;
}

export function toolCount(published: number, offered = published): string {
  return published === offered
    ? plural(offered, '1 tool', '{0} tools')
    : said`${published} of ${offered} tools`;
}

type ShownPackage = NonNullable<ServerStatus['package']>;

/** The version that runs, and that the file leaves it open. */
export function versionWord({ runs, pinned }: ShownPackage): string | undefined {
  if (pinned) return runs;
  return runs === undefined ? said`not pinned` : said`${runs}, not pinned`;
}

export function packageLine(of: ShownPackage): Markdown {
  const { launcher, name, requested, pinned, runs, reported } = of;
  const asked = requested === undefined ? formatted`no version` : formatted`${code(requested)}`;
  const parts = present([
    runs !== undefined && formatted`runs ${runs}`,
    pinned
      ? formatted`the file asks for ${asked}`
      : formatted`the file asks for ${asked} (not pinned)`,
    reported !== undefined && formatted`the server reports ${reported}`,
  ]);
  return formatted`${code(launcher)} ${code(name)}: ${markdownList(parts, ', ')}`;
}

export function transportWord(transport: 'stdio' | 'streamable_http'): string {
  return transport === 'stdio' ? 'stdio' : 'http';
}

const reasons: Readonly<Record<WindowState['phase'], string>> = {
  untrusted: english`MCP Toolsets starts no server in a workspace that you have not trusted.`,
  noFolder: english`No folder is open. Open a folder to use the MCP servers of its .minds/mcp.yaml.`,
  noFile: english`This workspace has no .minds/mcp.yaml. To create one, run “MCP Toolsets: Create Config File”.`,
  reading: english`MCP Toolsets is still reading the config files. Try again in a moment.`,
  serving: english`No MCP servers are configured in .minds/mcp.yaml.`,
};

/** Returns why a window in this phase has no MCP servers. @param snapshot if the files are read */
export function whyNothingRuns(phase: WindowState['phase'], snapshot?: StatusSnapshot): string {
  return phase === 'serving' && snapshot && isUnreadable(snapshot)
    ? said`The config file has an error, so its servers are unknown. The Problems view shows the error and its place.`
    : translated(reasons[phase]);
}

/** Returns why there is nothing to choose. @param none the reason if there are servers */
export function whyNone({ phase, snapshot }: WindowState, none: string): string {
  return snapshot.servers.length === 0 ? whyNothingRuns(phase, snapshot) : none;
}

/** @param agent the name of the calling program; empty if it gave none */
export function agentPhrase(agent: string): string {
  return agent === '' ? said`an agent without a name` : agent;
}

export function tokenPhrase(tokens: number): string {
  if (tokens < 1000) return said`~${tokens} tokens`;
  const thousands = tokens < 10_000 ? (tokens / 1000).toFixed(1) : Math.round(tokens / 1000);
  return said`~${thousands}k tokens`;
}

const uses = {
  warm: { label: english`ready`, phrase: english`ready for the next conversation` },
  spare: { label: english`spare`, phrase: english`spare: started ahead for the next conversation` },
  shared: { label: english`shared`, phrase: english`shared by all conversations` },
  draining: { label: english`ending`, phrase: english`finishing its last calls` },
} as const satisfies Record<Exclude<InstanceStatus['use']['kind'], 'leased'>, object>;

export function instancePhrase(use: InstanceStatus['use']): string {
  if (use.kind !== 'leased') return translated(uses[use.kind].phrase);
  return isTrial(use.conversation)
    ? said`the panel of “Try Tool”`
    : translated(conversationLabel(use.conversation));
}

/** The label of a conversation without a title is its last tool. */
export function instanceLabel(
  { use, lastTool, lastCallAt }: InstanceStatus,
  title: string | undefined,
  now: number,
): string {
  if (use.kind !== 'leased') return translated(uses[use.kind].label);
  if (isTrial(use.conversation)) return said`Try Tool`;
  if (title !== undefined) return title;
  return lastTool === undefined || lastCallAt === undefined
    ? translated(conversationLabel(use.conversation))
    : `${lastTool}, ${timeOf(lastCallAt, now)}`;
}

export function timeOf(at: number, now: number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString(undefined, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  return date.toDateString() === new Date(now).toDateString()
    ? time
    : `${date.toLocaleDateString()} ${time}`;
}

/** Returns the effects of a tool by its annotations. The editor uses these to ask before a call. */
export function effects({ annotations }: OfferedTool): string[] {
  if (annotations?.readOnlyHint === true) return [said`only reads`];
  return annotations?.destructiveHint === true ? [said`may destroy data`] : [];
}

export function durationPhrase(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return said`<1 min`;
  if (minutes < 60) return said`${minutes} min`;
  const rest = minutes % 60;
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return said`${Math.floor(hours / 24)} d`;
  return rest > 0 ? said`${hours} h ${rest} min` : said`${hours} h`;
}

export function rememberedPhrase(at: number, now: number): string {
  return said`remembered, ${durationPhrase(now - at)} old`;
}

function isBroken(server: ServerStatus, problems: readonly Problem[]): boolean {
  const { state, previous, approval } = server;
  if (['failed', 'invalid', 'signInNeeded'].includes(state.kind)) return true;
  if (state.kind === 'starting' || approval.kind === 'pending') return false;
  return previous !== undefined || worstOf(problemsBelow(server, problems)) === 'error';
}

/** Returns the problems with a row below the server. */
export function problemsBelow(
  server: ServerStatus,
  problems: readonly Problem[],
): readonly Problem[] {
  return problems.filter(
    (one) =>
      one.server === server.id && filesOf(server).includes(one.place.file) && needsAttention(one),
  );
}

export function worstOf(problems: readonly Problem[]): 'error' | 'warning' | undefined {
  if (problems.some(({ severity }) => severity === 'error')) return 'error';
  return problems.length > 0 ? 'warning' : undefined;
}

/** A short form of the problem `too-many-tools`. */
const tooManyLine = (): string =>
  said`Some models take at most 128 tools, and this window has more. See the Problems view.`;

export type Severity = 'ok' | 'busy' | 'pending' | 'warning' | 'error';

/** The text is for example `MCP 3/4`: three of four enabled servers serve and need no attention. */
export function summary(snapshot: StatusSnapshot) {
  const wanted = snapshot.servers.filter(({ state }) => state.kind !== 'disabled');
  const rows = wanted.map((server) => summaryRow(server, snapshot));
  const hasFault = (server: ServerStatus): boolean => isBroken(server, snapshot.problems);
  const broken = wanted.filter(hasFault).length;
  const pending = wanted.filter(isPending).length;
  const served = wanted.filter((server) => serves(server) && !hasFault(server)).length;
  const failures = broken + fileLinesOf(snapshot).length;
  const text =
    failures > 0 && broken === 0 ? said`MCP: file has errors` : `MCP ${served}/${wanted.length}`;
  const isCrowded = hasTooManyTools(snapshot);
  const lines = [...windowLines(snapshot), ...rows.map(({ line }) => line)];
  const severity = (): Severity => {
    if (failures > 0) return 'error';
    if (pending > 0) return 'pending';
    if (isCrowded || rows.some(({ isShort }) => isShort)) return 'warning';
    return wanted.some(isStarting) ? 'busy' : 'ok';
  };
  return {
    text: pending > 0 ? said`${text}, ${pending} to approve` : text,
    tooltip: lines.length > 0 ? lines.join('\n') : said`No servers are configured.`,
    severity: severity(),
    broken: failures,
    pending,
    changed: wanted.filter((server) => heldChanges(server) > 0).length,
  };
}

/** Returns what concerns more than one server. */
export function windowLines(snapshot: StatusSnapshot): string[] {
  return present([
    ...fileLinesOf(snapshot),
    toolsLine(snapshot),
    hasTooManyTools(snapshot) && tooManyLine(),
  ]);
}

function fileLinesOf(snapshot: StatusSnapshot): string[] {
  const lines = snapshot.refused.map(({ file }) =>
    refusedLine(said`The config file`, file, snapshot),
  );
  return lines.length === 0 && isUnreadable(snapshot)
    ? [said`The config file has an error. No server runs.`]
    : lines;
}

function toolsLine({ servers }: StatusSnapshot): string | undefined {
  const tools = servers.flatMap((server) => server.tools);
  if (tools.length === 0) return undefined;
  return said`${toolCount(tools.length)}, ${tokenPhrase(estimatedTokensOf(tools))} in each request`;
}

function summaryRow(server: ServerStatus, { problems }: StatusSnapshot) {
  const { id, state, tools, offered, previous, waits } = server;
  const absences = problems.filter(({ inEditor }) => inEditor !== undefined);
  const lacks = shortfallsOf(server, absences).map(translated);
  const facts = [
    `${id}: ${stateWord(state)}`,
    tools.length + offered > 0 && toolCount(tools.length, offered),
    ...lacks,
    previous && said`serves its previous definition`,
    waits && state.kind !== 'waiting' && stateWord({ kind: 'waiting' }),
    isPending(server) && state.kind !== 'pending' && said`waits for approval`,
  ];
  return {
    line: commaList(present(facts), said),
    isShort: lacks.length > 0,
  };
}

/** Says which servers of a refused file run (C4). @param name the file as a person sees it */
function refusedLine(name: string, file: string, { servers }: StatusSnapshot): string {
  return servers.some((server) => filesOf(server).includes(file))
    ? said`${name} has an error. Its previous version still applies.`
    : said`${name} has an error. None of its servers run.`;
}

function isUnreadable({ servers, problems }: StatusSnapshot): boolean {
  return servers.length === 0 && problems.some(({ severity }) => severity === 'error');
}

function hasTooManyTools({ problems }: StatusSnapshot): boolean {
  return problems.some(({ code }) => code === 'too-many-tools');
}

export function overrideText(tool: ServedTool): Markdown {
  const { override, tool: shown } = tool;
  const now = tokenPhrase(estimatedTokens(tool));
  if (!override) return formatted`The server says:\n\n${shown.description ?? ''}\n\n${now}`;
  const { description = '' } = override.offered;
  const lines = [
    formatted`The server says: ${description}`,
    description !== shown.description && formatted`Agents read: ${shown.description ?? ''}`,
    ...override.rules.map(ruleLine),
    formatted`${tokenPhrase(offeredTokens(tool))} before, ${now} now`,
  ];
  return markdownList(present(lines), '\n\n');
}

function ruleLine({ name, fixed, default: byDefault, allow, isUnknown }: ArgumentRule): Markdown {
  if (isUnknown && !allow) return formatted`${code(name)} is unknown to the server and is not sent`;
  if (fixed) return formatted`${code(name)} is always ${code(JSON.stringify(fixed.value))}`;
  const allowed = allow?.map(({ text }) => code(text));
  const parts = [
    byDefault && formatted`${code(name)} is ${code(JSON.stringify(byDefault.value))} by default`,
    allowed && formatted`${code(name)} may be ${markdownList(allowed, ', ')}`,
  ];
  return markdownList(present(parts), '; ');
}

/** Says what waits for a person. */
export function waitingPhrases(snapshot: StatusSnapshot) {
  const { pending, changed } = summary(snapshot);
  return {
    ...(pending > 0 && {
      pending: plural(pending, '1 server waits for approval', '{0} servers wait for approval'),
    }),
    ...(changed > 0 && {
      changed: plural(changed, '1 server has changed tools', '{0} servers have changed tools'),
    }),
  };
}

export function badgeOf(snapshot: StatusSnapshot) {
  const { broken, pending, changed } = summary(snapshot);
  const parts = [
    ...(broken > 0
      ? [plural(broken, '1 problem with MCP servers', '{0} problems with MCP servers')]
      : []),
    ...Object.values(waitingPhrases(snapshot)),
  ];
  return parts.length === 0
    ? undefined
    : { value: broken + pending + changed, tooltip: inert`${commaList(parts, said)}` };
}

/**
 * Returns the line above the sidebar's rows, or an empty text. Without rows, the view shows its
 * welcome.
 */
export function sidebarMessage(
  { phase, snapshot }: WindowState,
  fileLabel: (file: string) => string,
): Inert {
  if (phase !== 'serving' || snapshot.servers.length === 0) return inert``;
  if (snapshot.refused.length > 0) {
    const lines = snapshot.refused.map(({ file }) => refusedLine(fileLabel(file), file, snapshot));
    return inert`${lines.join(' ')}`;
  }
  if (snapshot.servers.every(({ state }) => state.kind === 'disabled')) {
    return inert`Every server is disabled. To enable one, choose “Enable for Me” in its menu.`;
  }
  return inert`${hasTooManyTools(snapshot) ? tooManyLine() : ''}`;
}

/** @param inAll the characters to name, if `text` is not the whole */
export function beginning(text: string, most: number, inAll = text.length): string {
  return text.length > most ? said`${text.slice(0, most)}\n… (${inAll} characters in all)` : text;
}

/** Returns a text as one line of the chat, without its last full stop and cut if it is long. */
export function shortLine(text: string): string {
  return clipped(text.replace(/\s+/g, ' ').trim().replace(/\.$/, ''), 301);
}
