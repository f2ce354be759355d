/** What confines a process (G6g). */
import assert from 'node:assert/strict';
import {
  confinementHere,
  containerIn,
  differences,
  isFiltered,
  sharesProcesses,
} from '../../../src/core/base/confinement.js';

const here = confinementHere();

describe('what confines a process', () => {
  it('is known by the name of each value, and is equal for two programs that nothing separates', () => {
    assert.notEqual(here['user'], '');
    assert.deepEqual(differences(here, { ...here }), []);
    if (process.platform !== 'linux') return;
    assert.match(here['mount namespace'] ?? '', /^mnt:\[\d+\]$/);
    assert.match(here['filter of system calls'] ?? '', /^\d( \d+)?$/);
  });

  for (const name of Object.keys(here)) {
    it(`another ${name} is a difference, also if only one side has it`, () => {
      assert.deepEqual(differences(here, { ...here, [name]: 'another' }), [name]);
      const without = Object.fromEntries(Object.entries(here).filter(([key]) => key !== name));
      assert.deepEqual([differences(here, without), differences(without, here)], [[name], [name]]);
    });
  }

  it('process ids mean the same only in one process namespace of one start of the machine', () => {
    assert.ok(sharesProcesses(here, { ...here, 'network namespace': 'another', user: 'another' }));
    assert.ok(!sharesProcesses(here, { ...here, 'process namespace': 'another' }));
    assert.ok(!sharesProcesses(here, { ...here, boot: 'another' }));
  });

  it('a filter of a sandbox comes with the ban on new privileges, and one of a container without it', () => {
    const filter = 'filter of system calls';
    const ban = 'ban on new privileges';
    assert.ok(isFiltered({ [filter]: '2 1', [ban]: '1' }));
    assert.ok(!isFiltered({ [filter]: '2 1', [ban]: '0' }));
    assert.ok(!isFiltered({ [filter]: '0 0', [ban]: '1' }));
    assert.ok(!isFiltered({}));
  });

  const id = '3c1d9f'.padEnd(64, '0');
  for (const [groups, container] of [
    [`0::/system.slice/docker-${id}.scope`, id],
    [`12:cpu:/kubepods/burstable/pod1/${id}\n0::/`, id],
    ['0::/lxc.payload.box/init.scope', 'lxc.payload.box'],
    ['0::/user.slice/user-1000.slice/session-2.scope', ''],
    ['0::/', ''],
  ]) {
    it(`the container of ${groups} is ${container === '' ? 'none' : container}`, () =>
      assert.equal(containerIn(groups ?? ''), container));
  }
});
