/** The core as the product joins it, for tests. Its defaults are quiet, fixed and empty. */
import {
  assemble,
  type Core,
  type CoreDeps,
  type Surroundings,
} from '../../../src/core/assembly/assemble.js';
import type { Host } from '../../../src/core/calling/hostContract.js';
import type { Consent, HostSettings, Stores } from '../../../src/core/host/hostDeps.js';
import type { Catalogue } from '../../../src/core/tools/catalogue.js';
import { silentLog } from '../fakes/silentLog.js';

type Rest = Pick<CoreDeps, 'readSources' | 'expectedClient' | 'connector'>;
/**
 * The groups of `CoreDeps` in one. The clock has no default: each test decides if it plays the time
 * by hand.
 */
type TestCoreOptions = Partial<Surroundings & HostSettings> &
  Pick<Surroundings, 'clock'> &
  Consent &
  Stores &
  Rest;

export function testCore(options: TestCoreOptions): Core {
  const all = {
    log: silentLog,
    serverLog: () => silentLog,
    env: {},
    version: '0.0.0-test',
    filteredTools: () => 'information' as const,
    random: () => 0.5,
    ...(options.connector && { directoryExists: () => true }),
    ...options,
  };
  return assemble({ ...all, surroundings: all, settings: all, consent: all, stores: all });
}

/** Calls the listener when the host replaces its catalogue. */
export function onSwap(host: Host, listener: (catalogue: Catalogue) => void): void {
  let last = host.catalogue;
  host.onDidPublish(() => {
    const { catalogue } = host;
    if (catalogue !== last) listener(catalogue);
    last = catalogue;
  });
}
