/**
 * `mcp-toolsets tools --use` and `calls --by tool`: how often tools were called (H1d), and the change
 * that keeps out the unused ones.
 */
import { changedFileOf, hasListsAbove, withoutTools } from '../core/authoring/toolLists.js';
import { folderOf } from '../core/config/sources.js';
import { homedir } from '../core/base/home.js';
import { systemClock } from '../core/base/clock.js';
import { groupedBy } from '../core/base/groupedBy.js';
import { withoutMark } from '../core/base/byteOrderMark.js';
import { countsIn, FolderUse, ToolsetUse, type Count, type ToolUse } from '../core/calls/counts.js';
import { callFileOf, countedLines } from '../core/files/callFile.js';
import { localFileOf } from '../core/files/localFile.js';
import type { ServerStatus } from '../core/reconcile/status.js';
import { estimatedTokens } from '../core/tools/tokens.js';
import { changeOf, showChange, writeChange } from './changeCommands.js';
import { textIfThere } from './configFile.js';
import { servedBy, servedSnapshot, tokenFileFor } from './gateways.js';
import { givenOptions, type Options, type Words } from './options.js';
import { complain, misuse, print, reasonOf, toJson } from './output.js';
import { table } from './render.js';
import type { Run } from './withEngine.js';
import { withSnapshot } from './withSnapshot.js';

type Row = Partial<ToolUse> & {
  readonly toolset: string;
  readonly tool: string;
  readonly original: string;
  readonly tokens?: number;
  readonly unused?: boolean;
};

async function countsOf({ folder }: Run): Promise<Count[] | string> {
  try {
    return countsIn(await countedLines(callFileOf(folder, homedir())));
  } catch (error) {
    return `The counts of calls cannot be read: ${reasonOf(error)}.`;
  }
}

export async function toolsByUse(run: Run, [id]: Words, options: Options): Promise<number> {
  const counts = await countsOf(run);
  if (typeof counts === 'string') return complain(counts);
  return withSnapshot(run, options, ({ servers }) => {
    const wanted = servers.filter((server) => id === undefined || server.id === id);
    if (id !== undefined && wanted.length === 0) return complain(`There is no server "${id}".`);
    const uses = usesOf(wanted, servers, counts);
    if (run.json) print(toJson(uses.map(jsonOf)));
    else {
      print(tableOf(uses.flatMap(({ rows }) => rows)));
      for (const one of uses) print(summaryOf(one));
    }
    return keepOut(run, options, uses);
  });
}

type ServerUse = ReturnType<typeof usesOf>[number];

function usesOf(
  wanted: readonly ServerStatus[],
  all: readonly ServerStatus[],
  counts: readonly Count[],
) {
  const folder = new FolderUse(counts);
  const present = new Set(all.map(({ id }) => id));
  const published = wanted.filter(({ tools }) => tools.length > 0);
  return published.map((server) => {
    const use = folder.of(server, present, systemClock.now());
    const rows = server.tools.map((tool): Row & { tokens: number; unused: boolean } => ({
      toolset: server.id,
      tool: tool.published,
      original: tool.original,
      tokens: estimatedTokens(tool),
      calls: 0,
      ...use.tools.get(tool.original),
      unused: use.isUnused(tool.original),
    }));
    const unused = rows.filter((row) => row.unused);
    const tokens = unused.reduce((sum, row) => sum + row.tokens, 0);
    return { server, use, rows, unused, tokens };
  });
}

function jsonOf({ server: { id }, use: { since, judgedDays }, rows, tokens }: ServerUse): object {
  const tools = rows.sort(byUse).map(({ toolset: _, ...row }) => row);
  return { id, since, judgedDays, unusedTokens: tokens, tools };
}

function summaryOf({ server: { id }, use, rows, unused, tokens }: ServerUse): string {
  const { since, judgedDays: days } = use;
  if (days === undefined) {
    const when = since === undefined ? 'no call is counted yet' : `counted since ${dayOf(since)}`;
    return `${id}: ${when}. No tool is called unused before 7 days and 20 calls.`;
  }
  const used = `${id}: used ${rows.length - unused.length} of ${rows.length}`;
  if (unused.length === 0) return `${used}.`;
  return `${used}. The others were never called in ${days} days, and cost ~${tokens} tokens in each request.`;
}

/** Tools without a call come first, by their tokens. */
function byUse(one: Row, other: Row): number {
  const wasted = ({ calls = 0, tokens = 0 }: Row): number => (calls === 0 ? tokens : 0);
  return wasted(other) - wasted(one) || (one.calls ?? 0) - (other.calls ?? 0);
}

const moment = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short' });

function dayOf(at: number): string {
  return moment.format(at).slice(0, 10);
}

function tableOf(rows: readonly Row[]): string {
  if (rows.length === 0) return 'No tools are published, and no calls are counted.';
  const cells = rows.toSorted(byUse).map((row) => {
    const { toolset, tool, tokens, calls = 0, failed = 0, last, agents = [], unused } = row;
    return [
      toolset,
      tool,
      tokens === undefined ? '' : `~${tokens}`,
      `${calls}${unused ? ' (unused)' : ''}`,
      `${failed}`,
      last === undefined ? '' : moment.format(last),
      agents.join(', '),
    ];
  });
  return table(['toolset', 'tool', 'tokens', 'calls', 'failed', 'last call', 'agents'], cells);
}

/** A file with the text before and after the edits. */
type Edited = { readonly before: string | undefined; readonly after: string };

/** Shows the edit of each file, and writes it on request. */
function keepOut(run: Run, options: Options, uses: readonly ServerUse[]): number {
  const files = new Map<string, Edited>();
  try {
    const wasteful = uses.filter(({ unused }) => unused.length > 0);
    if (wasteful.length === 0) return 0;
    for (const one of wasteful) edit(files, one, options);
    for (const [file, { before, after }] of files) {
      const place = { root: folderOf(file), file, label: file };
      const report = 'Agents no longer get the unused tools.';
      const change = changeOf(place, before, { after, report });
      if (options.write) writeChange(change);
      if (!run.json) showChange(change, options.write);
    }
    return 0;
  } catch (error) {
    return complain(`Nothing was written: ${reasonOf(error)}.`);
  }
}

/** Adds the edit of a server to its file. Throws a reason if the file cannot be changed. */
function edit(files: Map<string, Edited>, { server, unused }: ServerUse, options: Options): void {
  const { id, origin } = server;
  const { file, below } = changedFileOf(server, options.local, localFileOf);
  if (origin === 'mcprc' && below === undefined) {
    complain(`"${id}" comes from ${file}. Change it there.`);
    return;
  }
  const known = files.get(file);
  const before = known ? known.before : textIfThere(file);
  const now = known?.after ?? withoutMark(before ?? '');
  const names = unused.map(({ original }) => original);
  const under = below === undefined ? undefined : withoutMark(textIfThere(below) ?? '');
  const after = withoutTools(now, server, names, under);
  if (after === undefined) throw new Error(`${file} has an error`);
  files.set(file, { before, after });
  if (hasListsAbove(server, file))
    complain(`Your local file has lists for "${id}", so for you they count instead.`);
}

/** The counts are of whole days and of all agents. */
const notCounted: readonly (keyof Options)[] = ['agent', 'failed', 'since', 'last', 'follow'];

/** Starts nothing: it knows the tokens only if somebody serves the folder. */
export async function callsByTool(run: Run, words: Words, options: Options): Promise<number> {
  if (options.by !== 'tool') return misuse('`--by` takes `tool`.');
  if (words.length > 0) return misuse('`calls --by tool` takes no argument.');
  const untaken = givenOptions(options).find((option) => notCounted.includes(option));
  if (untaken !== undefined)
    return misuse(`\`calls --by tool\` counts all calls, so it takes no --${untaken}.`);
  const counts = await countsOf(run);
  if (typeof counts === 'string') return complain(counts);
  const served = await servedSnapshot((await servedBy(tokenFileFor(run, options))).gateways);
  const uses = usesOf(served?.servers ?? [], served?.servers ?? [], counts);
  const known = uses.flatMap(({ rows }) => rows);
  const keyOf = (server: string, original: string): string => `${server}\n${original}`;
  const knownKeys = new Set(known.map(({ toolset, original }) => keyOf(toolset, original)));
  const others = counts.filter(({ server, tool }) => !knownKeys.has(keyOf(server, tool)));
  const wanted = ({ toolset }: Row): boolean => toolset === (options.server ?? toolset);
  const rows = [...known, ...rowsOf(others)].filter(wanted);
  print(run.json ? toJson(rows.sort(byUse)) : tableOf(rows));
  return 0;
}

function rowsOf(counts: readonly Count[]): Row[] {
  const byServer = groupedBy(counts, ({ server }) => server);
  return [...byServer].flatMap(([toolset, own]) => {
    const { tools } = new ToolsetUse(own, systemClock.now());
    return [...tools].map(([tool, use]) => ({ toolset, tool, original: tool, ...use }));
  });
}
