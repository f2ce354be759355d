/**
 * What `serve` and `connect` know of what servers offer (S3): what each launch listed first after its approval is what counts,
 * however often a command starts. What changes or comes later is told, and kept from agents if the person said so.
 * `mcp-toolsets approve` shows and accepts it.
 */
import { homedir } from 'node:os';
import path from 'node:path';
import { OfferLedger } from '../core/approval/offerLedger.js';
import { offerTextsIn } from '../core/approval/offerTexts.js';
import { systemClock } from '../core/base/clock.js';
import { isObject } from '../core/base/isObject.js';
import { approvalsFile } from '../core/config/sources.js';
import { SharedFile } from '../core/files/sharedFile.js';
import { storedJson } from '../core/protocol/json.js';
import { complain, reasonOf } from './output.js';

/** As many launches are kept as a ledger takes; those that were unused the longest go first. */
const mostLaunches = 200;

/** @param accepts whether what is noted replaces what another process has noted of the same launch */
export async function keptOffers(holdsBack: boolean, accepts = false): Promise<OfferLedger> {
  const folder = path.join(path.dirname(approvalsFile(homedir())), 'offers');
  const file = new SharedFile(path.join(folder, 'base.json'), systemClock);
  await file.open();
  const texts = offerTextsIn(folder);
  return new OfferLedger({
    storage: {
      get: () => [...launchesIn(file.text).values()],
      update: (_, launches) =>
        file.change((text) => {
          const kept = launchesIn(text);
          for (const [launch, ours] of launchesIn(JSON.stringify(launches))) {
            const theirs = kept.get(launch);
            kept.delete(launch);
            kept.set(launch, accepts ? { ...theirs, ...ours } : { ...ours, ...theirs });
          }
          return JSON.stringify([...kept.values()].slice(-mostLaunches));
        }),
    },
    // What another process has noted meanwhile is not known here, and its texts stay.
    texts: accepts ? texts : { ...texts, retain: () => Promise.resolve() },
    holdsBack: () => holdsBack,
    onStoreFailure: (error) => complain(`What servers offer could not be stored: ${reasonOf(error)}.`),
  });
}

function launchesIn(text: string | undefined): Map<unknown, Record<string, unknown>> {
  const stored = text === undefined ? [] : storedJson(text);
  const launches = Array.isArray(stored) ? stored.filter(isObject) : [];
  return new Map(launches.map((launch) => [launch['fingerprint'], launch]));
}
