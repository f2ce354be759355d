import assert from 'node:assert/strict';
import { TransientMap } from '../../../src/core/base/transientMap.js';
import { collect, oldSpace } from '../../support/heap.js';

describe('TransientMap', () => {
  it('a transient map keeps its entries in order through many changes', () => {
    const map = new TransientMap<number, string>();
    map.set(-1, 'first');
    for (let id = 10; id < 1000; id++) {
      map.set(id, `entry ${id}`);
      if (id >= 13) assert.equal(map.get(id - 3), `entry ${id - 3}`);
      map.delete(id - 3);
      assert.equal(map.get(-1), 'first');
      assert.equal(map.get(id), `entry ${id}`);
      assert.equal(map.has(id - 4), false);
    }
    assert.deepEqual(map.keys(), [-1, 997, 998, 999]);
    assert.deepEqual(map.values(), ['first', 'entry 997', 'entry 998', 'entry 999']);
    assert.equal(map.size, 4);
  });

  it('a transient map’s delete returns true for an existing key', () => {
    const map = new TransientMap<string, number>();
    map.set('a', 1);
    assert.equal(map.delete('a'), true);
    assert.equal(map.delete('a'), false);
    assert.equal(map.get('a'), undefined);
    assert.equal(map.size, 0);
  });

  it('removed entries are collected without a full collection', () => {
    const entries = 2000;
    const entrySize = 1000 * 8;
    /** Returns the bytes left by the entries. */
    const left = (
      map: Pick<Map<number, unknown>, 'delete'> & { set(key: number, value: unknown): unknown },
    ): number => {
      map.set(-1, undefined);
      // An entry older than two minor collections stays until a full one.
      for (let turn = 0; turn < 3; turn++) collect({ type: 'minor' });
      const before = oldSpace();
      for (let id = 0; id < entries; id++) {
        map.set(id, new Array(1000).fill(id));
        map.delete(id - 8);
        if (id % 100 === 0) collect({ type: 'minor' });
      }
      for (let turn = 0; turn < 3; turn++) collect({ type: 'minor' });
      return oldSpace() - before;
    };
    // V8 learns from the other map about the long life of such entries.
    const ofTransient = left(new TransientMap<number, unknown>());
    const ofMap = left(new Map<number, unknown>());
    const share = (bytes: number): number => bytes / (entries * entrySize);
    assert.ok(
      share(ofTransient) < 0.2,
      `${share(ofTransient)} of it are left, and ${share(ofMap)} by a Map`,
    );
  });
});
