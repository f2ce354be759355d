/**
 * Makes the connector of the product, for stdio and HTTP (X1, X2). The owner of a connection
 * closes it.
 */
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { limited, type Clock } from '../base/clock.js';
import { BoundedMap } from '../base/boundedMap.js';
import { LoopShare } from '../base/turns.js';
import type { Disposable } from '../base/disposables.js';
import type { HttpLaunch, Launch } from '../config/model.js';
import { isHeaderValue } from '../config/read/launch.js';
import { boundedLog } from '../connections/logging.js';
import {
  StartTimedOut,
  type ConnectOutcome,
  type Connector,
  type ConnectRequest,
} from '../connections/connection.js';
import { keeperWith } from '../processes/keeper.js';
import { EraMemories, type EraMemory } from '../connections/eras/modern.js';
import { modernVersion } from '../protocol/versions.js';
import type { MakeAgents } from '../connections/http/agents.js';
import type { FetchAgain } from '../connections/http/endpoint.js';
import type { OAuth } from '../connections/http/oauth/oauth.js';
import { attemptStdio } from '../connections/stdio/attempt.js';
import { inherited } from '../processes/environment.js';
import { outsideOf } from '../processes/workspacePrograms.js';
import { ValueCommands } from '../connections/stdio/valueCommands.js';
import {
  commandReferences,
  launchHashOf,
  printerOf,
  valuesOf,
  withOutputs,
} from '../config/launchValues.js';
import { secretsOf } from '../config/read/launchSecrets.js';

/**
 * The limit of launches with remembered values: an instance may write one long after it was
 * replaced.
 */
const mostKept = 1000;

export interface ConnectorDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly trace: () => boolean;
  readonly clientVersion: string;
  /** Without it, a server that wants a sign-in fails. */
  readonly oauth?: OAuth | undefined;
  readonly agents?: MakeAgents | undefined;
  readonly keepSecret?: (values: readonly string[]) => Disposable;
  /**
   * The path of the bundled guardianMain, beside our command line. Without it, only groups and
   * marked processes end. Windows needs none for that.
   */
  readonly guardianScript?: string | undefined;
}

/** @param roots of the workspace */
export function createConnector(
  deps: ConnectorDeps,
  eras = new EraMemories(),
  roots: () => readonly string[] = () => [],
): Connector {
  const { env, clock, trace, clientVersion, oauth, agents, guardianScript: script } = deps;
  const cli = script && join(dirname(script), 'cli.js');
  const { keeper, next: nextProcess } = keeperWith(script, env);
  const attempts = new Set<{
    readonly stop: AbortController;
    readonly outcome: Promise<ConnectOutcome>;
  }>();
  const shares = new BoundedMap<string, LoopShare>(1000);
  let disposed = false;
  const commands = new ValueCommands({
    // A review shows the name of the program only.
    env: () => outsideOf(roots(), inherited(env)),
    clock,
    process: nextProcess,
  });
  const kept = new BoundedMap<string, Disposable | undefined>(mostKept, (oldest) =>
    oldest?.dispose(),
  );

  /**
   * Replaces the value commands by their output (C2c). The redactor knows each value before any
   * other part.
   */
  const complete = async (
    { launch, log }: ConnectRequest,
    signal: AbortSignal,
  ): Promise<Launch | Exclude<ConnectOutcome, { kind: 'connected' }>> => {
    const references = commandReferences(launch);
    const outputs = await commands.outputsFor(references, log, signal);
    if (outputs.kind !== 'known') return outputs;
    const completed = withOutputs(launch, outputs.of);
    const values = secretsOf(completed);
    const key = createHash('sha256').update(JSON.stringify(values)).digest('hex');
    if (!kept.has(key)) kept.set(key, deps.keepSecret?.(values));
    for (const { value, path } of valuesOf(completed)) {
      const source = printerOf(value);
      const [what, name] = path;
      if (!source || what !== 'headers' || isHeaderValue(value.value)) continue;
      const message = `The output of ${source.argv[0]} cannot be the value of header \`${name}\`: it holds a line break, a control character or one beyond Latin-1.`;
      const failure = {
        code: 'value-command-failed',
        message,
        fix: 'Make it print only the value.',
        path,
      } as const;
      return { kind: 'failed', failure };
    }
    return completed;
  };

  const fetchAgainFor =
    (request: ConnectRequest): FetchAgain =>
    async (over) => {
      const fetched = await complete(request, over);
      if (!('kind' in fetched)) return fetched as HttpLaunch;
      return fetched.kind === 'failed' ? `It ${fetched.failure.message}` : '';
    };

  /** Starts the process before it returns its promise. */
  const attempt = async (
    request: ConnectRequest,
    stop: AbortController,
  ): Promise<ConnectOutcome> => {
    const { timeoutMs } = request;
    const log = boundedLog(request.log, clock);
    const unwanted = AbortSignal.any([request.signal, stop.signal]);
    // Value commands have their own time limit, because a person may have to unlock something.
    const hasPrograms = commandReferences(request.launch).length > 0;
    const launch = hasPrograms ? await complete({ ...request, log }, unwanted) : request.launch;
    if ('kind' in launch) return launch;
    const { capabilities = {}, client } = request;
    const self = {
      version: clientVersion,
      capabilities,
      client,
    };
    const share = shares.get(request.server) ?? new LoopShare(clock);
    shares.set(request.server, share);
    const once = async (era: EraMemory, signal: AbortSignal): Promise<ConnectOutcome> => {
      const parts = {
        share,
        clock,
        trace,
        self,
        log,
        era,
        limit: { timeoutMs, signal },
      };
      if (launch.transport === 'stdio')
        return await attemptStdio({
          ...parts,
          launch,
          hostEnv: env,
          roots: roots(),
          process: nextProcess(),
          cli,
        });
      const { attemptHttp } = await import('../connections/http/attempt.js');
      const fetchAgain = hasPrograms ? fetchAgainFor({ ...request, log }) : undefined;
      return await attemptHttp({
        ...parts,
        launch,
        access: oauth?.accessFor(launch, fetchAgain),
        agents,
        fetchAgain,
      });
    };
    const run = async (signal: AbortSignal): Promise<ConnectOutcome> => {
      const hash = launchHashOf(launch, false);
      const current = (): EraMemory =>
        eras.of(hash, request.spoke === modernVersion ? 'modern' : 'legacy');
      const era = current();
      const outcome = await once(era, signal);
      // The server was modern, and the present one ended at the question.
      const hasChanged = era.expected === 'modern' && current().expected === 'legacy';
      return outcome.kind === 'failed' && hasChanged ? await once(current(), signal) : outcome;
    };
    return await limited(clock, timeoutMs, unwanted, run, new StartTimedOut());
  };

  return {
    connect: async (request) => {
      if (disposed || request.signal.aborted) return { kind: 'cancelled' };
      const stop = new AbortController();
      const running = { stop, outcome: attempt(request, stop) };
      attempts.add(running);
      return await running.outcome.finally(() => attempts.delete(running));
    },
    dispose: async () => {
      disposed = true;
      const running = [...attempts];
      for (const { stop } of running) stop.abort();
      await Promise.allSettled(running.map(({ outcome }) => outcome));
      await keeper.dispose();
    },
  };
}
