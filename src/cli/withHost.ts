/**
 * Makes a host for one command from the config files, and ends it with everything that it started.
 */
import type { OfferLedger } from '../core/approval/offerLedger.js';
import { homedir } from '../core/base/home.js';
import { systemClock } from '../core/base/clock.js';
import { DisposableStore } from '../core/base/disposables.js';
import type { Log } from '../core/base/log.js';
import { asText } from '../core/base/text.js';
import type { SourceText } from '../core/config/model.js';
import { ConfigState } from '../core/config/read/merge.js';
import type { SecretStore } from '../core/connections/http/oauth/contract.js';
import { CallFile, callFileOf } from '../core/files/callFile.js';
import { watchFolderOf } from '../core/files/folderWatch.js';
import { watchFile } from '../core/files/watchedFile.js';
import { assemble, type Core } from '../core/host/assemble.js';
import type { Host } from '../core/host/hostContract.js';
import {
  noClient,
  type ExpectedClient,
  type Fields,
  type ServerClient,
} from '../core/protocol/client.js';
import { RememberedConversations } from '../core/remembered/conversations.js';
import { version } from '../../package.json';
import { configDeps, readConfigFiles } from './configFile.js';
import { FolderApprovals, type Consent } from './folderApprovals.js';
import { formAnswers } from './formAnswers.js';
import { proxyAgents } from './proxies.js';
import { secretOf } from './keyring.js';
import { Interruption } from './interruption.js';
import { keptOffers } from './keptOffers.js';
import { complain, newLines, reasonOf, report } from './output.js';
import { askOnTerminal } from './terminalQuestion.js';
import type { PersonsPermissions } from './toolPermissions.js';

export interface Run extends Consent {
  readonly folder: string;
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
  readonly expects?: () => ExpectedClient;
  readonly offerReview?: OfferLedger;
}

export interface RunningHost {
  readonly core: Core;
  readonly host: Host;
  /** Resolves when every server has started or failed. */
  readonly started: Promise<void>;
  /** Aborted when the process is to end. */
  readonly signal: AbortSignal;
  readonly client: ServerClient | undefined;
  /** Ends before the host. */
  readonly store: DisposableStore;
  /** Lets changes of the config files and of the person's permissions count from now on. */
  follow(): void;
  /** Ends before the store and the host. */
  closeFirst(close: () => Promise<void>): void;
}

const nothing = (): Promise<undefined> => Promise.resolve(undefined);
/**
 * The command line stores no token of a sign-in. Tokens for machines stay in memory for one run.
 */
const memoryOnlySecrets: SecretStore = {
  get: nothing,
  store: nothing,
  delete: nothing,
  onDidChange: () => ({ dispose: () => {} }),
};

export function withServers(
  run: Run,
  use: (running: RunningHost) => number | Promise<number>,
): Promise<number> {
  return withHost(run, async (running) => {
    await running.started;
    return running.signal.aborted ? 1 : await use(running);
  });
}

export async function withHost(
  run: Run,
  use: (running: RunningHost) => Promise<number>,
): Promise<number> {
  const { folder, only, guardianScript } = run;
  // Every command finds the same names as `serve` and `connect` (N5b).
  const offerReview = run.offerReview ?? (await keptOffers(false, 'read'));
  const { env } = process;
  const { sources, problems } = readConfigFiles(folder);
  if (problems.length > 0) return report(run.json, problems);
  const log: Log = { write: (level, message) => run.debug && complain(`[${level}] ${message}`) };
  const serverLog = (server: string): Log => ({
    write: (level, message) => log.write(level, `${server}: ${message}`),
  });
  const interruption = new Interruption();
  const { signal } = interruption;
  // No form arrives before `core` exists.
  const client =
    run.answers && formAnswers(run.answers, (text) => complain(core.redactor.redact(text)));
  const approvals = await FolderApprovals.open(folder, run.approvesEdits !== true);
  let readSources = (): Promise<void> => Promise.resolve();
  const core = assemble({
    surroundings: {
      clock: systemClock,
      log,
      serverLog,
      env,
      version,
      guardianScript,
      makeAgents: proxyAgents,
    },
    settings: { filteredTools: () => 'information', trace: () => run.debug, only },
    consent: {
      approvals: approvals.ledger,
      toolPermissions: {
        settings: () => run.permissions.rules,
        ask: run.asks === false ? () => Promise.resolve('no') : askOnTerminal,
      },
      offerReview,
    },
    stores: {
      secret: secretOf,
      secrets: memoryOnlySecrets,
      conversations: new RememberedConversations({
        stored: undefined,
        store: () => {},
        isConversation: () => true,
      }),
    },
    readSources: () => readSources(),
    expectedClient:
      run.expects ?? (() => ({ ...noClient, capabilities: client?.capabilities ?? {} })),
  });
  const { host } = core;
  const record = new CallFile(callFileOf(folder, homedir()), systemClock, (error) =>
    complain(`The record of calls could not be written: ${reasonOf(error)}.`),
  );
  core.recorder.onDidRecord((lines) => record.note(lines));
  const waiting = newLines(complain);
  host.onDidChange((snapshot) => waiting(approvals.waitingLines(snapshot, run.asks !== false)));
  const store = new DisposableStore('command');
  const closings: (() => Promise<void>)[] = [];
  try {
    const { servers } = new ConfigState().apply(sources, configDeps).model;
    const wanted = servers.filter(({ id }) => (only ?? id) === id);
    await approvals.ask(approvals.waiting(wanted), run, signal);
    if (signal.aborted) return await interruption.exitCode;
    const started = host.setSources(sources);
    const follow = (): void => {
      readSources = followConfig(host, sources, store);
      run.permissions.follow(host, store);
    };
    const closeFirst = (close: () => Promise<void>): void => void closings.push(close);
    const running: RunningHost = { core, host, started, signal, client, store, follow, closeFirst };
    return await Promise.race([use(running), interruption.exitCode]);
  } finally {
    for (const close of closings) await close();
    store.dispose();
    await core.dispose();
    await record.flush();
    approvals.dispose();
    interruption.dispose();
  }
}

/** Returns a function that reads the files at once and resolves when the host has them. */
function followConfig(
  host: Host,
  sources: readonly SourceText[],
  store: DisposableStore,
): () => Promise<void> {
  const files = sources.map((source) => {
    const watched = store.add(
      watchFile(source.file, { clock: systemClock, pollMs: 500, debounceMs: 50 }),
    );
    store.add(watchFolderOf(source.file, () => watched.nudge()));
    return { source, watched };
  });
  for (const each of files) {
    store.add(
      each.watched.onDidChange((content) => {
        const { source } = each;
        // An unreadable file keeps its last text.
        each.source =
          content.kind === 'unreadable'
            ? { ...source, unreadable: content.reason }
            : {
                ...source,
                text: content.kind === 'text' ? content.text : undefined,
                unreadable: undefined,
              };
        if (files.some(({ watched }) => watched.content === undefined)) return;
        host
          .setSources(files.map(({ source }) => source))
          .catch((error: unknown) =>
            complain(`The config files were not applied: ${asText(error)}`),
          );
      }),
    );
  }
  return async () => {
    await Promise.all(files.map(({ watched }) => watched.readNow()));
  };
}
