/**
 * `mcp-toolsets approve`: shows and approves the waiting launches (S1), or shows and accepts
 * changed offers (S3).
 */
import { readConfig } from './configFile.js';
import { FolderApprovals } from './folderApprovals.js';
import { Interruption } from './interruption.js';
import type { Options, Words } from './options.js';
import { markedReview } from './markedReview.js';
import { complain, complainOf, print, toJson } from './output.js';
import { inOrder } from './render.js';
import { keptOffers } from './keptOffers.js';
import { agreesOnTerminal, isTerminal } from './terminalQuestion.js';
import { withEngine, type Run, type RunningEngine } from './withEngine.js';
import type { OfferChange } from '../core/approval/offerLedger.js';
import { offerReview } from '../core/approval/offerReview.js';
import { noClient, type ExpectedClient, type Fields } from '../core/protocol/client.js';

/** @param names the ids of servers; without names, all waiting servers */
export async function approve(run: Run, names: Words, { yes }: Options): Promise<number> {
  const { servers, problems } = readConfig(run);
  const isAbout = (server: string | undefined): boolean =>
    server === undefined || names.includes(server);
  const wrong = problems.filter(({ severity, server }) => severity === 'error' && isAbout(server));
  complainOf(inOrder(wrong));
  const unknown = names.filter((name) => !servers.some(({ id }) => id === name));
  for (const name of unknown) complain(`There is no server "${name}".`);
  if (wrong.length > 0 || unknown.length > 0) return 1;
  const approvals = await FolderApprovals.open(run);
  const interruption = new Interruption();
  try {
    if (approvals.ledger.problem !== undefined) return complain('Nothing is approved.');
    const waiting = approvals.waitingOf(
      servers.filter(({ id }) => names.length === 0 || names.includes(id)),
    );
    if (waiting.length === 0) {
      if (names.length > 0) return await acceptChanges(run, names, yes);
      return print(run.json ? '[]' : 'No server waits for approval.');
    }
    if (run.json) print(toJson(waiting.map(({ launch }) => launch)));
    const isAsked = !yes && isTerminal();
    if (!isAsked && !run.json) print(approvals.review(waiting));
    if (!isAsked && !yes) {
      return complain('Nothing was approved. Run this at a terminal, or add --yes.');
    }
    const agreed = yes ? waiting : await approvals.agreed(waiting, interruption.signal);
    if (agreed.length === 0) return complain('Nothing is approved.');
    if (!approvals.report(await approvals.approve(agreed))) return 1;
    if (!run.json) print(`Approved: ${agreed.map(({ launch }) => launch.server).join(', ')}.`);
    return agreed.length < waiting.length ? 1 : 0;
  } finally {
    interruption.dispose();
    approvals.dispose();
  }
}

/** Accepts exactly the shown changes, even if the servers list others before the answer. */
async function acceptChanges(run: Run, names: Words, yes: boolean): Promise<number> {
  const offers = await keptOffers(false, 'accept');
  if (!offers.isUsable) return 1;
  const only = names.length === 1 ? names[0] : undefined;
  let shown: readonly OfferChange[] = [];
  const accept = async ({ host, start, signal }: RunningEngine): Promise<number> => {
    await start();
    const changed = host.snapshot.servers
      .filter(({ id }) => names.includes(id))
      .flatMap(({ changedOffers }) => changedOffers);
    const changes = await offers.changesNamed(changed);
    if (changes.length === 0) return 0;
    shown = [...shown, ...changes];
    const review = markedReview(offerReview(changes, (file) => file));
    if (!run.json && (yes || !isTerminal())) print(review);
    const about = changes
      .map(({ server, kind, original }) => `${server}: ${kind} ${original}`)
      .join(', ');
    const agreement = {
      review,
      about: [about],
      question: 'Accept this as it is shown now?',
    };
    if (!yes && !(await agreesOnTerminal(agreement, signal))) {
      return complain('Nothing was accepted. Run this at a terminal, or add --yes.');
    }
    offers.accept(changes);
    await offers.stored();
    return run.json ? 0 : print('Accepted. `serve` and `connect` know it when they start next.');
  };
  // Some servers list more for clients that can do more, so each kind of client has its own
  // baseline.
  for (const declared of ['{}', ...offers.declaredFor(names)]) {
    const expects = (): ExpectedClient => ({
      ...noClient,
      capabilities: JSON.parse(declared) as Fields,
    });
    const code = await withEngine(
      {
        ...run,
        only,
        offerReview: offers,
        expects,
        asks: false,
        approve: false,
      },
      accept,
    );
    if (code !== 0) return code;
  }
  if (run.json) return print(toJson(shown));
  if (shown.length > 0) return 0;
  return print('Nothing waits for approval, and nothing that was offered has changed.');
}
