/**
 * Makes the connector of the product. It starts servers over stdio and HTTP (X1–X3) and keeps their process trees (X5).
 * It does not restart, share or count instances. The owner of a connection closes it.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import { BoundedMap } from '../base/boundedMap.js';
import { LoopShare } from '../base/turns.js';
import { toDisposable, type Disposable } from '../base/disposables.js';
import { assertNever } from '../base/assertNever.js';
import { launchHashOf } from '../config/hash.js';
import { boundedLog } from '../connections/logging.js';
import type { ConnectOutcome, Connector, ConnectRequest } from '../connections/connection.js';
import { Guardian } from '../processes/guardian.js';
import { Jobs } from '../processes/jobs.js';
import { EraMemories, type EraMemory } from '../connections/eras/modern.js';
import { modernVersion } from '../protocol/versions.js';
import type { MakeAgents } from '../connections/http/agents.js';
import type { OAuth } from '../connections/http/oauth/oauth.js';
import { attemptStdio, inherited } from '../connections/stdio/attempt.js';
import type { ProcessStart } from '../processes/processTree.js';
import { ValueCommands } from '../connections/stdio/valueCommands.js';
import { commandReferences } from '../config/read/launchReferences.js';
import { LaunchValues } from './launchValues.js';

export interface ConnectorDeps {
  /** The environment that children inherit. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Returns true if the servers' logs show JSON-RPC, at level trace. Read for each message. */
  readonly trace: () => boolean;
  /** The version of this product, for `clientInfo`. */
  readonly clientVersion: string;
  /** Signs in to HTTP servers. Without it, a server that wants a sign-in fails. */
  readonly oauth?: OAuth | undefined;
  /** Makes the sockets of HTTP servers, through proxies or not. The default is `directAgents`. */
  readonly agents?: MakeAgents | undefined;
  /** Removes the output of value commands from all texts. */
  readonly keepSecret?: (values: readonly string[]) => Disposable;
  /**
   * The path of the bundled guardianMain. Without it, only groups and marked processes are ended. Windows needs none.
   */
  readonly guardianScript?: string | undefined;
}

/** @param eras the eras in which launches spoke before */
export function createConnector(deps: ConnectorDeps, eras = new EraMemories()): Connector {
  const { env, clock, trace, clientVersion, guardianScript: script } = deps;
  const mark = `${process.pid}-${randomBytes(6).toString('hex')}.`;
  const { execPath } = process;
  const keeper = process.platform === 'win32' ? new Jobs() : new Guardian({ mark, script, execPath, env });
  const attempts = new Set<{ readonly stop: AbortController; readonly outcome: Promise<ConnectOutcome> }>();
  /** The accounts of all starts and connections, by server. */
  const shares = new BoundedMap<string, LoopShare>(1000);
  let started = 0;
  let disposed = false;
  const nextProcess = (): Pick<ProcessStart, 'mark' | 'keeper'> => ({ mark: `${mark}${++started}.`, keeper });
  const commands = new ValueCommands({ env: inherited(env), clock, process: nextProcess });
  const values = new LaunchValues({ commands, keepSecret: deps.keepSecret ?? (() => toDisposable(() => {})) });

  /** Starts the process before it returns its promise. */
  const attempt = async (request: ConnectRequest, stop: AbortController): Promise<ConnectOutcome> => {
    const { timeoutMs } = request;
    const log = boundedLog(request.log, clock);
    const unwanted = AbortSignal.any([request.signal, stop.signal]);
    let { launch } = request;
    if (commandReferences(launch).length > 0) {
      // Value commands have their own time limit, because a person may have to unlock something.
      const completion = await values.complete(launch, log, unwanted);
      if (completion.kind !== 'complete') return completion;
      ({ launch } = completion);
    }
    const limit = new AbortController();
    let isUp = false;
    const timer = clock.after(timeoutMs, () => {
      isUp = !unwanted.aborted;
      limit.abort();
    });
    const { capabilities = {}, client } = request;
    const signal = AbortSignal.any([unwanted, limit.signal]);
    const share = shares.get(request.server) ?? new LoopShare(clock);
    shares.set(request.server, share);
    const common = { share, clock, trace, clientVersion, capabilities, client, log, timeoutMs, signal };
    const timedOut = (): boolean => isUp;
    const once = async (era: EraMemory): Promise<ConnectOutcome> => {
      const parts = { ...common, era };
      switch (launch.transport) {
        case 'stdio': {
          return await attemptStdio({ ...parts, launch, hostEnv: env, process: nextProcess() }, timedOut);
        }
        case 'streamable_http': {
          const { attemptHttp } = await import('../connections/http/attempt.js');
          const { oauth, agents } = deps;
          return await attemptHttp({ ...parts, launch, access: oauth?.accessFor(launch), agents }, timedOut);
        }
        default:
          return assertNever(launch);
      }
    };
    try {
      const hash = launchHashOf(launch, false);
      const current = (): EraMemory => eras.of(hash, request.spoke === modernVersion ? 'modern' : 'legacy');
      const era = current();
      const outcome = await once(era);
      // The server was modern, and the present one ended at the question.
      const hasChanged = era.expected === 'modern' && current().expected === 'legacy';
      return outcome.kind === 'failed' && hasChanged ? await once(current()) : outcome;
    } finally {
      timer.dispose();
    }
  };

  const connect = async (request: ConnectRequest): Promise<ConnectOutcome> => {
    if (disposed || request.signal.aborted) return { kind: 'cancelled' };
    const stop = new AbortController();
    const running = { stop, outcome: attempt(request, stop) };
    attempts.add(running);
    return await running.outcome.finally(() => attempts.delete(running));
  };

  const dispose = async (): Promise<void> => {
    disposed = true;
    const running = [...attempts];
    for (const { stop } of running) stop.abort();
    await Promise.allSettled(running.map(({ outcome }) => outcome));
    await keeper.dispose();
  };

  return { connect, dispose };
}
