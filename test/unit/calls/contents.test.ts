/** What went in and out of calls, in memory. */
import assert from 'node:assert/strict';
import { approximateSize, CallContents, Recording } from '../../../src/core/calls/contents.js';

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
      const recording = new Recording({}, 0);
      recording.id = id;
      contents.keep(recording, size);
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
    const [first, other] = [new Recording({}, 10), new Recording({}, 10)];
    contents.listen('files', first);
    contents.listen('other', other);
    contents.hear('files', 20, 'during');
    first.heard.endedAt = 30;
    contents.hear('files', 100, 'shortly after');
    contents.hear('files', 300, 'later');
    assert.deepEqual([first.log, other.log], [['during', 'shortly after'], []]);
  });

  it('calls that are over no longer hear a log, however many there were', () => {
    const contents = new CallContents();
    const recordings = Array.from({ length: 10_000 }, (_, at) => new Recording({}, at));
    for (const recording of recordings) {
      contents.listen('files', recording);
      recording.heard.endedAt = recording.at;
    }
    contents.hear('files', 10_000, 'late');
    assert.equal(recordings.filter(({ log }) => log.length > 0).length, 200);
  });

  it('a call with endless progress and an endless log keeps the first part', () => {
    const contents = new CallContents();
    const recording = new Recording({}, 0);
    contents.listen('files', recording);
    for (let index = 0; index < 1_000; index++) {
      contents.hear('files', 0, String(index));
      recording.onProgress({ progress: index });
    }
    assert.deepEqual([recording.log.length, recording.progress.length], [200, 100]);
  });
});
