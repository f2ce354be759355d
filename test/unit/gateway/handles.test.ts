import assert from 'node:assert/strict';
import type { ServedToolset } from '../../../src/core/gateway/backend.js';
import { handleArgument, handleNote, Handles, withoutHandle } from '../../../src/core/gateway/handles.js';
import { tool } from './fakes.js';

const own = 'mcp_toolsets_conversation';

describe('gateway: handles of conversations (G3)', () => {
  const handles = new Handles('token');

  it('are each another, and are read where they were minted', () => {
    const minted = Array.from({ length: 100 }, () => handles.mint());
    assert.equal(new Set(minted.map((one) => handles.read(one)?.id)).size, 100);
    for (const one of minted) assert.equal(handles.read(one)?.isOfEarlierRun, false);
  });

  it('hold for the token after a restart, which they show, and for no other token', () => {
    const handle = handles.mint();
    assert.deepEqual(new Handles('token').read(handle), { id: handles.read(handle)?.id, isOfEarlierRun: true });
    assert.equal(new Handles('other').read(handle), undefined);
  });

  it('are none when any bit is another', () => {
    const bytes = Buffer.from(handles.mint(), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const other = Buffer.from(bytes);
      other.writeUInt8(other.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      assert.equal(handles.read(other.toString('base64url')), undefined, `bit ${bit}`);
    }
  });

  for (const wrong of [undefined, null, 5, '', 'x', 'A'.repeat(36), 'A'.repeat(37), { length: 36 }, ['x']]) {
    it(`are not ${JSON.stringify(wrong)}`, () => assert.equal(handles.read(wrong), undefined));
  }

  it('are an argument that is none of the tool’s own, and the rest of the schema stays', () => {
    const properties = { [own]: { type: 'number' }, [`${own}_2`]: { type: 'string' }, text: { type: 'string' } };
    const inputSchema = { type: 'object' as const, properties, required: [own], additionalProperties: false };
    const taken = tool('a', { inputSchema });
    const served = { id: 's', tools: [taken, tool('b')], instructions: undefined } as unknown as ServedToolset;
    const [first, second] = handles.takenBy(served).tools;
    assert.deepEqual(Object.keys(first?.inputSchema.properties ?? {}), [own, `${own}_2`, 'text', `${own}_3`]);
    assert.deepEqual([first?.inputSchema.required, first?.inputSchema['additionalProperties']], [[own], false]);
    assert.deepEqual(Object.keys(second?.inputSchema.properties ?? {}), [own]);
    assert.equal(taken.inputSchema.properties, properties, 'what is served to others stays');
    assert.equal(handles.takenBy(served), handles.takenBy(served), 'what stays the same stays the same object');
    assert.deepEqual(withoutHandle(taken, { [own]: 5, [`${own}_3`]: 'h', text: 'x' }), {
      handle: 'h',
      rest: { [own]: 5, text: 'x' },
    });
    assert.deepEqual(withoutHandle(taken, undefined), { handle: undefined, rest: undefined });
    assert.match(handleNote(taken, undefined, 'minted'), new RegExp(`"${own}_3": "minted"`));
    assert.equal(handleArgument(tool('b')), own);
  });
});
