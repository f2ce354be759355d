/**
 * The hover of the status bar: what serves, what waits, and the last call. Its links run commands of
 * ours only. Pure. Loaded on demand.
 */
import { said, translated } from '../../core/base/language.js';
import type { CommandName } from '../../../build/commands.js';
import {
  code,
  formatted,
  linkTarget,
  markdownList,
  oneLine,
  type Markdown,
} from '../../core/base/inert.js';
import type { Problem } from '../../core/base/problem.js';
import { tookPhrase } from '../../core/base/text.js';
import type { ServerStatus, StatusSnapshot } from '../../core/reconcile/status.js';
import type { ShellEngine } from '../engine/engine.js';
import { agentPhrase, present, timeOf, toolCount, waitingPhrases, windowLines } from './phrases.js';
import { serverDeeds } from './serverDeeds.js';
import { abilities, stateWord } from './serverStates.js';

type LastCall = ShellEngine['recorder']['lastCall'];

/** The panel runs these commands, and no others. */
export const panelCommands = new Set<CommandName>([
  'approve',
  'acceptTools',
  'reviewPending',
  'signIn',
  'start',
  'restart',
  'showServerLog',
  'manageServer',
]);

export function statusPanel(snapshot: StatusSnapshot, lastCall: LastCall, now: number): Markdown {
  const { servers, problems } = snapshot;
  const { pending, changed } = waitingPhrases(snapshot);
  const rows = servers.map((server) => serverRow(server, problems));
  const parts = [
    ...windowLines(snapshot).map((line) => formatted`${line}`),
    markdownList([formatted`| | | | |\n|---|---|---|---|`, ...rows], '\n'),
    pending !== undefined && formatted`${pending}: ${link(said`Review…`, 'reviewPending')}`,
    changed !== undefined && formatted`${changed}: ${link(said`Review…`, 'acceptTools')}`,
    lastCall && lastCallLine(lastCall, now),
    link(said`Manage Server…`, 'manageServer'),
  ];
  return markdownList(present(parts), '\n\n');
}

function serverRow(server: ServerStatus, problems: readonly Problem[]): Markdown {
  const { id, state, tools, offered } = server;
  const deeds = serverDeeds(abilities(server, problems));
  const links = deeds
    .filter(({ command }) => panelCommands.has(command))
    .map(({ command, title }) => link(translated(title.replace(/ (to )?Server/, '')), command, id));
  const count = toolCount(tools.length, offered);
  return formatted`| **${oneLine(id)}** | ${stateWord(state)} | ${count} | ${markdownList(links, ' · ')} |`;
}

function lastCallLine(call: NonNullable<LastCall>, now: number): Markdown {
  const { tool, toolset, agent, outcome, took, at } = call;
  return formatted`Last call: ${code(tool)} of ${toolset} by ${agentPhrase(agent)}, ${translated(outcome)}, ${tookPhrase(took)}, ${timeOf(at, now)}`;
}

function link(label: string, command: CommandName, ...given: string[]): Markdown {
  // No byte of an id can end the link.
  const bytes = Buffer.from(JSON.stringify(given)).toString('hex').replace(/../g, '%$&');
  return formatted`[${label}](${linkTarget(`command:mcpToolsets.${command}?${bytes}`)})`;
}
