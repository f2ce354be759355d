/**
 * `npm run soak -- --minutes N [--seed N]`: conversations through the gateway, edits, crashes,
 * cancels, releases and restarts at random, for any time. Prints its actions, lost calls and
 * leftovers. The exit code is 1 for a lost call, a leftover, or a catalogue unlike the file.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { adminId, adminNames } from '../../src/core/catalogue/admin.js';
import { Agent } from '../support/core/agent.js';
import {
  endStages,
  everyProcessOf,
  startStage,
  textOf as textOfResult,
  type Stage,
} from '../support/core/stage.js';
import { emptyFile, randomEdit, type FileModel } from '../unit/stress/edits.js';
import { Oracle } from '../unit/stress/oracle.js';
import { Random } from '../unit/stress/random.js';
import {
  failureOf,
  offersOf,
  publishedOf,
  realText,
  realVocabulary,
} from '../integration/stress/realServers.js';
import { heapNow } from '../support/core/loopDelay.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string' },
    conversations: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const conversationCount = Number(values.conversations ?? 6);

const counts = new Map<string, number>();
const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
const faults = new Map<string, number>();
const fault = (what: string): void => void faults.set(what, (faults.get(what) ?? 0) + 1);
const calls = { answered: 0, failedAsExpected: 0, cancelled: 0, lost: [] as string[] };
const disagreements: string[] = [];
/** The latest actions, to explain a disagreement. */
const done: string[] = [];
const note = (what: string): void => {
  done.push(`${new Date().toISOString().slice(11, 23)} ${what}`);
  if (done.length > 25) done.shift();
};

/** A server whose calls may fail because of an action since `since`. */
const excused = new Map<string, number>();
let moment = 0;
const excuse = (server: string): void => void excused.set(server, ++moment);
/** From now until `excuse`. */
const underFire = (server: string): void => void excused.set(server, Infinity);

interface Memory {
  readonly heap: number;
  /** Buffers and other memory outside the heap known to the engine. */
  readonly external: number;
  readonly rss: number;
}
const memory = (): Memory => {
  const heap = heapNow();
  const { external, rss } = process.memoryUsage();
  return { heap, external: external / 2 ** 20, rss: rss / 2 ** 20 };
};

async function conversation(stage: Stage, index: number, until: () => boolean): Promise<void> {
  const random = new Random(seed + 1000 + index);
  const agents = new Map<string, Agent>();
  while (!until()) {
    const toolsets = stage.host.catalogue.toolsets.filter(
      ({ id, tools }) => id !== adminId && tools.length > 0,
    );
    if (toolsets.length === 0) {
      await pause(20);
      continue;
    }
    const toolset = random.pick(toolsets);
    const tool = random.pick(toolset.tools);
    const started = ++moment;
    const was = { toolset: toolset.id, tool: tool.published, changed: changedSince(stage) };
    const cancel = random.chance(0.08);
    const controller = new AbortController();
    count(`call ${tool.original}`);
    try {
      let agent = agents.get(toolset.id);
      if (!agent) {
        // The stage would keep every client.
        const place = { gateway: () => stage.gateway(), onDispose: () => {} } as unknown as Stage;
        agent = await Agent.connect(place, toolset.id, 'agent');
        agents.set(toolset.id, agent);
      }
      const ms = 5 + random.int(150);
      if (cancel) void pause(random.int(ms)).then(() => controller.abort());
      const result = await agent.result(
        tool.published,
        { ms, text: String(started) },
        { conversation: `conversation ${index}`, ...(cancel && { signal: controller.signal }) },
      );
      const text = textOfResult(result);
      if (result.isError) failed(was, started, text);
      else if (tool.original.startsWith('t') && !text.includes(`"${started}"`))
        failed(was, started, `answered: ${text}`);
      else calls.answered++;
    } catch (error) {
      const text = String(error);
      if (cancel && controller.signal.aborted) {
        calls.cancelled++;
        fault('call cancelled');
      } else failed(was, started, text);
      if (/session|not there any more/i.test(text)) {
        await agents
          .get(toolset.id)
          ?.close()
          .catch(() => undefined);
        agents.delete(toolset.id);
      }
    }
    if (random.chance(0.02)) {
      await agents
        .get(toolset.id)
        ?.close()
        .catch(() => undefined);
      agents.delete(toolset.id);
      count('client left');
    }
    if (random.chance(0.3)) await pause(random.int(100));
  }
  await Promise.all([...agents.values()].map((agent) => agent.close().catch(() => undefined)));
}

interface Called {
  readonly toolset: string;
  readonly tool: string;
  /** True if the catalogue has changed since the choice of the tool. */
  readonly changed: () => boolean;
}

function changedSince(stage: Stage): () => boolean {
  const { version } = stage.host.catalogue;
  return () => stage.host.catalogue.version !== version;
}

/**
 * An action on the server explains a failure, and so does a tool removed before the call. Otherwise
 * the call is lost.
 */
function failed({ toolset, tool, changed }: Called, started: number, text: string): void {
  const went = /has no tool|not there any more|There is no toolset/.test(text) && changed();
  if (went || (excused.get(toolset) ?? 0) > started) calls.failedAsExpected++;
  else calls.lost.push(`${toolset}/${tool} ${started}: ${text.slice(0, 300)}`);
}

async function havoc(stage: Stage, until: () => boolean): Promise<void> {
  const random = new Random(seed);
  const oracle = new Oracle(adminNames);
  let file: FileModel = emptyFile;
  const settle = (id: string): void => {
    const { pending } = oracle.history(id);
    if (!pending) return;
    const failure = failureOf(pending.launch);
    oracle.settle(id, failure === undefined ? { offers: offersOf(pending.launch) } : { failure });
  };
  // An edit does not excuse a failed call, because calls in flight finish on the instance they
  // started on (R4).
  const edit = async (): Promise<void> => {
    const made = randomEdit(file, random, realVocabulary);
    file = made.file;
    count(`edit ${made.kind}`);
    note(`edit ${made.kind}`);
    oracle.apply(file, '');
    await stage.edit(realText(file, `edit ${++moment}`));
    for (const id of oracle.ids) settle(id);
  };
  for (let n = 0; n < 4; n++) await edit();
  while (!until()) {
    const kind = random.weighted({
      edit: 8,
      kill: 5,
      release: 4,
      restart: 2,
      stop: 1,
      start: 1.5,
      check: 6,
      rest: 8,
    });
    const ids = oracle.ids;
    const id = ids.length > 0 ? random.pick(ids) : undefined;
    switch (kind) {
      case 'edit':
        await edit();
        break;
      case 'kill': {
        const live = stage.host.snapshot.servers.flatMap(({ id: server, instances }) =>
          instances.flatMap(({ pid }) => (pid === undefined ? [] : [{ server, pid }])),
        );
        if (live.length === 0) break;
        const { server, pid } = random.pick(live);
        underFire(server);
        fault('kill -9');
        note(`kill ${server} ${pid}`);
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // Already gone.
        }
        // Calls on their way to the dying instance.
        await stage.until(
          ({ servers }) =>
            !servers.some(({ instances }) => instances.some((instance) => instance.pid === pid)),
          'the death to be noticed',
        );
        excuse(server);
        break;
      }
      case 'release':
        if (id === undefined) break;
        underFire(id);
        count('release');
        note(`release ${id}`);
        await stage.host.release(id, `conversation ${random.int(conversationCount)}`);
        excuse(id);
        break;
      case 'restart':
      case 'start':
      case 'stop':
        if (id === undefined) break;
        underFire(id);
        count(kind);
        note(`${kind} ${id}`);
        await stage.host[kind](id);
        excuse(id);
        if (kind === 'stop') oracle.stop(id);
        else if (!oracle.start(id)) settle(id);
        break;
      case 'check': {
        count('check');
        const published = publishedOf(stage);
        const expected = oracle.published();
        if (JSON.stringify(published) !== JSON.stringify(expected)) {
          disagreements.push(
            `published ${published.join(' ')}; by the file ${expected.join(' ')}`,
            evidence(stage),
          );
        }
        break;
      }
      case 'rest':
        await pause(random.int(400));
        break;
    }
  }
}

/** The actions, the state of the servers, and the matching logs. */
function evidence(stage: Stage): string {
  const servers = stage.host.snapshot.servers.map(({ id, state, previous, tools, instances }) =>
    JSON.stringify({
      id,
      state,
      previous,
      tools: tools.length,
      instances: instances.map(({ pid, use }) => [pid, use.kind]),
    }),
  );
  const problems = stage.host.snapshot.problems.map(
    ({ code, server, message }) => `${code} ${server}: ${message}`,
  );
  const logs = stage.logs.lines.slice(-60).map((line) => JSON.stringify(line).slice(0, 300));
  return [...done, ...servers, ...problems, ...logs].map((line) => `    ${line}`).join('\n');
}

function table(title: string, rows: Iterable<readonly [string, string | number]>): void {
  console.log(`\n${title}`);
  for (const [name, value] of rows)
    console.log(`  ${name.padEnd(34)} ${String(value).padStart(12)}`);
}

async function main(): Promise<void> {
  console.log(`seed ${seed}, ${minutes} minutes, ${conversationCount} conversations`);
  const delay = monitorEventLoopDelay({ resolution: 10 });
  const atStart = memory();
  const stage = await startStage();
  // The longest of many lines would be the largest object in memory.
  const trim = setInterval(
    () => stage.logs.lines.splice(0, Math.max(0, stage.logs.lines.length - 2_000)),
    1_000,
  );
  await stage.gateway();
  const begun = Date.now();
  const until = (): boolean => Date.now() - begun > minutes * 60_000;
  let warm = atStart;
  const warming = setTimeout(
    () => {
      warm = memory();
      delay.enable();
    },
    Math.min(60_000, minutes * 15_000),
  );
  const quarters: Memory[] = [];
  const quarterly = setInterval(() => quarters.push(memory()), (minutes * 60_000) / 4);
  const talks = Array.from({ length: conversationCount }, (_, index) =>
    conversation(stage, index, until),
  );
  await Promise.all([havoc(stage, until), ...talks]);
  clearTimeout(warming);
  clearInterval(quarterly);
  delay.disable();
  await stage.edit({});
  const atEnd = memory();
  const mark = stage.mark;
  let left = 'nothing';
  try {
    await endStages();
  } catch (error) {
    left = error instanceof Error ? error.message : String(error);
  }
  clearInterval(trim);
  const processes = everyProcessOf(mark).length;
  const sockets = process
    .getActiveResourcesInfo()
    .filter((name) => /TCP|Pipe(Server)?Wrap/.test(name));

  table('Operations', [...counts].sort());
  table('Faults injected', [...faults].sort());
  table('Calls', [
    ['answered', calls.answered],
    ['cancelled', calls.cancelled],
    ['failed, with a reason', calls.failedAsExpected],
    ['lost unexpectedly', calls.lost.length],
  ]);
  table('At the end', [
    ['disagreements with the oracle', disagreements.length],
    ['processes left', processes],
    ['left by the core', left],
    ['sockets of this process', sockets.length],
  ]);
  const mb = (value: number): string => `${value.toFixed(1)} MB`;
  const row = (name: string, of: keyof Memory): [string, string] => [
    name,
    [atStart, warm, ...quarters.slice(0, 3), atEnd].map((each) => mb(each[of])).join(', '),
  ];
  table('Memory at start, warm, after each quarter, at end', [
    row('heap', 'heap'),
    row('external', 'external'),
    row('RSS', 'rss'),
    ['event loop delay p99', `${(delay.percentile(99) / 1e6 - 10).toFixed(1)} ms`],
  ]);
  for (const line of [...calls.lost.slice(0, 20), ...disagreements.slice(0, 20)]) console.log(line);
  const grown = atEnd.heap - warm.heap > 50;
  if (grown) console.log('The heap has grown by more than 50 MB since it was warm.');
  const bad =
    calls.lost.length + disagreements.length + processes > 0 || left !== 'nothing' || grown;
  process.exit(bad ? 1 : 0);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
