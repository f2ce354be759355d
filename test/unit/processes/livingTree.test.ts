import assert from 'node:assert/strict';
import { belonging, LivingTree } from '../../../src/core/processes/livingTree.js';
import { type ProcessEntry, type ProcessTable } from '../../../src/core/processes/processTable.js';
import { posixIt } from '../../support/notHere.js';

function table(
  ...rows: [pid: number, parent: number, group: number, session?: number, started?: string][]
): ProcessTable {
  return new Map(
    rows.map(([pid, parent, group, session = group, started = '1']) => [
      pid,
      { pid, parent, group, session, started },
    ]),
  );
}

const ids = (members: ReadonlyMap<number, ProcessEntry>): number[] =>
  [...members.keys()].sort((a, b) => a - b);
const none = new Map<number, ProcessEntry>();

describe('the members of a process tree', () => {
  it('a member is in the group or session of the tree, or descends from a member', () => {
    const all = table(
      [1, 0, 1],
      [50, 1, 50],
      [100, 50, 100],
      [101, 100, 100],
      [102, 1, 102, 100],
      [103, 101, 103],
      [104, 1, 103],
      [200, 50, 200],
    );
    assert.deepEqual(ids(belonging(all, [100], new Set(), none)), [100, 101, 102, 103, 104]);
  });

  it('a process with the reused id of the first one is not a member', () => {
    const all = table([1, 0, 1], [100, 1, 77], [101, 100, 77]);
    assert.deepEqual(ids(belonging(all, [100], new Set([100]), none)), []);
    assert.deepEqual(ids(belonging(all, [100], new Set(), none)), [100, 101]);
  });

  it('a process stays a member as long as its start time is the same', () => {
    const before = table([300, 1, 300, 300, 'then'], [301, 1, 301, 301, 'then']);
    const all = table(
      [1, 0, 1],
      [300, 1, 300, 300, 'then'],
      [301, 1, 301, 301, 'later'],
      [302, 300, 9],
    );
    assert.deepEqual(ids(belonging(all, [100], new Set([100]), before)), [300, 302]);
  });

  it('this process is never a member of a tree', () => {
    const all = table([process.pid, 1, 100], [100, 1, 100]);
    assert.deepEqual(ids(belonging(all, [100], new Set(), none)), [100]);
  });

  it('members of a tree are found even if parents form a loop', () => {
    const all = table([100, 101, 100], [101, 100, 100]);
    assert.deepEqual(ids(belonging(all, [100], new Set(), none)), [100, 101]);
  });
});

describe('a living tree', () => {
  const onPosix = posixIt('on Windows the system keeps the trees');
  /** Higher than any real id. */
  const group = 2 ** 30;

  onPosix('a tree that cannot be listed is not gone while a member is alive', async () => {
    const { pid, ppid } = process;
    let listing = table([pid, 1, pid], [ppid, 1, group]);
    const tree = new LivingTree({ groups: [group], mark: 'unused.' }, () =>
      Promise.resolve(listing),
    );
    assert.equal(await tree.look(), 1);
    listing = table();
    assert.equal(await tree.look(), 1);
    assert.deepEqual(tree.pids, [ppid]);
    assert.equal(await tree.goneBefore(() => 0), false);
    listing = table([pid, 1, pid], [ppid, 1, ppid, ppid, 'later']);
    assert.equal(await tree.look(), 0);
  });

  onPosix('a tree that cannot be listed is gone if no member is alive', async () => {
    const tree = new LivingTree({ groups: [group], mark: 'unused.' }, () =>
      Promise.resolve(table()),
    );
    assert.equal(await tree.goneBefore(() => 0), true);
  });
});
