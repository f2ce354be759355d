/**
 * The tools, prompts and instructions that `serve` and `connect` compare with (S3): the first list of each launch after its
 * approval, however often a command starts. Later changes are reported, and withheld from agents if the person chose so.
 * `mcp-toolsets approve` shows and accepts them.
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

/** The most launches that are kept, the same number as in a ledger. The longest unused go first. */
const mostLaunches = 200;

/** @param accepts true if this process may replace the notes of other processes about a launch */
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
    // Notes of other processes are unknown here, so their texts stay.
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
