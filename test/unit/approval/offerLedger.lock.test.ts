/** A lock as the baseline of a launch (S3d). */
import assert from 'node:assert/strict';
import { MemoryStorage } from '../../support/core/memoryStorage.js';
import { offersOf, type ShortOffers } from '../../support/core/reviewedOffers.js';
import { reviewedInstructions } from '../../../src/core/approval/offerPrints.js';
import { OfferLedger, type LockOf } from '../../../src/core/approval/offerLedger.js';
import { lockedServer } from '../../../src/core/lock/lockedServer.js';

const launch = { server: 'a', source: '/ws/.minds/mcp.yaml', fingerprint: '1', parts: [] };
const tools = (of: Readonly<Record<string, string>>): ShortOffers => ({
  tool: Object.entries(of).map(([name, description]) => ({
    name,
    description,
    inputSchema: { type: 'object' },
  })),
});
const lock = (offers: ShortOffers): LockOf => {
  const locked = lockedServer(offersOf(offers), undefined);
  return () => locked;
};

describe('a lock as the baseline (S3d)', () => {
  let storage: MemoryStorage;
  let ledger: OfferLedger;
  const open = (): OfferLedger =>
    new OfferLedger({
      storage,
      holdsBack: () => false,
      onStoreFailure: (error) => assert.fail(String(error)),
    });
  /** The changed names with their parts, after the server has listed. */
  const changed = (offers: ShortOffers): Record<string, string> => {
    const listed = offersOf(offers);
    ledger.note(launch, [listed], (text) => text);
    const changes = ledger.changesOf(launch, listed);
    return Object.fromEntries([...changes].map(([of, { parts }]) => [of, parts.join()]));
  };
  const accept = async (original: string): Promise<void> => {
    const name = { launch: '1', kind: 'tool', original } as const;
    ledger.accept(await ledger.changesNamed([name]));
  };

  beforeEach(() => {
    storage = new MemoryStorage();
    ledger = open();
  });

  it('At the first list after an approval, the lock is the baseline in place of that list', () => {
    ledger.lockOf = lock(tools({ same: 'S', other: 'O' }));
    assert.deepEqual(changed(tools({ same: 'S', other: 'evil', more: 'M' })), {
      'tool other': 'description',
      'tool more': 'new',
    });
  });

  it('A pull that changes the lock together with the tools accepts nothing for a person with a baseline', async () => {
    ledger.lockOf = lock(tools({ a: 'A' }));
    assert.deepEqual(changed(tools({ a: 'A' })), {});
    ledger.lockOf = lock(tools({ a: 'evil', b: 'evil too' }));
    const pulled = tools({ a: 'evil', b: 'evil too' });
    assert.deepEqual(changed(pulled), { 'tool a': 'description', 'tool b': 'new' });
    await accept('a');
    assert.deepEqual(changed(pulled), { 'tool b': 'new' });
  });

  it('A lock that appears or changes marks what differs from it, and its end takes nothing back', () => {
    assert.deepEqual(changed(tools({ a: 'A' })), {});
    ledger.lockOf = lock(tools({ a: 'as reviewed' }));
    assert.deepEqual(changed(tools({ a: 'A' })), { 'tool a': 'description' });
    assert.deepEqual(changed(tools({ a: 'as reviewed' })), { 'tool a': 'description' });
    ledger.lockOf = () => undefined;
    assert.deepEqual(changed(tools({ a: 'A' })), {});
    assert.deepEqual(changed(tools({ a: 'A', b: 'B' })), { 'tool b': 'new' });
  });

  it('What a person accepted by hand stays accepted, whatever the lock says, also in the next window', async () => {
    ledger.lockOf = lock(tools({ a: 'A' }));
    changed(tools({ a: 'mine' }));
    await accept('a');
    await ledger.stored();
    assert.deepEqual(changed(tools({ a: 'mine' })), {});
    ledger = open();
    ledger.lockOf = lock(tools({ a: 'another' }));
    assert.deepEqual(changed(tools({ a: 'mine' })), {});
    assert.deepEqual(changed(tools({ a: 'A' })), { 'tool a': 'description' });
  });

  it('A lock has the instructions of the server, so the manual of the file is no change from it', () => {
    ledger.lockOf = lock({ instructions: 'Own.' });
    const withManual = reviewedInstructions('Own.\n\nOf the file.', 'Own.');
    const listed = new Map([['instructions ', withManual]]);
    ledger.note(launch, [listed], (text) => text);
    assert.equal(ledger.changesOf(launch, listed).size, 0);
    ledger.forget(launch);
    assert.deepEqual(changed({ instructions: 'Other.' }), { 'instructions ': 'text' });
  });

  it('Resources have their own baseline beside a lock', () => {
    ledger.lockOf = lock({});
    const resources = { resource: [{ uri: 'a:1', name: 'one' }] };
    assert.deepEqual(changed(resources), {});
    assert.deepEqual(changed({ resource: [{ uri: 'a:2', name: 'two' }] }), {
      'resource a:2': 'new',
    });
  });

  it('While a lock cannot be read, each offer is changed and held, and nobody can accept it', async () => {
    assert.deepEqual(changed(tools({ a: 'A' })), {});
    ledger.lockOf = () => 'unreadable';
    assert.deepEqual(changed(tools({ a: 'A' })), { 'tool a': 'lock' });
    assert.ok(ledger.holdsBack(launch));
    assert.deepEqual(await ledger.changesNamed([{ launch: '1', kind: 'tool', original: 'a' }]), []);
    ledger.lockOf = () => undefined;
    assert.ok(!ledger.holdsBack(launch));
  });
});
