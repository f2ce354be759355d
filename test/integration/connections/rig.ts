/**
 * A connector over real servers with all log lines. `end` closes the connections and asserts that
 * nothing is left: no process with the variable of the rig, and no socket, pipe or child of this
 * process.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import path from 'node:path';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Event } from '../../../src/core/base/events.js';
import type { LogLevel } from '../../../src/core/base/log.js';
import { literal } from '../../../src/core/config/model.js';
import type {
  HttpLaunch,
  Launch,
  OAuthSettings,
  StdioLaunch,
} from '../../../src/core/config/model.js';
import type {
  Connection,
  ConnectOutcome,
  StartFailure,
  TimedCall,
  ToolListing,
  Connector,
} from '../../../src/core/connections/connection.js';
import type { ServerOutcome } from '../../../src/core/protocol/request.js';
import {
  createConnector,
  type ConnectorDeps,
} from '../../../src/core/connector/createConnector.js';
import { fixturePath } from '../../support/core/bundles.js';
import { processesWith, untilNone, type TestProcess } from '../../support/processes.js';
import { inShell as behindShell } from '../../support/shells.js';
import { patientClock } from '../../support/core/within.js';

export const repository = path.resolve(__dirname, '../../..');
export const servers = path.join(repository, 'test/fixtures/servers');
export const runVariable = 'CONNECTIONS_TEST_RUN';

/** A time limit that only `failureAfter` ends. */
const untilSaid = 777_000;

export function stdio(
  command: string,
  args: readonly string[] = [],
  own: Partial<StdioLaunch> = {},
): StdioLaunch {
  return {
    transport: 'stdio',
    command,
    args: args.map(literal),
    cwd: repository,
    env: new Map(),
    ...own,
  };
}

/** A fixture server, e.g. `fixture('pages', '--repeat')`. */
export function fixture(name: string, ...args: string[]): StdioLaunch {
  return stdio(process.execPath, [fixturePath(name), ...args]);
}

/** A fixture server behind a shell that waits for it. */
export function inShell(name: string, ...args: string[]): StdioLaunch {
  const launch = behindShell([process.execPath, fixturePath(name), ...args]);
  return stdio(launch.command, launch.args);
}

export function http(url: string, own: Partial<HttpLaunch> = {}): HttpLaunch {
  return {
    transport: 'streamable_http',
    url: literal(url),
    headers: new Map(),
    sessionId: '',
    ...own,
  };
}

export interface Started {
  readonly connection: Connection;
  readonly listing: ToolListing;
}

export interface Call extends Partial<TimedCall> {
  readonly limitMs?: number;
}

export class Rig {
  readonly run = randomUUID();
  readonly env: Record<string, string | undefined> = { ...process.env, [runVariable]: this.run };
  readonly lines: { level: LogLevel; text: string }[] = [];
  traces = false;
  /** Callbacks of starts with the limit `untilSaid`. */
  private readonly limits: (() => void)[] = [];
  readonly connector: Connector;
  private readonly connections: Connection[] = [];
  private readonly children: ChildProcess[] = [];
  private readonly waiting = new Set<() => void>();
  private readonly resources = resourceCounts();

  constructor(own: Partial<ConnectorDeps> = {}) {
    this.connector = createConnector({
      env: this.env,
      clock: {
        now: () => patientClock.now(),
        awake: () => patientClock.awake(),
        after: (ms, run) => {
          if (ms !== untilSaid) return patientClock.after(ms, run);
          this.limits.push(run);
          return { dispose: () => {} };
        },
      },
      trace: () => this.traces,
      clientVersion: '9.9.9',
      ...own,
    });
  }

  attempt(
    launch: Launch,
    own: { timeoutMs?: number; signal?: AbortSignal } = {},
  ): Promise<ConnectOutcome> {
    return this.connector.connect({
      server: 'under-test',
      launch,
      timeoutMs: own.timeoutMs ?? 50_000,
      signal: own.signal ?? new AbortController().signal,
      log: {
        write: (level, text) => {
          this.lines.push({ level, text });
          for (const wake of this.waiting) wake();
        },
      },
    });
  }

  async start(launch: Launch, own: { timeoutMs?: number } = {}): Promise<Started> {
    const outcome = await this.attempt(launch, own);
    if (outcome.kind !== 'connected') {
      assert.fail(
        outcome.kind === 'failed'
          ? `${outcome.failure.code}: ${outcome.failure.message}`
          : outcome.kind,
      );
    }
    this.connections.push(outcome.connection);
    return outcome;
  }

  async failure(launch: Launch, own: { timeoutMs?: number } = {}): Promise<StartFailure> {
    const outcome = await this.attempt(launch, own);
    if (outcome.kind === 'connected') {
      this.connections.push(outcome.connection);
      assert.fail('It connected');
    }
    assert.equal(outcome.kind, 'failed');
    return (outcome as Extract<ConnectOutcome, { kind: 'failed' }>).failure;
  }

  /** Ends the time of a start when `part` is in the log. Returns its failure. */
  async failureAfter(part: string, launch: Launch): Promise<StartFailure> {
    this.limits.length = 0;
    const failure = this.failure(launch, { timeoutMs: untilSaid });
    await this.logged(part);
    this.limits[0]?.();
    return await failure;
  }

  /** Resolves with the first log line with `part`. */
  async logged(part: string): Promise<string> {
    for (;;) {
      const line = this.lines.find(({ text }) => text.includes(part));
      if (line) return line.text;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.waiting.delete(wake);
          resolve();
        };
        this.waiting.add(wake);
      });
    }
  }

  /** Starts an HTTP fixture. Resolves with the addresses that it prints. */
  async listen(
    name: string,
    ...args: string[]
  ): Promise<{
    readonly url: string;
    readonly other: string | undefined;
    readonly child: ChildProcess;
  }> {
    const child = spawn(process.execPath, [fixturePath(name), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: this.env,
    });
    this.children.push(child);
    let other: string | undefined;
    assert(child.stdout);
    for await (const line of createInterface({ input: child.stdout })) {
      const [word, url] = line.split(' ');
      if (word === 'other') other = url;
      if (word === 'listening' && url !== undefined) return { url, other, child };
    }
    return assert.fail(`${name} ended before it listened`);
  }

  async kill(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await exited;
  }

  processes(): TestProcess[] {
    return processesWith(runVariable, this.run);
  }

  /** Closes every connection. */
  async close(): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.close()));
  }

  async end(): Promise<void> {
    await this.close();
    const left = this.processes().filter(
      ({ command, parent }) =>
        parent !== process.pid || !/guardian|http|legacy|oauth/.test(command),
    );
    await this.connector.dispose();
    for (const child of this.children) {
      await this.kill(child);
      child.stdout?.destroy();
    }
    assert.deepEqual(left, [], 'closed connections left processes');
    await untilNone(() => this.processes(), 1000);
    await untilResources(this.resources);
  }
}

export async function callTool(
  connection: Connection,
  name: string,
  args?: object,
  own: Call = {},
): Promise<ServerOutcome<CallToolResult>> {
  return await connection.callTool({
    tool: name,
    arguments: args as Record<string, unknown> | undefined,
    meta: undefined,
    timeouts: { call: 10_000, callMax: 30_000 },
    signal: new AbortController().signal,
    onProgress: () => {},
    ...own,
  });
}

/** Returns the text of the result of a call. */
export async function textOf(
  connection: Connection,
  name: string,
  args?: object,
  own?: Call,
): Promise<string> {
  const outcome = await callTool(connection, name, args, own);
  assert.equal(outcome.kind, 'result', JSON.stringify(outcome));
  const { result } = outcome as Extract<typeof outcome, { kind: 'result' }>;
  const [first] = result.content;
  assert.equal(first?.type, 'text');
  return first.text;
}

export function once<T>(event: Event<T>): Promise<T> {
  return new Promise((resolve) => {
    const subscription = event((value) => {
      subscription.dispose();
      resolve(value);
    });
  });
}

const counted = ['ProcessWrap', 'TCPSocketWrap', 'TLSWrap', 'PipeWrap'];

function resourceCounts(): Record<string, number> {
  const all = process.getActiveResourcesInfo();
  return Object.fromEntries(
    counted.map((kind) => [kind, all.filter((name) => name === kind).length]),
  );
}

async function untilResources(expected: Record<string, number>): Promise<void> {
  const deadline = performance.now() + 2000;
  for (;;) {
    const now = resourceCounts();
    if (counted.every((kind) => (now[kind] ?? 0) <= (expected[kind] ?? 0))) return;
    if (performance.now() > deadline)
      assert.deepEqual(now, expected, 'sockets, pipes or children are left');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Sign-in settings of a config file that has none. */
export const unsaid: OAuthSettings = {
  grant: 'authorization_code',
  clientId: '',
  issuer: undefined,
  clientSecret: undefined,
  privateKey: undefined,
  scopes: [],
  redirectPort: undefined,
};
