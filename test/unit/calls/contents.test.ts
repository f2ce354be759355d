/** What went in and out of calls, in memory. */
import assert from 'node:assert/strict';
import { approximateSize, CallContents, noteProgress } from '../../../src/core/calls/contents.js';
import { callFact } from './facts.js';

describe('the contents of calls', () => {
  it('the size of a value counts its texts, and ends for any value', () => {
    assert.deepEqual(approximateSize({ ab: ['cde', 1, null], f: true }), {
      size: 2 + 3 + 8 + 8 + 1 + 8,
      isWhole: true,
    });
    assert.deepEqual(approximateSize(undefined), { size: 0, isWhole: true });
    const loop: unknown[] = [];
    loop.push(loop);
    assert.deepEqual(approximateSize(loop), { size: 0, isWhole: false });
    assert.equal(approximateSize(Array.from({ length: 100_000 }, () => 'x')).isWhole, false);
  });

  it('the oldest calls make room, and a call that is too large is not kept', () => {
    const contents = new CallContents(100);
    const keep = (id: string, size: number): void => {
      const { content } = contents.begin('files', 0, id);
      contents.keep(callFact({ id }), content, size);
    };
    for (const [id, size] of [
      ['a', 40],
      ['b', 40],
      ['large', 101],
      ['endless', Infinity],
      ['c', 50],
    ] as const)
      keep(id, size);
    const kept = ['a', 'b', 'large', 'endless', 'c'].filter((id) => contents.get(id) !== undefined);
    assert.deepEqual(kept, ['b', 'c']);
    contents.clear();
    assert.equal(contents.get('c'), undefined);
  });

  it('a call hears the log of its server from its beginning until shortly after its end', () => {
    const contents = new CallContents();
    contents.hear('files', 0, 'before');
    const first = contents.begin('files', 10, {});
    const other = contents.begin('other', 10, {});
    contents.hear('files', 20, 'during');
    first.end(30);
    contents.hear('files', 100, 'shortly after');
    contents.hear('files', 300, 'later');
    assert.deepEqual([first.content.log, other.content.log], [['during', 'shortly after'], []]);
  });

  it('a call with endless progress and an endless log keeps the first part', () => {
    const contents = new CallContents();
    const { content } = contents.begin('files', 0, {});
    for (let index = 0; index < 1_000; index++) {
      contents.hear('files', 0, String(index));
      noteProgress(content, { progress: index });
    }
    assert.deepEqual([content.log.length, content.progress.length], [200, 100]);
  });
});
