import assert from 'node:assert/strict';
import type { ToolListing } from '../../../src/core/connections/connection.js';
import { OfferLister } from '../../../src/core/connections/listing.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' as const } });

/** A server with these pages, and the cursors it was asked for. */
function server(...pages: unknown[]): { list(): Promise<ToolListing>; asked: unknown[] } {
  const asked: unknown[] = [];
  const lister = new OfferLister({
    capabilities: { tools: {} },
    clock: new FakeClock(),
    causeOfEnd: () => undefined,
    send: (_method, params) => {
      asked.push((params as { cursor: string } | undefined)?.cursor);
      return Promise.resolve(pages[asked.length - 1]);
    },
  });
  return { asked, list: () => lister.listTools({ signal: new AbortController().signal, timeoutMs: 1000 }) };
}

describe('tool listing', () => {
  it('goes from page to page until there is no cursor', async () => {
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

  it('gives the very objects', async () => {
    const one = tool('a');
    const { tools } = await server({ tools: [one] }).list();
    assert.equal(tools[0], one);
  });

  it('sees a cursor again, also an older one', async () => {
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

  it('wants a list', async () => {
    for (const answer of [undefined, null, [], { tools: 'none' }, {}]) {
      await assert.rejects(server(answer).list(), { name: 'ListError' });
    }
  });

  it('counts odd entries by their place in the whole list', async () => {
    const { list } = server({ tools: [tool('a'), null], nextCursor: 'x' }, { tools: [tool('b'), { name: 5 }, 'text'] });
    assert.deepEqual((await list()).malformed, [
      { name: '(entry 2)', detail: 'is not an object but null' },
      { name: '(entry 4)', detail: 'has no name' },
      { name: '(entry 5)', detail: 'is not an object but "text"' },
    ]);
  });
});
