/** Commands keep the baselines of offers (S3), and the declaration of the last client of a folder, for the next command. */
import { homedir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { OfferLedger } from '../core/approval/offerLedger.js';
import { offerTextsIn } from '../core/approval/offerTexts.js';
import { systemClock } from '../core/base/clock.js';
import { isObject } from '../core/base/isObject.js';
import { makePrivateFile } from '../core/base/privateFile.js';
import { largestConfigFile, readTextFile } from '../core/base/textFile.js';
import { approvalsFile } from '../core/config/sources.js';
import { SharedFile } from '../core/files/sharedFile.js';
import { tokenFileOf } from '../core/files/tokenFile.js';
import type { Fields } from '../core/protocol/client.js';
import { storedJson } from '../core/protocol/json.js';
import { LastClient } from '../core/remembered/lastClient.js';
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
            // The first baseline stays, and the last order counts (N6).
            kept.set(launch, accepts ? { ...theirs, ...ours } : { ...ours, ...theirs, order: ours['order'] });
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

/** Returns the guards of a host that serves other programs, and the note about their capabilities for the next host. */
export async function servingGuards(folder: string, holdsBack: boolean) {
  // With the last client, the first instance of a server fits the next one (L4).
  const client = await lastClientOf(folder);
  const guards = { offerReview: await keptOffers(holdsBack), expects: client.expected };
  return { guards, onClient: (_: unknown, capabilities: Fields): void => client.note(capabilities) };
}

async function lastClientOf(folder: string): Promise<LastClient> {
  const { dir, name } = path.parse(tokenFileOf(folder, homedir()));
  const file = path.join(dir, `${name}.client`);
  let last = storedJson(await readTextFile(file, largestConfigFile).catch(() => ''));
  return new LastClient({
    get: () => last,
    update: async (capabilities) => {
      last = capabilities;
      await makePrivateFile(file, `${JSON.stringify(capabilities)}\n`);
    },
    // Agents name the folder in which they work.
    roots: () => [{ uri: pathToFileURL(folder).href, name: path.basename(folder) }],
    usual: {},
  });
}
