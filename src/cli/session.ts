/** A host for one command, which is made of the config files as they are and ended with everything that it started. */
import { statSync } from 'node:fs';
import type { Approvals } from '../core/approval/approvals.js';
import { systemClock } from '../core/base/clock.js';
import { Redactor, redactingLog, type Log } from '../core/base/log.js';
import type { SourceText } from '../core/config/model.js';
import { createConnector } from '../core/host/createConnector.js';
import { OAuth } from '../core/connections/http/oauth/oauth.js';
import { noClient, type Fields, type ServerClient } from '../core/protocol/client.js';
import { createHost } from '../core/host/host.js';
import type { Host } from '../core/host/hostContract.js';
import { builtInNames } from '../core/host/admin.js';
import { version } from '../../package.json';
import { readConfigFiles } from './configFile.js';
import { formAnswers } from './formAnswers.js';
import { memoryOnlySecrets } from './memoryOnlySecrets.js';
import { agentsByEnvironment } from './proxies.js';
import { Interruption } from './interruption.js';
import { complain, report } from './output.js';

export interface Run {
  /** The absolute path. */
  readonly folder: string;
  readonly json: boolean;
  readonly debug: boolean;
  /** The answers to forms that a called tool asks; where it is undefined, the tool is told that nobody can be asked. */
  readonly answers?: Fields | undefined;
  /** The path of the built guardian. */
  readonly guardianScript: string;
}

/** A host that has been given the config file. */
export interface Session {
  readonly host: Host;
  /** Resolves when every server has started or failed. */
  readonly started: Promise<void>;
  /** Aborted when the process is told to end. */
  readonly signal: AbortSignal;
  readonly client: ServerClient | undefined;
  readonly redactor: Redactor;
  /** Everything in it is redacted. */
  readonly log: Log;
  /** Adds something that has to be closed before the host ends. */
  closeFirst(close: () => Promise<void>): void;
}

export function directoryExists(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Runs a command that needs all servers. */
export function withServers(run: Run, use: (session: Session) => number): Promise<number> {
  return withHost(run, async (session) => {
    await session.started;
    return session.signal.aborted ? 1 : use(session);
  });
}

/** @param approvalsOf what may start of the files as they are now: by default everything, because the person who typed the command named the file. */
export async function withHost(
  run: Run,
  use: (session: Session) => Promise<number>,
  approvalsOf?: (sources: readonly SourceText[]) => Approvals | undefined,
): Promise<number> {
  const { sources, problems } = readConfigFiles(run.folder);
  if (problems.length > 0) return report(run.json, problems);
  const log: Log = {
    write: (level, message) => {
      if (run.debug) complain(`[${level}] ${message}`);
    },
  };
  const serverLog = (server: string): Log => ({ write: (level, message) => log.write(level, `${server}: ${message}`) });
  const interruption = new Interruption();
  const redactor = new Redactor();
  const client = run.answers && formAnswers(run.answers, (text) => complain(redactor.redact(text)));
  const hostLog = redactingLog(log, redactor);
  const oauth = new OAuth({
    secrets: memoryOnlySecrets,
    clock: systemClock,
    log: hostLog,
    keepSecret: (values) => redactor.register(values),
    clientVersion: version,
    agents: agentsByEnvironment,
  });
  const connector = createConnector({
    oauth,
    agents: agentsByEnvironment,
    env: process.env,
    clock: systemClock,
    trace: () => run.debug,
    clientVersion: version,
    guardianScript: run.guardianScript,
  });
  const approvals = approvalsOf?.(sources);
  const host = createHost({
    clock: systemClock,
    log,
    serverLog,
    redactor,
    signIns: oauth,
    env: process.env,
    connector,
    directoryExists,
    reservedNames: builtInNames,
    filteredTools: () => 'information',
    expectedClient: () => ({ ...noClient, ...(client && { capabilities: client.capabilities }) }),
    ...(approvals && { approvals }),
  });
  const closings: (() => Promise<void>)[] = [];
  try {
    const started = host.setSources(sources);
    const session: Session = {
      host,
      started,
      signal: interruption.signal,
      client,
      redactor,
      log: hostLog,
      closeFirst: (close) => void closings.push(close),
    };
    return await Promise.race([use(session), interruption.exitCode]);
  } finally {
    for (const close of closings) await close();
    await host.dispose();
    await connector.dispose();
    oauth.dispose();
    interruption.dispose();
  }
}
