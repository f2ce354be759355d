import assert from 'node:assert/strict';
import { parseProcStat, parsePs } from '../../../src/core/processes/processTable.js';

describe('the process table', () => {
  it('/proc is read correctly, whatever the name of a program', () => {
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

  it('the output of ps is read without zombies', () => {
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
});
