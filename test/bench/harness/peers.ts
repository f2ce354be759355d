/**
 * Other gateways in front of the same server, if the folder in BENCH_PEERS has them in its
 * `node_modules`. Each starts as its documentation says for one stdio server and Streamable HTTP.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { freePort } from '../../support/freePort.js';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { HttpClient, type Endpoint, type Json } from './httpClient.js';
import type { Run } from './run.js';
import type { ServerCommand, ServerEntry } from './servers.js';

export interface Peer {
  readonly name: string;
  readonly endpoint: Endpoint;
  /** Its name for `echo`. */
  readonly tool: string;
}

export interface Peers {
  readonly ready: readonly Peer[];
  /** Skipped measurements, with reasons. */
  readonly notes: readonly string[];
  end(): Promise<void>;
}

interface Kind {
  readonly name: string;
  readonly package: string;
  args(command: ServerCommand, port: number, run: Run): string[];
  readonly path: string;
  readonly isLegacy?: true;
}

const kinds: readonly Kind[] = [
  {
    name: 'mcp-proxy',
    package: 'mcp-proxy',
    args: ({ command, args }, port) => [
      '--port',
      String(port),
      '--host',
      '127.0.0.1',
      '--server',
      'stream',
      '--',
      command,
      ...args,
    ],
    path: '/mcp',
  },
  {
    name: 'supergateway',
    package: 'supergateway',
    args: ({ command, args }, port) => [
      ...['--stdio', [command, ...args].map((word) => `'${word}'`).join(' ')],
      ...[
        '--outputTransport',
        'streamableHttp',
        '--stateful',
        '--port',
        String(port),
        '--logLevel',
        'none',
      ],
    ],
    path: '/mcp',
  },
  {
    name: '1mcp',
    package: '@1mcp/agent',
    args: (command, port, run) => [
      ...['serve', '--config', configOf(command, port, run), '--port', String(port)],
      ...['--host', '127.0.0.1', '--log-level', 'error'],
    ],
    path: '/mcp',
  },
  {
    name: 'mcp-hub',
    package: 'mcp-hub',
    args: (command, port, run) => [
      '--config',
      configOf(command, port, run),
      '--port',
      String(port),
    ],
    path: '/mcp',
    isLegacy: true,
  },
];

function configOf({ command, args }: ServerCommand, port: number, run: Run): string {
  return configOfAll([{ id: 'subject', command, args }], port, run);
}

function configOfAll(entries: readonly ServerEntry[], port: number, run: Run): string {
  const file = join(run.folder, `peer-${port}.json`);
  const mcpServers = Object.fromEntries(
    entries.map(({ id, command, args }) => [id, { command, args }]),
  );
  writeFileSync(file, JSON.stringify({ mcpServers }));
  return file;
}

export interface Hub {
  readonly endpoint: Endpoint;
  readonly child: ChildProcess;
  release(): void;
}

/** Starts mcp-hub in front of many servers. Returns a note if it is not installed. */
export function hubOf(run: Run, entries: readonly ServerEntry[], port: number): Hub | string {
  const folder = process.env['BENCH_PEERS'] ?? '';
  const script = folder === '' ? undefined : binOf(join(folder, 'node_modules', 'mcp-hub'));
  if (script === undefined)
    return 'mcp-hub not measured: BENCH_PEERS names no folder that has it installed';
  const args = [script, '--config', configOfAll(entries, port, run), '--port', String(port)];
  const child = spawn(process.execPath, args, { cwd: run.folder, env: run.env, stdio: 'ignore' });
  child.on('error', () => {});
  const endpoint: Endpoint = {
    url: `http://127.0.0.1:${port}/mcp`,
    headers: {},
    isLegacy: true,
  };
  return { endpoint, child, ...run.track({ kill: () => child.kill('SIGKILL') }) };
}

const startLimitMs = 30_000;
const tryLimitMs = 3_000;

export async function startPeers(run: Run, command: ServerCommand): Promise<Peers> {
  const folder = process.env['BENCH_PEERS'];
  if (folder === undefined || folder === '') {
    const names = kinds.map((kind) => kind.package).join(', ');
    const note = `peers not measured: BENCH_PEERS names no folder that has ${names} installed`;
    return { ready: [], notes: [note], end: () => Promise.resolve() };
  }
  const ready: Peer[] = [];
  const notes: string[] = [];
  const children: { child: ChildProcess; release(): void }[] = [];
  for (const kind of kinds) {
    const script = binOf(join(folder, 'node_modules', kind.package));
    if (script === undefined) {
      notes.push(`${kind.name} not measured: not installed in the folder BENCH_PEERS names`);
      continue;
    }
    const port = await freePort();
    const child = spawn(process.execPath, [script, ...kind.args(command, port, run)], {
      cwd: run.folder,
      env: run.env,
      stdio: 'ignore',
    });
    child.on('error', () => {});
    children.push({ child, ...run.track({ kill: () => child.kill('SIGKILL') }) });
    const { path, isLegacy } = kind;
    const endpoint: Endpoint = {
      url: `http://127.0.0.1:${port}${path}`,
      headers: {},
      ...(isLegacy && { isLegacy }),
    };
    const tool = await toolOf(endpoint, child);
    if (tool === undefined)
      notes.push(
        `${kind.name} not measured: it did not list the tool within ${startLimitMs / 1000} s`,
      );
    else ready.push({ name: kind.name, endpoint, tool });
  }
  return {
    ready,
    notes,
    end: async () => {
      await Promise.all(children.map(({ child, release }) => endOf(child).finally(release)));
    },
  };
}

function binOf(folder: string): string | undefined {
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) return undefined;
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    bin?: string | Record<string, string>;
  };
  const path = typeof bin === 'string' ? bin : Object.values(bin ?? {})[0];
  return path === undefined ? undefined : join(folder, path);
}

async function toolOf(endpoint: Endpoint, child: ChildProcess): Promise<string | undefined> {
  const deadline = performance.now() + startLimitMs;
  while (performance.now() < deadline && child.exitCode === null) {
    const client = new HttpClient(endpoint, 'node:http');
    const list = async (): Promise<Json> => {
      await client.connect();
      return await client.ask('tools/list');
    };
    try {
      // A gateway during its start may take a request and never answer it.
      const answer = await Promise.race([list(), pause(tryLimitMs, {}, { ref: false })]);
      const { tools = [] } = answer as { tools?: { name: string }[] };
      const tool = tools.find(({ name }) => /(?:^|_)echo$/.test(name));
      if (tool) return tool.name;
    } catch {
      // Still starting.
    } finally {
      client.close();
    }
    await pause(200);
  }
  return undefined;
}

export async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await Promise.race([exited, pause(2000, undefined, { ref: false })]);
  child.kill('SIGKILL');
  await exited;
}
