/**
 * How often tools were called (H1d): lines of counts, at most one a tool and day once they are
 * joined, and the use of a toolset by them. Pure.
 */
import { groupedBy } from '../base/groupedBy.js';
import { asFields } from '../base/isObject.js';
import { asText, clipped, jsonLines } from '../base/text.js';
import { unlessThrown } from '../base/unlessThrown.js';
import { storedJson } from '../protocol/json.js';
import { numbersOfCall } from './fact.js';

export interface Count {
  /** The id of the server, and what it keeps if it is renamed or moved (`countedAs`). */
  readonly server: string;
  readonly as: string;
  /** The server's own name of the tool. */
  readonly tool: string;
  readonly calls: number;
  readonly failed: number;
  /** The first and the last call, in milliseconds since the epoch. */
  readonly first: number;
  readonly last: number;
  /** The names of calling programs, not all of them. */
  readonly agents: readonly string[];
}

const day = 86_400_000;
const keptDays = 91;
/** A server may invent names of tools, and fill the file with them. */
const mostTools = 200;
const mostCounts = 10_000;
const mostAgents = 8;
/** In characters. Longer names are rare, and are cut. */
const longestTool = 200;
const longestAgent = 60;

/** Returns the lines for calls. @param asOf returns `as` for the id of a server */
export function countLines(facts: string, asOf: (server: string) => string): string {
  const counts = facts.split('\n').flatMap((line) => countOf(line, asOf));
  return jsonLines(joined(counts));
}

/**
 * Returns the count of a line that the recorder wrote. It makes no fact of each call, because that
 * would take most of the time (P11).
 */
function countOf(line: string, asOf: (server: string) => string): Count[] {
  const value = asFields(unlessThrown((): unknown => JSON.parse(line)));
  const { outcome, method, at, calls } = value;
  if (typeof at !== 'number' || !Array.isArray(calls) || method !== undefined) return [];
  const server = asText(value['toolset']);
  const agent = asText(value['agent']);
  const count = calls.length / numbersOfCall;
  let first = Infinity;
  let last = -Infinity;
  for (let index = 1; index < calls.length; index += numbersOfCall) {
    const begun = at + Number(calls[index]);
    first = Math.min(first, begun);
    last = Math.max(last, begun);
  }
  return [
    {
      server,
      as: asOf(server),
      tool: clipped(asText(value['original']), longestTool),
      calls: count,
      failed: outcome === 'ok' ? 0 : count,
      first,
      last,
      agents: agent === '' ? [] : [clipped(agent, longestAgent)],
    },
  ];
}

/** Joins the counts of a tool and day. */
function joined(counts: readonly Count[]): Count[] {
  const found = new Map<string, Count>();
  for (const count of counts) {
    const { server, as, tool, last } = count;
    const key = [server, as, Math.floor(last / day), tool].join('\n');
    const known = found.get(key);
    found.set(key, known ? sumOf(known, count) : count);
  }
  return [...found.values()];
}

function sumOf<Of extends Omit<Count, 'server' | 'as' | 'tool'>>(one: Of, other: Of): Of {
  return {
    ...one,
    calls: one.calls + other.calls,
    failed: one.failed + other.failed,
    first: Math.min(one.first, other.first),
    last: Math.max(one.last, other.last),
    agents: [...new Set([...one.agents, ...other.agents])].slice(0, mostAgents),
  };
}

/** Returns the counts of lines, joined with those before. Another line has none. */
export function countsIn(lines: readonly string[], before: readonly Count[] = []): Count[] {
  return joined([...before, ...lines.flatMap(parseCount)]);
}

function parseCount(line: string): Count[] {
  const value = asFields(storedJson(line));
  const [calls, failed, first, last] = ['calls', 'failed', 'first', 'last'].map(
    (key) => value[key],
  );
  const { server, as, tool, agents } = value;
  const isCount = [calls, failed, first, last].every(Number.isFinite) && Array.isArray(agents);
  if (!isCount || typeof server !== 'string' || typeof tool !== 'string') return [];
  const numbers = { calls, failed, first, last } as Pick<
    Count,
    'calls' | 'failed' | 'first' | 'last'
  >;
  return [{ server, as: asText(as), tool, ...numbers, agents: (agents as unknown[]).map(asText) }];
}

/** Returns the lines of the last 90 days. The newest days stay if there are too many. */
export function shortenedCounts(lines: readonly string[], now: number): string {
  const perDay = new Map<string, number>();
  const kept = countsIn(lines).filter(({ server, last }) => {
    // A clock that was wrong must not keep its counts for ever.
    if (last < now - keptDays * day || last > now + day) return false;
    const key = `${server}\n${Math.floor(last / day)}`;
    const tools = (perDay.get(key) ?? 0) + 1;
    perDay.set(key, tools);
    return tools <= mostTools;
  });
  return jsonLines(kept.sort((one, other) => one.last - other.last).slice(-mostCounts));
}

/** The count of a tool over all days. */
export type ToolUse = Pick<Count, 'calls' | 'failed' | 'first' | 'last' | 'agents'>;

/** Fewer calls of a toolset, or a shorter time, say nothing about tools without a call. */
const enoughCalls = 20;
const enoughDays = 7;
const lookedBackDays = 30;

interface CountedServer {
  readonly id: string;
  readonly countedAs: string;
  /** The original names of its tools. */
  readonly listed: readonly string[];
}

export class ToolsetUse {
  readonly tools = new Map<string, ToolUse>();
  /** The time of the first counted call; undefined without a call. */
  readonly since: number | undefined;
  private readonly days: number;
  private readonly isEnough: boolean;

  constructor(
    counts: readonly Count[],
    private readonly now: number,
  ) {
    const from = now - lookedBackDays * day;
    let recent = 0;
    let since = Infinity;
    for (const { tool, calls, failed, first, last, agents } of counts) {
      const use = { calls, failed, first, last, agents };
      const known = this.tools.get(tool);
      this.tools.set(tool, known ? sumOf(known, use) : use);
      if (last >= from) recent += calls;
      since = Math.min(since, first);
    }
    this.since = counts.length > 0 ? since : undefined;
    this.days = Math.min(lookedBackDays, Math.floor((now - since) / day));
    this.isEnough = this.days >= enoughDays && recent >= enoughCalls;
  }

  /** The days after which a tool without a call counts as unused; undefined if it is too early. */
  get judgedDays(): number | undefined {
    return this.isEnough ? this.days : undefined;
  }

  isUnused(original: string): boolean {
    const { last = -Infinity } = this.tools.get(original) ?? {};
    return this.isEnough && last < this.now - lookedBackDays * day;
  }
}

/** The counts of a folder. */
export class FolderUse {
  private readonly byId: ReadonlyMap<string, readonly Count[]>;
  private readonly byProgram: ReadonlyMap<string, readonly Count[]>;

  constructor(counts: readonly Count[] = []) {
    const ofPrograms = counts.filter(({ as }) => as !== '');
    this.byId = groupedBy(counts, ({ server }) => server);
    this.byProgram = groupedBy(ofPrograms, ({ as }) => as);
  }

  /** A server has the counts of its id, and those of the same program whose id is gone. */
  of(
    { id, countedAs, listed }: CountedServer,
    present: ReadonlySet<string>,
    now: number,
  ): ToolsetUse {
    const moved = (this.byProgram.get(countedAs) ?? []).filter(
      ({ server }) => server !== id && !present.has(server),
    );
    const tools = new Set(listed);
    const all = [...(this.byId.get(id) ?? []), ...moved];
    return new ToolsetUse(
      all.filter(({ tool }) => tools.has(tool)),
      now,
    );
  }
}
