import assert from 'node:assert/strict';
import { listAllTools } from '../../../src/core/connections/listing.js';

const tool = (name: string) => ({ name, inputSchema: { type: 'object' as const } });

/** A server with these pages, and the cursors it was asked for. */
function server(...pages: unknown[]): { page: (cursor: string | undefined) => Promise<unknown>; asked: unknown[] } {
  const asked: unknown[] = [];
  return {
    asked,
    page: (cursor) => {
      asked.push(cursor);
      return Promise.resolve(pages[asked.length - 1]);
    },
  };
}

describe('tool listing', () => {
  it('goes from page to page until there is no cursor', async () => {
    for (const last of [{}, { nextCursor: null }, { nextCursor: '' }, { nextCursor: undefined }]) {
      const { page, asked } = server(
        { tools: [tool('a')], nextCursor: 'one' },
        { tools: [], nextCursor: 'two' },
        { tools: [tool('b')], ...last },
      );
      const { tools } = await listAllTools(page);
      assert.deepEqual(tools, [tool('a'), tool('b')]);
      assert.deepEqual(asked, [undefined, 'one', 'two']);
    }
  });

  it('gives the very objects', async () => {
    const one = tool('a');
    const { tools } = await listAllTools(server({ tools: [one] }).page);
    assert.equal(tools[0], one);
  });

  it('sees a cursor again, also an older one', async () => {
    const { page } = server(
      { tools: [], nextCursor: 'a' },
      { tools: [], nextCursor: 'b' },
      { tools: [], nextCursor: 'a' },
    );
    await assert.rejects(listAllTools(page), {
      name: 'ListError',
      message: 'tools/list repeats the cursor "a" after 3 pages: the list has no end.',
    });
  });

  it('wants a list', async () => {
    for (const answer of [undefined, null, [], { tools: 'none' }, {}]) {
      await assert.rejects(listAllTools(server(answer).page), { name: 'ListError' });
    }
  });

  it('counts odd entries by their place in the whole list', async () => {
    const { page } = server({ tools: [tool('a'), null], nextCursor: 'x' }, { tools: [tool('b'), { name: 5 }, 'text'] });
    assert.deepEqual((await listAllTools(page)).malformed, [
      { name: '(entry 2)', detail: 'is not an object but null' },
      { name: '(entry 4)', detail: 'has no name' },
      { name: '(entry 5)', detail: 'is not an object but "text"' },
    ]);
  });
});
