/**
 * P8b: many servers at once behind `serve`, beside mcp-hub, from the start of the program until all
 * tools are listed, and the waits of clients of other toolsets in the meantime. After that, many
 * conversations with an instance of several servers each.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../support/freePort.js';
import { largest, milliseconds } from './harness/figures.js';
import { HttpClient, type Endpoint } from './harness/httpClient.js';
import { hubOf, endOf } from './harness/peers.js';
import { holds, limited, ratio, type Findings, type Row } from './harness/report.js';
import type { Run } from './harness/run.js';
import { configText, numbered, type ServerEntry } from './harness/servers.js';

const servers = 40;
const serversOfConversation = 5;
const longestAnswerMs = 1000;
const lookMs = 50;
const limitMs = 120_000;

export async function many(run: Run): Promise<Findings> {
  const entries = numbered(servers);
  const rows: Row[] = [];
  const notes = ['the clients are in this process, which needs processors too'];
  const ours = await behindServe(run, entries, rows);
  const hub = await behindHub(run, entries);
  if (typeof hub === 'string') notes.push(hub);
  else
    rows.push(
      ratio(
        `${servers} servers: all tools are listed; mcp-hub`,
        { ours, base: hub },
        {
          limit: 1.2,
          write: milliseconds,
        },
      ),
    );
  return { rule: 'P8b', title: 'Many servers and many conversations', rows, notes };
}

/** Resolves to the milliseconds until all tools were listed. */
async function behindServe(
  run: Run,
  entries: readonly ServerEntry[],
  rows: Row[],
): Promise<number> {
  const { dist } = await run.product();
  const folder = join(run.folder, 'many');
  const home = join(run.folder, 'home');
  mkdirSync(join(folder, '.minds'), { recursive: true });
  mkdirSync(home, { recursive: true });
  writeFileSync(join(folder, '.minds', 'mcp.yaml'), configText(entries));
  const token = 'b'.repeat(43);
  const tokenFile = join(run.folder, 'many.token');
  writeFileSync(tokenFile, token, { mode: 0o600 });
  const port = await freePort();
  const options = ['--port', String(port), '--token-file', tokenFile, '--max-instances', '200'];
  const begun = performance.now();
  const serve = spawn(process.execPath, [join(dist, 'cli.js'), 'serve', '--approve', ...options], {
    cwd: folder,
    env: { ...run.env, HOME: home, USERPROFILE: home },
    stdio: 'ignore',
  });
  const { release } = run.track({ kill: () => serve.kill('SIGKILL') });
  try {
    const endpointOf = (toolset: string): Endpoint => ({
      url: `http://127.0.0.1:${port}/mcp${toolset}`,
      headers: { Authorization: `Bearer ${token}` },
    });
    const other = await connected(endpointOf('/s0'), serve);
    const ended = new AbortController();
    const waiting = waitsOf(other, ended.signal);
    const all = await connected(endpointOf(''), serve);
    await untilAllListed(all, servers);
    const took = performance.now() - begun;
    ended.abort();
    const waits = await waiting;
    other.close();
    all.close();
    rows.push(
      limited({
        what: 'the longest answer to a client of one toolset meanwhile',
        ours: milliseconds(largest(waits)),
        value: largest(waits),
        limit: longestAnswerMs,
        write: milliseconds,
      }),
    );
    await conversations(run, () => connected(endpointOf(''), serve), rows);
    return took;
  } finally {
    await endOf(serve);
    release();
  }
}

/** Resolves after the end to the milliseconds of each answer. */
async function waitsOf(client: HttpClient, ended: AbortSignal): Promise<number[]> {
  const waits: number[] = [];
  while (!ended.aborted) {
    const asked = performance.now();
    await client.ask('ping');
    waits.push(performance.now() - asked);
    await pause(lookMs / 5);
  }
  return waits;
}

/** Each counts twice on each of its servers, which shows an instance that was taken away. */
async function conversations(
  run: Run,
  connect: () => Promise<HttpClient>,
  rows: Row[],
): Promise<void> {
  const count = run.count(20, 5, 2);
  const clients = await Promise.all(Array.from({ length: count }, connect));
  const waits: number[] = [];
  let kept = 0;
  const use = async (client: HttpClient): Promise<void> => {
    for (const expected of ['1', '2']) {
      for (let index = 0; index < serversOfConversation; index++) {
        const asked = performance.now();
        const { content } = (await client.call(`s${index}_count`, {})) as {
          content: { text: string }[];
        };
        if (content[0]?.text === expected) kept++;
        // A first call waits for the start of its instance.
        if (expected === '2') waits.push(performance.now() - asked);
      }
    }
  };
  await Promise.all(clients.map(use));
  for (const client of clients) client.close();
  const calls = count * serversOfConversation * 2;
  const what = `${count} conversations with ${serversOfConversation} servers each`;
  rows.push(
    holds(`${what}: calls with the right state`, String(kept), String(calls), kept === calls),
    limited({
      what: `${what}: the longest later call`,
      ours: milliseconds(largest(waits)),
      value: largest(waits),
      limit: longestAnswerMs,
      write: milliseconds,
    }),
  );
}

/** Resolves to milliseconds, or to a note about why there are none. */
async function behindHub(run: Run, entries: readonly ServerEntry[]): Promise<number | string> {
  const port = await freePort();
  const begun = performance.now();
  const hub = hubOf(run, entries, port);
  if (typeof hub === 'string') return hub;
  try {
    const client = await connected(hub.endpoint, hub.child);
    await untilAllListed(client, servers);
    client.close();
    return performance.now() - begun;
  } finally {
    await endOf(hub.child);
    hub.release();
  }
}

/** Tries until the program listens. */
async function connected(endpoint: Endpoint, program: ChildProcess): Promise<HttpClient> {
  for (const since = performance.now(); performance.now() - since < limitMs;) {
    if (program.exitCode !== null) throw new Error('It ended.');
    const client = new HttpClient(endpoint, 'node:http');
    try {
      await client.connect();
      return client;
    } catch {
      client.close();
      await pause(lookMs);
    }
  }
  throw new Error('It does not listen.');
}

/** Each server has a tool `count`, which each program names in its own way. */
async function untilAllListed(client: HttpClient, wanted: number): Promise<void> {
  for (const since = performance.now(); performance.now() - since < limitMs;) {
    const { tools } = (await client.list()) as { tools: { name: string }[] };
    if (tools.filter(({ name }) => name.endsWith('_count')).length === wanted) return;
    await pause(lookMs);
  }
  throw new Error('Not all tools were listed.');
}
