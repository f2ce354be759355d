/**
 * P5: the time from an edit of filters to new lists at the agents, and long lists. The time begins
 * when the host gets the edited text, after the debounce of the file. It ends when the last client
 * has listed again over HTTP.
 */
import { largest, median, milliseconds } from './harness/figures.js';
import { endpointOf } from './harness/endpoint.js';
import { Program } from './harness/program.js';
import { holds, limited, plain, ratio, type Findings, type Row } from './harness/report.js';
import type { Run } from './harness/run.js';
import { configText, fixture, type ServerEntry } from './harness/servers.js';

const servers = 50;
const toolsEach = 100;

interface Edit {
  readonly at: number;
  /** Milliseconds until the host had applied it. */
  readonly took: number;
}

type Seen = Readonly<
  Record<string, { readonly told: number; readonly listed: number; readonly tools: number }>
>;

export async function catalogue(run: Run): Promise<Findings> {
  const rows: Row[] = [];
  await filterEdits(run, rows);
  await longList(run, rows);
  return {
    rule: 'P5',
    title: `Filter edits on ${servers} servers × ${toolsEach} tools, and a list of 1,000 tools`,
    rows,
    notes: [
      'from the edited text in the host, after the debounce of the file, to the answer of the last client’s tools/list',
      'the client of lines parses the JSON and looks at nothing; the SDK client validates and compiles every output schema',
    ],
  };
}

/** A blacklist of this number of tools. */
function without(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `tool_${index}`);
}

function entries(blacklistOf: (index: number) => readonly string[]): ServerEntry[] {
  return Array.from({ length: servers }, (_, index) => ({
    id: `s${index}`,
    ...fixture('pages', '--pages', '1', '--tools-per-page', String(toolsEach)),
    more: { transform: [{ prefix: `s${index}_` }], tools: { blacklist: blacklistOf(index) } },
  }));
}

async function filterEdits(run: Run, rows: Row[]): Promise<void> {
  const ids = Array.from({ length: servers }, (_, index) => `s${index}`);
  const engine = await Program.start(run, 'engine');
  const editors = await Program.start(run, 'editors');
  try {
    const product = await run.product();
    await engine.ask('start', {
      product,
      text: configText(entries(() => without(1))),
      publishing: ids,
    });
    for (const id of ids) {
      const endpoint = await endpointOf(engine, id, 'editor');
      const tools = await editors.ask<number>('watch', { toolset: id, endpoint });
      if (tools !== toolsEach - 1) throw new Error(`${id} lists ${tools} tools.`);
    }
    const before = await pidsOf(engine);
    const edits = {
      one: { changed: ['s7'], told: [] as number[], listed: [] as number[], took: [] as number[] },
      all: { changed: ids, told: [] as number[], listed: [] as number[], took: [] as number[] },
    };
    let out = 1;
    for (let round = 0; round < run.count(15, 5); round++) {
      for (const edit of [edits.one, edits.all]) {
        await editors.ask('forget');
        const removed = ++out;
        // Each edit removes another number of tools. `one` leaves the other servers as `all` last
        // set them.
        const others = edit === edits.one ? removed - 1 : removed;
        const text = configText(entries((index) => without(index === 7 ? removed : others)));
        const changes = editors.ask<Seen>('changes', { toolsets: edit.changed });
        const { at, took } = await engine.ask<Edit>('edit', { text });
        const seen = Object.values(await changes);
        const wrong = seen.find(({ tools }) => tools !== toolsEach - removed);
        if (wrong)
          throw new Error(`A client lists ${wrong.tools} tools after ${removed} were taken out.`);
        edit.told.push(largest(seen.map(({ told }) => told - at)));
        edit.listed.push(largest(seen.map(({ listed }) => listed - at)));
        edit.took.push(took);
      }
    }
    for (const [what, edit] of [
      ['one server edited', edits.one],
      [`all ${servers} servers edited`, edits.all],
    ] as const) {
      rows.push(
        plain(`${what}: the host has taken it`, milliseconds(median(edit.took))),
        plain(`${what}: the last client is told`, milliseconds(median(edit.told))),
        limited({
          what: `${what}: the last client has listed`,
          ours: milliseconds(median(edit.listed)),
          value: median(edit.listed),
          limit: 100,
          write: milliseconds,
        }),
      );
    }
    const after = await pidsOf(engine);
    const same = before.length === servers && before.join() === after.join();
    rows.push(holds('processes that the edits restarted', same ? 'none' : 'some', 'none', same));
  } finally {
    await Promise.all([engine.end(), editors.end()]);
  }
}

async function pidsOf(engine: Program): Promise<number[]> {
  const instances = await engine.ask<{ pid: number }[]>('instances');
  return instances.map(({ pid }) => pid).sort((a, b) => a - b);
}

async function longList(run: Run, rows: Row[]): Promise<void> {
  const command = fixture('pages', '--pages', '1', '--tools-per-page', '1000', '--output-schemas');
  const engine = await Program.start(run, 'engine');
  const editors = await Program.start(run, 'editors');
  const bare = await Program.start(run, 'bareClient');
  try {
    const product = await run.product();
    await engine.ask('start', {
      product,
      text: configText([{ id: 'long', ...command }]),
      publishing: ['long'],
    });
    const endpoint = await endpointOf(engine, 'long', 'editor');
    await editors.ask('watch', { toolset: 'long', endpoint });
    const took = {
      gateway: [] as number[],
      relist: [] as number[],
      lines: [] as number[],
      sdk: [] as number[],
    };
    for (let round = 0; round < run.count(8, 3); round++) {
      took.lines.push(...(await bare.ask<number[]>('lists', { command, lines: true, times: 5 })));
      for (let turn = 0; turn < 5; turn++) {
        took.gateway.push((await editors.ask<{ took: number }>('list', { toolset: 'long' })).took);
      }
      took.sdk.push(...(await bare.ask<number[]>('lists', { command, lines: false, times: 1 })));
    }
    rows.push(
      ratio(
        '1,000 tools with output schemas, listed at the gateway; client of lines on the server',
        { ours: median(took.gateway), base: median(took.lines) },
        { limit: 3, write: milliseconds },
      ),
      plain(
        '1,000 tools with output schemas, listed at the gateway; SDK client on the server',
        milliseconds(median(took.gateway)),
        milliseconds(median(took.sdk)),
        `${(median(took.gateway) / median(took.sdk)).toFixed(2)} ×`,
      ),
    );
  } finally {
    await Promise.all([engine.end(), editors.end(), bare.end()]);
  }
}
