import { LoopShare } from '../../../src/core/base/turns.js';
import assert from 'node:assert/strict';
import { StartTimedOut, type ToolListing } from '../../../src/core/connections/connection.js';
import { keptListing, OfferLister } from '../../../src/core/connections/listing.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' as const } });

/** A server with these pages, of which an error is thrown. It records the requested cursors. */
function server(...pages: unknown[]): { list(): Promise<ToolListing>; asked: unknown[] } {
  const asked: unknown[] = [];
  const lister = new OfferLister({
    isCursor: (next) => next !== '',
    capabilities: { tools: {} },
    clock: new FakeClock(),
    share: new LoopShare(new FakeClock()),
    causeOfEnd: () => undefined,
    send: (_method, params) => {
      asked.push((params as { cursor: string } | undefined)?.cursor);
      const page = pages[asked.length - 1];
      return page instanceof Error ? Promise.reject(page) : Promise.resolve(page);
    },
  });
  return {
    asked,
    list: () => lister.listTools({ signal: new AbortController().signal, timeoutMs: 1000 }),
  };
}

describe('tool listing', () => {
  it('a list has all pages, until there is no cursor', async () => {
    for (const last of [{}, { nextCursor: null }, { nextCursor: '' }, { nextCursor: undefined }]) {
      const { list, asked } = server(
        { tools: [tool('a')], nextCursor: 'one' },
        { tools: [], nextCursor: 'two' },
        { tools: [tool('b')], ...last },
      );
      const { tools } = await list();
      assert.deepEqual(tools, [tool('a'), tool('b')]);
      assert.deepEqual(asked, [undefined, 'one', 'two']);
    }
  });

  it('a list has the very objects of the answer', async () => {
    const one = tool('a');
    const { tools } = await server({ tools: [one] }).list();
    assert.equal(tools[0], one);
  });

  it('a list fails at a repeated cursor, even an older one', async () => {
    const { list } = server(
      { tools: [], nextCursor: 'a' },
      { tools: [], nextCursor: 'b' },
      { tools: [], nextCursor: 'a' },
    );
    await assert.rejects(list(), {
      name: 'ListError',
      message: 'tools/list repeats the cursor "a" after 3 pages: the list has no end.',
    });
  });

  const endless = 'the list has no end.';
  for (const [name, why, ...pages] of [
    ['repeats a cursor', `tools/list repeats the cursor "x" after 2 pages: ${endless}`, 'x', 'x'],
    ['repeats a page', `tools/list repeats a page after 3 pages: ${endless}`, 'x', 'y', 'z'],
    ['refuses a page', 'tools/list failed: cursor expired', 'x', new Error('cursor expired')],
    ['has no list on a page', 'The answer to tools/list has no list of tools: {}', 'x', {}],
    ['names a long cursor', 'tools/list has a cursor of more than 16 KiB.', '#'.repeat(16_385)],
  ] as const) {
    it(`the tools of a list that ${name} count, with the reason for the lack of others (X3)`, async () => {
      const all = pages.map((one, index) => {
        if (typeof one !== 'string') return one;
        const last = name === 'repeats a page' && index === 2 ? 1 : index;
        return { tools: [tool(`t${last}`), tool(`u${last}`)], nextCursor: one };
      });
      const { tools, incomplete } = await server(...all).list();
      const names = name.startsWith('repeats') ? 'tutu' : 'tu';
      assert.deepEqual([tools.map(({ name: one }) => one[0]).join(''), incomplete], [names, why]);
    });
  }

  it('a page of malformed entries is not a repeated one', async () => {
    const { tools, incomplete } = await server(
      { tools: [null], nextCursor: 'a' },
      { tools: [null], nextCursor: 'b' },
      { tools: [tool('t')] },
    ).list();
    assert.deepEqual([tools, incomplete], [[tool('t')], undefined]);
  });

  it('the part of a list that came before the time limit counts (X3)', async () => {
    for (const isOuter of [false, true]) {
      const clock = new FakeClock();
      const start = new AbortController();
      let asked = 0;
      const lister = new OfferLister({
        isCursor: () => true,
        capabilities: { tools: {} },
        clock,
        share: new LoopShare(clock),
        causeOfEnd: () => undefined,
        send: (_method, _params, signal) =>
          ++asked === 1
            ? Promise.resolve({ tools: [tool('a')], nextCursor: 'x' })
            : new Promise((_, reject) =>
                signal.addEventListener('abort', () => reject(new Error('too late'))),
              ),
      });
      const listing = lister.listTools({ signal: start.signal, timeoutMs: 2000 });
      while (asked < 2) await new Promise(setImmediate);
      if (isOuter) start.abort(new StartTimedOut());
      else clock.advance(2000);
      const { tools, incomplete } = await listing;
      assert.deepEqual(tools, [tool('a')]);
      assert.equal(incomplete, 'The server did not list its tools within 2 s.');
    }
  });

  it('an empty cursor does not end a list if the protocol says so (X3)', async () => {
    const asked: unknown[] = [];
    const lister = new OfferLister({
      isCursor: () => true,
      capabilities: { tools: {} },
      clock: new FakeClock(),
      share: new LoopShare(new FakeClock()),
      causeOfEnd: () => undefined,
      send: (_method, params) => {
        asked.push(params);
        const first = { tools: [tool('a')], nextCursor: '' };
        return Promise.resolve(params ? { tools: [tool('b')] } : first);
      },
    });
    const { signal } = new AbortController();
    const { tools } = await lister.listTools({ signal, timeoutMs: 1000 });
    assert.deepEqual(tools, [tool('a'), tool('b')]);
    assert.deepEqual(asked, [undefined, { cursor: '' }]);
  });

  it('an answer without a list of tools fails', async () => {
    for (const answer of [undefined, null, [], { tools: 'none' }, {}]) {
      await assert.rejects(server(answer).list(), { name: 'ListError' });
    }
  });

  it('a list is stale once its first page is, unless the server reports changes or gave no time (X8e)', async () => {
    const clock = new FakeClock();
    const staleAfter = async (
      ms: number,
      pages: readonly object[],
      listChanged = false,
    ): Promise<unknown[]> => {
      const left = [...pages];
      const lister = new OfferLister({
        isCursor: () => true,
        capabilities: { tools: { listChanged } },
        clock,
        share: new LoopShare(new FakeClock()),
        causeOfEnd: () => undefined,
        send: () => Promise.resolve({ tools: [], ...left.shift() }),
      });
      await lister.listTools({ signal: new AbortController().signal, timeoutMs: 1000 });
      assert.deepEqual(lister.takeStale(), []);
      clock.advance(ms);
      return [...lister.takeStale(), '|', ...lister.takeStale()];
    };
    const two = [{ ttlMs: 500, nextCursor: 'a' }, { ttlMs: 200 }];
    assert.deepEqual(await staleAfter(199, two), ['|']);
    assert.deepEqual(await staleAfter(200, two), ['tools', '|']);
    assert.deepEqual(await staleAfter(200, two, true), ['|']);
    for (const ttlMs of [undefined, 0, -1, 'soon'])
      assert.deepEqual(await staleAfter(1e9, [{ ttlMs }]), ['|']);
  });

  it('a list names a hundred malformed entries, and counts the others (S2a)', async () => {
    const { tools, malformed } = await server(
      { tools: [...Array.from({ length: 150 }, () => 0), tool('a')], nextCursor: 'x' },
      { tools: [{}, ...Array.from({ length: 150 }, () => 'text'), tool('b')] },
    ).list();
    assert.deepEqual(tools, [tool('a'), tool('b')]);
    assert.equal(malformed.length, 100);
    assert.deepEqual(malformed.slice(-2), [
      { name: 'entry 99', detail: 'is `0`, not an object' },
      {
        name: 'entry 100',
        detail: 'is `0`, not an object; 201 more of its entries are left out too',
      },
    ]);
  });

  it('a list counts malformed entries among all, and ignores entries after the limit (S2a)', async () => {
    let looked = 0;
    const watched = new Proxy(tool('t'), {
      get: () => (looked += 1),
      ownKeys: () => ((looked += 1), []),
    });
    const message = 'The server lists more than 10000 tools.';
    const tooMany = { name: 'ListError', message };
    const zeros = (length: number): number[] => Array.from({ length }, () => 0);
    await assert.rejects(server({ tools: [...zeros(10_000), watched] }).list(), tooMany);
    const first = { tools: [...zeros(9_999), tool('a')], nextCursor: 'x' };
    const { tools, incomplete } = await server(first, { tools: [watched] }).list();
    assert.deepEqual([tools, incomplete], [[tool('a')], message]);
    assert.equal(looked, 0);
    assert.deepEqual((await server(first, { tools: [] }).list()).tools, [tool('a')]);
  });

  it('a list refuses a cursor of more than 16 KiB (X3)', async () => {
    const { list, asked } = server(
      { tools: [], nextCursor: 'x'.repeat(16 * 1024) },
      { tools: [], nextCursor: 'x'.repeat(16 * 1024 + 1) },
    );
    await assert.rejects(list(), {
      name: 'ListError',
      message: 'tools/list has a cursor of more than 16 KiB.',
    });
    assert.equal(asked.length, 2);
  });

  it('a list numbers malformed entries by their place in the whole list', async () => {
    const { list } = server(
      { tools: [tool('a'), null], nextCursor: 'x' },
      { tools: [tool('b'), { name: 5 }, 'text'] },
    );
    assert.deepEqual((await list()).malformed, [
      { name: 'entry 2', detail: 'is `null`, not an object' },
      { name: 'entry 4', detail: 'has no name' },
      { name: 'entry 5', detail: 'is `"text"`, not an object' },
    ]);
  });

  it('a list leaves out shown fields with other types than text (X3)', async () => {
    const odd = {
      ...tool('a'),
      title: { toString: 1 },
      mimeType: 5,
      annotations: { readOnlyHint: true, title: [] },
    };
    const described = {
      ...tool('c'),
      description: 5,
      inputSchema: { type: 'object', required: ['x', null] },
    };
    const kept = { ...tool('b'), title: 'B', annotations: { readOnlyHint: true } };
    const listed = await server({ tools: [odd, kept, described] }).list();
    assert.deepEqual(listed.tools, [
      { ...tool('a'), annotations: { readOnlyHint: true } },
      kept,
      { ...tool('c'), inputSchema: { type: 'object', required: ['x'] } },
    ]);
  });

  it('a list takes only prompts with named arguments', async () => {
    const prompts = [
      { name: 'a', arguments: [{ name: 'x' }], description: {}, title: null },
      { name: 'b', arguments: null },
      { name: 'd', arguments: [null, { name: 'x', description: null, required: null }] },
      { name: 'e', arguments: {} },
      { name: 'f', arguments: 'x' },
      { name: 'c', arguments: [{ name: 5 }] },
    ];
    const lister = new OfferLister({
      isCursor: () => true,
      capabilities: { prompts: {} },
      clock: new FakeClock(),
      share: new LoopShare(new FakeClock()),
      causeOfEnd: () => undefined,
      send: () => Promise.resolve({ prompts }),
    });
    const listed = await lister.listPrompts({
      signal: new AbortController().signal,
      timeoutMs: 1000,
    });
    assert.deepEqual(listed?.prompts, [
      { name: 'a', arguments: [{ name: 'x' }] },
      { name: 'b' },
      { name: 'd', arguments: [{ name: 'x' }] },
      { name: 'e' },
      { name: 'f' },
    ]);
    assert.deepEqual(listed.malformed, [
      { name: 'c', detail: 'has arguments that are not a list of names' },
    ]);
  });
});

describe('kept listings (P8)', () => {
  const whole = {
    tools: [tool('a')],
    malformed: [{ name: 'b', detail: 'It has no schema.' }],
    prompts: { prompts: [{ name: 'p' }], malformed: [], failure: 'There were more.' },
    resources: {
      resources: [{ uri: 'file:///r', name: 'r' }],
      templates: [{ uriTemplate: 'file:///{r}', name: 't' }],
      malformed: [],
    },
  };
  const kept = (changes: object): unknown => keptListing({ ...whole, ...changes });

  it('a kept listing is read back without unknown fields', () => {
    assert.deepEqual(kept({}), whole);
    assert.deepEqual(kept({ more: 'of another version' }), whole);
    const { tools, malformed } = whole;
    assert.deepEqual(keptListing({ tools, malformed }), { tools, malformed });
  });

  const nested = (levels: number): unknown =>
    levels === 0 ? {} : { properties: { a: nested(levels - 1) } };
  const wrong: Record<string, object> = {
    'no tools': { tools: undefined },
    'tools that are an object': { tools: { 0: tool('a') } },
    'a tool without a name': { tools: [{ inputSchema: { type: 'object' } }] },
    'a tool with a number as its name': { tools: [{ ...tool('a'), name: 7 }] },
    'a tool without a schema': { tools: [{ name: 'a' }] },
    'a tool that is nested too deep': {
      tools: [{ name: 'a', inputSchema: { type: 'object', ...(nested(300) as object) } }],
    },
    'no list of malformed entries': { malformed: undefined },
    'a malformed entry without a reason': { malformed: [{ name: 'b' }] },
    'prompts that are a list': { prompts: [] },
    'a prompt without a name': { prompts: { prompts: [{}], malformed: [] } },
    'a failure that is a number': { prompts: { prompts: [], malformed: [], failure: 1 } },
    'resources without templates': { resources: { resources: [], malformed: [] } },
    'a resource without a URI': {
      resources: { resources: [{ name: 'r' }], templates: [], malformed: [] },
    },
  };
  for (const [what, changes] of Object.entries(wrong)) {
    it(`a kept listing is invalid with ${what}`, () => assert.equal(kept(changes), undefined));
  }

  it('a kept listing is invalid unless it is an object', () => {
    for (const value of [undefined, null, [], 'text', 7])
      assert.equal(keptListing(value), undefined);
  });
});
