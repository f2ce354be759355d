import assert from 'node:assert/strict';
import { DisposableStore } from '../../../../src/core/base/disposables.js';
import { Listings, type Listing } from '../../../../src/core/gateway/conversations/listings.js';
import { FakeClock, rest } from '../../../support/fakes/fakeClock.js';
import { FakeBackend, listingOf, MemoryLog, tool } from '../fakes.js';

interface Page {
  readonly tools: { readonly name: string }[];
  readonly nextCursor?: string;
}

describe('gateway: listings', () => {
  let backend: FakeBackend;
  let clock: FakeClock;
  let log: MemoryLog;
  let listings: Listings;
  let announced: string[];

  beforeEach(() => {
    backend = new FakeBackend();
    clock = new FakeClock();
    log = new MemoryLog();
    announced = [];
    const announce = (listing: Listing): void => {
      announced.push(`${listing.policy.road}/${listing.toolset} ${names(listing).join(' ')}`);
    };
    listings = new Listings({ backend, clock, log, pageSize: 3, coalesceMs: 20, announce });
  });

  afterEach(() => {
    listings.dispose();
    assert.equal(clock.pending, 0);
    assert.deepEqual(
      DisposableStore.liveNames().filter((name) => name.startsWith('gateway')),
      [],
    );
  });

  function page(listing: Listing, cursor?: string): Page {
    const json = listing.tools.page(cursor);
    assert.ok(json !== undefined, 'there is such a page');
    return JSON.parse(json) as Page;
  }

  function names(listing: Listing): string[] {
    return page(listing).tools.map(({ name }) => name);
  }

  it('tools are listed in order, with every field', () => {
    const odd = tool('b', { title: 'B', annotations: { readOnlyHint: true }, _meta: { x: 1 } });
    backend.set('t', [], { tools: [tool('a'), odd] });
    assert.deepEqual(page(listingOf(listings, 't')), { tools: [tool('a'), odd] });
  });

  it('a list without tools has one empty page', () => {
    backend.set('t', []);
    assert.deepEqual(page(listingOf(listings, 't')), { tools: [] });
  });

  it('one tool beyond a full page begins another page', () => {
    backend.set('t', ['a', 'b', 'c']);
    assert.equal(page(listingOf(listings, 't')).nextCursor, undefined);
    backend.set('t', ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
    const listing = listingOf(listings, 't');
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const { tools, nextCursor } = page(listing, cursor);
      seen.push(tools.map(({ name }) => name).join(''));
      cursor = nextCursor;
    } while (cursor !== undefined);
    assert.deepEqual(seen, ['abc', 'def', 'g']);
    clock.advance(20);
  });

  it('a cursor is valid for its version of the list', () => {
    backend.set('t', ['a', 'b', 'c', 'd']);
    const listing = listingOf(listings, 't');
    const { nextCursor } = page(listing);
    backend.set('t', ['a', 'b', 'c', 'e']);
    listing.refreshIfStale();
    assert.equal(listing.tools.page(nextCursor), undefined);
    clock.advance(20);
  });

  it('a cursor of another toolset, or invented, is refused', () => {
    backend.set('t', ['a', 'b', 'c', 'd']);
    backend.set('u', ['a', 'b', 'c', 'd']);
    const foreign = page(listingOf(listings, 'u')).nextCursor;
    const listing = listingOf(listings, 't');
    const forged = [
      `${listing.tools.version}:9`,
      `${listing.tools.version}:-1`,
      `${listing.tools.version}:1.5`,
      '',
      'x',
    ];
    for (const cursor of [
      foreign,
      ...forged.map((text) => Buffer.from(text).toString('base64url')),
      '\u0000',
      '%',
    ]) {
      assert.equal(listing.tools.page(cursor), undefined, `cursor ${String(cursor)}`);
    }
  });

  it('a cursor of an earlier run is refused, also after equally many lists', () => {
    backend.set('t', ['a', 'b', 'c', 'd']);
    const { nextCursor } = page(listingOf(listings, 't'));
    assert.ok(nextCursor);
    const later = new FakeBackend();
    later.set('t', ['w', 'x', 'y', 'z']);
    const restarted = new Listings({
      backend: later,
      clock,
      log,
      pageSize: 3,
      coalesceMs: 20,
      announce: () => {},
    });
    assert.equal(listingOf(restarted, 't').tools.page(nextCursor), undefined);
    restarted.dispose();
  });

  it('a burst of changes is announced once, 20 ms after the first', () => {
    backend.set('t', ['a']);
    listingOf(listings, 't', 'editor');
    for (const name of ['b', 'c', 'd']) backend.set('t', [name]);
    clock.advance(19);
    assert.deepEqual(announced, []);
    backend.set('t', ['e']);
    clock.advance(1);
    assert.deepEqual(announced, ['editor/t e']);
    clock.advance(100);
    assert.equal(announced.length, 1);
    backend.set('t', ['f']);
    clock.advance(20);
    assert.deepEqual(announced, ['editor/t e', 'editor/t f']);
  });

  it('a change of a toolset without a listing is not announced', () => {
    backend.set('t', ['a']);
    listingOf(listings, 'u', 'editor');
    backend.set('t', ['b']);
    assert.equal(clock.pending, 0);
  });

  it('an unchanged list keeps its version', () => {
    backend.set('t', ['a']);
    const listing = listingOf(listings, 't');
    const { version } = listing.tools;
    backend.set('t', ['a'], { instructions: 'New.' });
    backend.remove('t');
    backend.set('t', ['a']);
    clock.advance(20);
    assert.equal(listing.tools.version, version);
  });

  it('each list of each toolset has another version', () => {
    backend.set('t', ['a']);
    backend.set('u', ['a']);
    const versions = [
      listingOf(listings, 't').tools.version,
      listingOf(listings, 't', 'editor').tools.version,
    ];
    versions.push(listingOf(listings, 'u').tools.version);
    backend.set('t', ['b']);
    versions.push(listingOf(listings, 't').tools.version);
    backend.set('t', ['a']);
    versions.push(listingOf(listings, 't').tools.version);
    assert.equal(new Set(versions).size, 5);
    clock.advance(20);
  });

  it('a conversation has its own listing until that is forgotten (G3g)', async () => {
    backend.set('t', ['a']);
    backend.special.set('d1', [tool('a'), tool('b')]);
    const of = (conversation: string): Listing => listingOf(listings, 't', 'agent', conversation);
    const [one, two] = [of('d1'), of('d2')];
    assert.deepEqual([names(one), names(two)], [['a', 'b'], ['a']]);
    const { version } = two.tools;
    backend.special.set('d1', [tool('c')]);
    backend.changed('t');
    await clock.flow(20);
    assert.deepEqual(announced, ['agent/t c', 'agent/t a']);
    assert.equal(two.tools.version, version, 'its list is as it was');
    listings.forget(one);
    backend.changed('t');
    clock.advance(20);
    assert.deepEqual(announced.slice(2), ['agent/t a']);
  });

  it('a removed toolset has an empty list, and its tools after its return', () => {
    backend.set('t', ['a']);
    const listing = listingOf(listings, 't');
    backend.remove('t');
    clock.advance(20);
    assert.deepEqual([listing.isGone, names(listing)], [true, []]);
    backend.set('t', ['a']);
    clock.advance(20);
    assert.deepEqual([listing.isGone, names(listing)], [false, ['a']]);
    assert.deepEqual(announced, ['agent/t ', 'agent/t a']);
  });

  it('an exception of the backend costs one announcement, and is logged', async () => {
    backend.set('t', ['a']);
    backend.set('u', ['a']);
    listingOf(listings, 't');
    listingOf(listings, 'u');
    backend.broken.add('t');
    backend.set('t', ['b']);
    backend.set('u', ['b']);
    await clock.flow(20);
    assert.deepEqual(announced, ['agent/u b']);
    assert.match(log.lines.join(), /error: What t offers could not be listed: Error: no list/);
  });

  it('several changed listings are announced in several turns, and none after it is forgotten (P10)', async () => {
    backend.set('t', ['a']);
    for (const id of ['d1', 'd2', 'd3']) backend.special.set(id, [tool('a')]);
    const [, , third] = ['d1', 'd2', 'd3'].map((id) => listingOf(listings, 't', 'agent', id));
    assert(third);
    for (const id of ['d1', 'd2', 'd3']) backend.special.set(id, [tool(id)]);
    backend.changed('t');
    clock.advance(20);
    assert.deepEqual(announced, ['agent/t d1']);
    listings.forget(third);
    await rest();
    assert.deepEqual(announced, ['agent/t d1', 'agent/t d2']);
  });

  it('nothing is announced after the end', () => {
    backend.set('t', ['a']);
    listingOf(listings, 't');
    backend.set('t', ['b']);
    listings.dispose();
    backend.set('t', ['c']);
    clock.advance(100);
    assert.deepEqual(announced, []);
  });
});
