/** Makes a host for one command from the config files as they are, and ends it with everything that it started. */
import type { OfferReview } from '../core/approval/offerPrints.js';
import { systemClock } from '../core/base/clock.js';
import type { DisposableStore } from '../core/base/disposables.js';
import type { Log } from '../core/base/log.js';
import { ConfigState } from '../core/config/read/merge.js';
import type { ConfigDeps } from '../core/config/model.js';
import type { SecretStore } from '../core/connections/http/oauth/contract.js';
import { readEnvFile } from '../core/files/envFile.js';
import { assemble, directoryExists, type Core } from '../core/host/assemble.js';
import type { Host } from '../core/host/hostContract.js';
import { noClient, type Fields, type ServerClient } from '../core/protocol/client.js';
import { RememberedConversations } from '../core/remembered/conversations.js';
import { version } from '../../package.json';
import { readConfigFiles } from './configFile.js';
import { FolderApprovals } from './folderApprovals.js';
import { followConfig } from './followConfig.js';
import { formAnswers } from './formAnswers.js';
import { agentsByEnvironment } from './proxies.js';
import { secretOf } from './keyring.js';
import { Interruption } from './interruption.js';
import { complain, NewLines, report } from './output.js';
import { askOnTerminal } from './terminalQuestion.js';
import type { PersonsPermissions } from './toolPermissions.js';

export interface Run {
  /** The absolute path. */
  readonly folder: string;
  readonly json: boolean;
  readonly debug: boolean;
  /** The answers to forms that a called tool asks; where it is undefined, the tool is told that nobody can be asked. */
  readonly answers?: Fields | undefined;
  /** What the person lets tools be called for (S4). */
  readonly permissions: PersonsPermissions;
  /** Whether the terminal is asked about starts and calls. By default it is, where there is one. */
  readonly asks?: boolean;
  /** Whether the person said with the command that what waits for approval may start, for this run (S1). */
  readonly approve: boolean;
  /** The path of the built guardian. */
  readonly guardianScript: string;
}

/** A host that has been given the config file. */
export interface RunningHost {
  readonly core: Core;
  readonly host: Host;
  /** Resolves when every server has started or failed. */
  readonly started: Promise<void>;
  /** Aborted when the process is told to end. */
  readonly signal: AbortSignal;
  readonly client: ServerClient | undefined;
  /** Gives the host what the config files say whenever that changes, until the store is disposed of. */
  followConfig(store: DisposableStore): void;
  /** Adds something that has to be closed before the host ends. */
  closeFirst(close: () => Promise<void>): void;
}

/** What decides for a command that goes on while files and servers change. */
interface Guards {
  /** Whether whatever the config files say may start, now and later. */
  readonly approvesEdits?: boolean;
  /** The one server that is to start. By default all do. */
  readonly only?: string | undefined;
  readonly offerReview: OfferReview;
}

/** What every command runs in. Secrets come from the keyring or from environment variables (C2). */
export const configDeps: ConfigDeps = {
  env: process.env,
  directoryExists,
  secret: secretOf,
  envFile: readEnvFile,
};

/** The command line signs nobody in and stores no token: what a program may get by itself stays in memory for one run. */
const memoryOnlySecrets: SecretStore = {
  get: () => Promise.resolve(undefined),
  store: () => Promise.resolve(),
  delete: () => Promise.resolve(),
  onDidChange: () => ({ dispose: () => {} }),
};

/** Runs a command that needs all servers. */
export function withServers(run: Run, use: (running: RunningHost) => number): Promise<number> {
  return withHost(run, async (running) => {
    await running.started;
    return running.signal.aborted ? 1 : use(running);
  });
}

export async function withHost(
  run: Run,
  use: (running: RunningHost) => Promise<number>,
  guards?: Guards,
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
  // Nobody is asked before the core is there.
  const client = run.answers && formAnswers(run.answers, (text) => complain(core.redactor.redact(text)));
  const { folder } = run;
  const approvals = await FolderApprovals.open(folder, guards?.approvesEdits !== true);
  let readSources = (): Promise<void> => Promise.resolve();
  const core = assemble({
    surroundings: {
      clock: systemClock,
      log,
      serverLog,
      env: process.env,
      version,
      guardianScript: run.guardianScript,
      makeAgents: agentsByEnvironment,
    },
    settings: { filteredTools: () => 'information', trace: () => run.debug, only: guards?.only },
    consent: {
      approvals: approvals.ledger,
      toolPermissions: {
        settings: () => [run.permissions.rules],
        ask: run.asks === false ? () => Promise.resolve('no') : askOnTerminal,
      },
      ...(guards && { offerReview: guards.offerReview }),
    },
    stores: {
      secret: secretOf,
      secrets: memoryOnlySecrets,
      conversations: new RememberedConversations({ stored: undefined, store: () => {}, isConversation: () => true }),
    },
    readSources: () => readSources(),
    expectedClient: () => ({ ...noClient, ...(client && { capabilities: client.capabilities }) }),
  });
  const { host } = core;
  const waiting = new NewLines(complain);
  host.onDidChange((snapshot) => waiting.say(approvals.waitingLines(snapshot)));
  const closings: (() => Promise<void>)[] = [];
  try {
    const { servers } = new ConfigState().apply(sources, configDeps).model;
    const wanted = servers.filter(({ id }) => (guards?.only ?? id) === id);
    await approvals.ask(approvals.waiting(wanted), run, interruption.signal);
    if (interruption.signal.aborted) return await interruption.exitCode;
    const started = host.setSources(sources);
    const running: RunningHost = {
      core,
      host,
      started,
      signal: interruption.signal,
      client,
      followConfig: (store) => (readSources = followConfig(host, folder, store)),
      closeFirst: (close) => void closings.push(close),
    };
    return await Promise.race([use(running), interruption.exitCode]);
  } finally {
    for (const close of closings) await close();
    await core.dispose();
    approvals.dispose();
    interruption.dispose();
  }
}
