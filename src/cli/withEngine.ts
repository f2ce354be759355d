/**
 * Opens the engine for one command from the config files of a folder, and ends it with everything
 * that it started.
 */
import type { OfferLedger } from '../core/approval/offerLedger.js';
import { homedir } from '../core/base/home.js';
import { systemClock } from '../core/base/clock.js';
import { DisposableStore } from '../core/base/disposables.js';
import type { Log } from '../core/base/log.js';
import { asText } from '../core/base/text.js';
import type { Host } from '../core/calling/hostContract.js';
import type { SourceText } from '../core/config/model.js';
import { ConfigFiles } from '../core/engine/configFiles.js';
import { openEngine, type Engine } from '../core/engine/openEngine.js';
import { watchFolderOf } from '../core/files/folderWatch.js';
import {
  noClient,
  type ExpectedClient,
  type Fields,
  type ServerClient,
} from '../core/protocol/client.js';
import { RememberedConversations } from '../core/remembered/conversations.js';
import { version } from '../../package.json';
import { readConfig, readConfigFiles, type ReadFolder } from './configFile.js';
import { FolderApprovals, type Consent } from './folderApprovals.js';
import { formAnswers } from './formAnswers.js';
import { proxyAgents } from './proxies.js';
import { keyAskedBy, secretOf } from './keyring.js';
import { SignInFile } from './signInFile.js';
import { Interruption } from './interruption.js';
import { keptOffers } from './keptOffers.js';
import { complain, newLines, reasonOf, report } from './output.js';
import { askOnTerminal, isTerminal } from './terminalQuestion.js';
import type { PersonsPermissions } from './toolPermissions.js';

export interface Run extends Consent, ReadFolder {
  readonly json: boolean;
  readonly debug: boolean;
  /** The answers to forms of the called tool. Without them, the client declares no forms. */
  readonly answers?: Fields | undefined;
  readonly permissions: PersonsPermissions;
  readonly guardianScript: string;
  readonly script: string;
  /** True if every server of the config files may start, now and later. */
  readonly approvesEdits?: boolean;
  readonly only?: string | undefined;
  /** The limit of instances by an option (L2c). */
  readonly maxInstances?: number | undefined;
  readonly expects?: () => ExpectedClient;
  readonly offerReview?: OfferLedger;
  /** `false` if the record of calls cannot be written, and the person knows. */
  readonly records?: boolean;
  /** True if the run only shows the servers, so its starts are no facts (H1b). */
  readonly looks?: boolean;
  /** True if warnings of the log are for the person. */
  readonly warns?: boolean;
}

export interface RunningEngine {
  readonly engine: Engine;
  readonly host: Host;
  /**
   * Starts the servers, after an endpoint that opens already. Resolves when every server has started
   * or failed.
   */
  start(): Promise<void>;
  /** Aborted when the process is to end. */
  readonly signal: AbortSignal;
  readonly client: ServerClient | undefined;
  /** Ends after the engine. */
  readonly store: DisposableStore;
  readonly signIns: SignInFile;
  /** Lets changes of the config files and of the person's permissions count from now on. */
  follow(): void;
}

export function withServers(
  run: Run,
  use: (running: RunningEngine) => number | Promise<number>,
): Promise<number> {
  return withEngine(run, async (running) => {
    await running.start();
    return running.signal.aborted ? 1 : await use(running);
  });
}

export async function withEngine(
  run: Run,
  use: (running: RunningEngine) => Promise<number>,
): Promise<number> {
  // Every command finds the same names as `serve` and `connect` (N5b).
  const offerReview = run.offerReview ?? (await keptOffers(false, 'read'));
  const files = readConfigFiles(run);
  const { sources, problems } = files;
  if (problems.length > 0) return report(run.json, problems);
  const interruption = new Interruption();
  const { signal } = interruption;
  const approvals = await FolderApprovals.open(run, run.approvesEdits !== true);
  const store = new DisposableStore('command');
  // Timers of the clock hold no process, and nothing else may while a server is asked again.
  const holding = setInterval(() => {}, 60_000);
  const signIns = store.add(new SignInFile(homedir(), keyAskedBy(run.script)));
  let engine: Engine | undefined;
  try {
    // The question comes before the engine, because the engine starts what is approved at once.
    const { servers } = readConfig(run, files);
    const wanted = servers.filter(({ id }) => (run.only ?? id) === id);
    await approvals.askAtStart(approvals.waitingOf(wanted), run, signal);
    if (signal.aborted) return await interruption.exitCode;
    // No form arrives before the engine exists.
    const client =
      run.answers && formAnswers(run.answers, (text) => complain(engine?.redact(text) ?? text));
    engine = engineFor(run, {
      approvals,
      offerReview,
      client,
      signIns,
    });
    const { host } = engine;
    const waiting = newLines(complain);
    host.onDidChange((snapshot) => waiting(approvals.waitingLines(snapshot, run.asks !== false)));
    const start = (): Promise<void> => host.setSources(sources);
    const running = {
      engine,
      host,
      start,
      signal,
      client,
      store,
      signIns,
    };
    const follow = (): void => followInputs(run, running, sources);
    return await Promise.race([use({ ...running, follow }), interruption.exitCode]);
  } finally {
    await engine?.dispose();
    store.dispose();
    approvals.dispose();
    interruption.dispose();
    clearInterval(holding);
  }
}

interface Guards {
  readonly approvals: FolderApprovals;
  readonly offerReview: OfferLedger;
  readonly client: ServerClient | undefined;
  readonly signIns: SignInFile;
}

function engineFor(run: Run, { approvals, offerReview, client, signIns }: Guards): Engine {
  const { folder, only, guardianScript } = run;
  const { env } = process;
  const isWanted = (level: string): boolean =>
    run.debug || (run.warns === true && level === 'warn');
  const log: Log = {
    write: (level, message) => isWanted(level) && complain(`[${level}] ${message}`),
  };
  const serverLog = (server: string): Log => ({
    write: (level, message) => log.write(level, `${server}: ${message}`),
  });
  return openEngine({
    surroundings: {
      clock: systemClock,
      log,
      serverLog,
      env,
      version,
      guardianScript,
      makeAgents: proxyAgents,
    },
    settings: {
      filteredTools: () => 'information',
      maxInstances: () => run.maxInstances,
      trace: () => run.debug,
      recordsCalls: () => run.looks !== true,
      only,
    },
    consent: {
      approvals: approvals.ledger,
      toolPermissions: {
        settings: () => run.permissions.rules,
        ask: run.asks === false ? () => Promise.resolve('no') : askOnTerminal,
        isAskable: () => run.asks !== false && isTerminal(),
      },
      offerReview,
    },
    stores: {
      secret: secretOf,
      secrets: signIns,
      conversations: new RememberedConversations({
        stored: undefined,
        store: () => {},
        isConversation: () => true,
      }),
    },
    expectedClient:
      run.expects ?? (() => ({ ...noClient, capabilities: client?.capabilities ?? {} })),
    folder,
    home: homedir(),
    onFailure: {
      config: complainOfConfig,
      record: (error) => {
        if (run.records !== false)
          complain(`The record of calls could not be written: ${reasonOf(error)}.`);
      },
    },
  });
}

export function complainOfConfig(error: unknown): void {
  complain(`The config files were not applied: ${asText(error)}`);
}

function followInputs(
  { permissions }: Run,
  { engine, host, store, signIns }: Omit<RunningEngine, 'follow'>,
  sources: readonly SourceText[],
): void {
  const files = new ConfigFiles({
    clock: systemClock,
    pollMs: 500,
    debounceMs: 50,
    wanted: () => sources,
    signs: ({ file }, nudge) => watchFolderOf(file, nudge),
  });
  store.add(files);
  engine.follow(files);
  files.follow();
  permissions.follow(host, store);
  void signIns.follow();
}
