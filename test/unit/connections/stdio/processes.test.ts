import assert from 'node:assert/strict';
import { belonging } from '../../../../src/core/connections/stdio/livingTree.js';
import {
  parseProcStat,
  parsePs,
  parseWindows,
  type ProcessEntry,
  type ProcessTable,
} from '../../../../src/core/connections/stdio/processTable.js';

function table(
  ...rows: [pid: number, parent: number, group: number, session?: number, started?: string][]
): ProcessTable {
  return new Map(
    rows.map(([pid, parent, group, session = group, started = '1']) => [pid, { pid, parent, group, session, started }]),
  );
}

const ids = (members: ReadonlyMap<number, ProcessEntry>): number[] => [...members.keys()].sort((a, b) => a - b);
const none = new Map<number, ProcessEntry>();

describe('process table', () => {
  it('reads /proc, whatever a program is named', () => {
    const rest = '1 500 500 0 -1 4194304 100 0 0 0 1 2 3 4 20 0 11 0 424242 1000 200';
    assert.deepEqual(parseProcStat(`501 (a b) (c) S ${rest}`), {
      pid: 501,
      parent: 1,
      group: 500,
      session: 500,
      started: '424242',
    });
    assert.equal(parseProcStat(`501 (x) Z ${rest}`), undefined);
    assert.equal(parseProcStat(''), undefined);
  });

  it('reads ps', () => {
    const text =
      '    1     0     1 Ss   Mon Sep  1 12:00:00 2025\n  77     1    70 Z    Mon Sep  1 12:00:01 2025\n  78  1 70 S+ Tue Sep  2 08:00:00 2025   \n';
    assert.deepEqual(
      [...parsePs(text).values()],
      [
        { pid: 1, parent: 0, group: 1, session: 0, started: 'Mon Sep  1 12:00:00 2025' },
        { pid: 78, parent: 1, group: 70, session: 0, started: 'Tue Sep  2 08:00:00 2025' },
      ],
    );
  });

  it('reads Windows’ listing, and believes no parent that is younger than its child', () => {
    const entries = parseWindows('4 0 100\r\n10 4 200\r\n11 10 150\r\n12 10 300\r\n\r\n');
    assert.deepEqual(
      [...entries.values()].map(({ pid, parent }) => [pid, parent]),
      [
        [4, 0],
        [10, 4],
        [11, 0],
        [12, 10],
      ],
    );
  });
});

describe('who belongs to a tree', () => {
  it('is in its group or session, or descends from one who is', () => {
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

  it('is not whoever has the first one’s id after it ended', () => {
    const all = table([1, 0, 1], [100, 1, 77], [101, 100, 77]);
    assert.deepEqual(ids(belonging(all, [100], new Set([100]), none)), []);
    assert.deepEqual(ids(belonging(all, [100], new Set(), none)), [100, 101]);
  });

  it('belonged before, and is still the same', () => {
    const before = table([300, 1, 300, 300, 'then'], [301, 1, 301, 301, 'then']);
    const all = table([1, 0, 1], [300, 1, 300, 300, 'then'], [301, 1, 301, 301, 'later'], [302, 300, 9]);
    assert.deepEqual(ids(belonging(all, [100], new Set([100]), before)), [300, 302]);
  });

  it('is never this process', () => {
    const all = table([process.pid, 1, 100], [100, 1, 100]);
    assert.deepEqual(ids(belonging(all, [100], new Set(), none)), [100]);
  });

  it('is found in loops too', () => {
    const all = table([100, 101, 100], [101, 100, 100]);
    assert.deepEqual(ids(belonging(all, [100], new Set(), none)), [100, 101]);
  });
});
