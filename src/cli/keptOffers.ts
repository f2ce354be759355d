/**
 * Commands keep the baselines of offers (S3), and the declaration of the last client of a folder,
 * for the next command.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { OfferLedger } from '../core/approval/offerLedger.js';
import { offerTextsIn } from '../core/approval/offerTexts.js';
import { hasHome, homedir } from '../core/base/home.js';
import { systemClock } from '../core/base/clock.js';
import { isObject } from '../core/base/isObject.js';
import { makePrivateFile } from '../core/base/privateFile.js';
import { largestConfigFile, readTextFile } from '../core/base/textFile.js';
import { systemReason } from '../core/base/systemError.js';
import { approvalsFile } from '../core/config/sources.js';
import { SharedFile } from '../core/files/sharedFile.js';
import { tokenFileOf } from '../core/files/tokenFile.js';
import type { Fields } from '../core/protocol/client.js';
import { storedJson } from '../core/protocol/json.js';
import { LastClient } from '../core/remembered/lastClient.js';
import { complain, reasonOf } from './output.js';
import { codeOfWriting } from './sandboxLimits.js';

/** The most launches that are kept, the same number as in a ledger. The longest unused go first. */
const mostLaunches = 200;

/**
 * `accept`: may also replace the notes of other processes about a launch. `read`: keeps nothing,
 * but compares.
 */
type Access = 'read' | 'note' | 'accept';

export async function keptOffers(
  holdsBack: boolean,
  access: Access = 'note',
): Promise<OfferLedger> {
  const accepts = access === 'accept';
  const folder = path.join(path.dirname(approvalsFile(homedir())), 'offers');
  const file = new SharedFile(path.join(folder, 'base.json'), systemClock);
  await file.open();
  const { content } = file;
  const texts = offerTextsIn(folder);
  const stored =
    content.kind === 'text' ? storedJson(content.text) : content.kind === 'absent' ? [] : undefined;
  if (!Array.isArray(stored)) {
    const reason = content.kind === 'unreadable' ? content.reason : 'it is no whole JSON list';
    const effect = 'so everything that servers offer counts as changed';
    complain(
      `${file.path} is not usable, ${effect}: ${reason}. Mend it, or rename it and approve again.`,
    );
  }
  return new OfferLedger({
    storage: {
      get: () => stored ?? null,
      update: async (_, launches) => {
        if (access === 'read') return;
        await file.change((text = '[]') => {
          const kept = launchesIn(text);
          for (const [launch, ours] of launchesIn(JSON.stringify(launches))) {
            const theirs = kept.get(launch);
            kept.delete(launch);
            // The first baseline stays, and the last order counts (N6). Null is no baseline (S3).
            const [under, over] = accepts ? [theirs, ours] : [ours, theirs];
            const known = Object.entries(over ?? {}).filter(([, value]) => value !== null);
            kept.set(launch, {
              ...under,
              ...Object.fromEntries(known),
              order: ours['order'],
            });
          }
          return JSON.stringify([...kept.values()].slice(-mostLaunches));
        });
      },
    },
    // Notes of other processes are unknown here, so their texts stay.
    texts:
      access === 'read'
        ? undefined
        : accepts
          ? texts
          : { ...texts, retain: () => Promise.resolve() },
    holdsBack: () => holdsBack,
    onStoreFailure: (error) =>
      complain(`What servers offer could not be stored: ${reasonOf(error)}.`),
  });
}

/** Throws for a text that was not understood. An entry of another form stays as it is. */
function launchesIn(text: string): Map<unknown, Fields> {
  const stored = storedJson(text);
  if (!Array.isArray(stored)) throw new Error('their file is no whole JSON list');
  return new Map(
    stored.map((launch) => [isObject(launch) ? launch['fingerprint'] : launch, launch as Fields]),
  );
}

/**
 * Returns the guards of a host that serves other programs, and the note about their capabilities
 * for the next host.
 */
/** @param access `read` if nothing can be written and the person knows */
export async function servingGuards(folder: string, holdsBack: boolean, access: Access = 'note') {
  const home = path.dirname(approvalsFile(homedir()));
  const code = access === 'read' || !hasHome() ? '' : await codeOfWriting(home);
  if (code)
    complain(
      `${home} cannot be written: ${systemReason(code)}. So calls are not recorded, and the next start does not notice what servers change.`,
    );
  const writes = code === undefined;
  // With the last client, the first instance of a server fits the next one (L4).
  const client = await lastClientOf(folder);
  const guards = {
    offerReview: await keptOffers(holdsBack, writes ? access : 'read'),
    expects: client.expected,
    records: writes,
  };
  return {
    guards,
    onClient: (_: unknown, capabilities: Fields): void => client.note(capabilities),
  };
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
