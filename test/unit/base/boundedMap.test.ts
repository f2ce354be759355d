import assert from 'node:assert/strict';
import { BoundedMap } from '../../../src/core/base/boundedMap.js';

describe('BoundedMap', () => {
  it('a bounded map forgets the oldest entry', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1).set('b', 2).set('c', 3);
    assert.deepEqual(
      [...map],
      [
        ['b', 2],
        ['c', 3],
      ],
    );
  });

  it('a bounded map reports forgotten and replaced values', () => {
    const lost: [number, number | undefined][] = [];
    const map: BoundedMap<string, number> = new BoundedMap(2, (value) =>
      lost.push([value, map.get('a')]),
    );
    map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
    map.delete('a');
    assert.deepEqual(lost, [
      [1, 3],
      [2, 3],
    ]);
  });

  it('setting a key again renews it', () => {
    const map = new BoundedMap<string, number>(2);
    map.set('a', 1).set('b', 2).set('a', 3).set('c', 4);
    assert.deepEqual(
      [...map],
      [
        ['a', 3],
        ['c', 4],
      ],
    );
  });
});
