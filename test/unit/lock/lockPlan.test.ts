import assert from 'node:assert/strict';
import { readLock, type Lock, type LockedPackage } from '../../../src/core/lock/lockFile.js';
import { planLock } from '../../../src/core/lock/lockPlan.js';

describe('the plan of a lock (S3d)', () => {
  const name = 'docs-server';
  const locked = { launcher: 'npx', name, version: '1.0.0', integrity: 'sha512-a' };

  function lockOf(named: LockedPackage): Lock {
    return new Map([['docs', { package: named, offers: new Map() }]]);
  }

  /** The lock and its changes if the server has this package now. */
  function planned(before: LockedPackage, now: LockedPackage) {
    const server = { package: now, offers: new Map() };
    const docs = {
      id: 'docs',
      origin: 'folder',
      state: { kind: 'running' },
      toLock: () => ({ server, isPlain: true, offers: new Map() }),
    } as const;
    const { text, changes } = planLock([docs], lockOf(before));
    const lock = readLock(text);
    assert.ok(typeof lock !== 'string');
    return { named: lock.get('docs')?.package, changes: changes.map(({ how }) => how) };
  }

  it('Where the version that runs is unknown, the entry keeps what another machine wrote', () => {
    const unknown = { launcher: 'npx', name };
    assert.deepEqual(planned(locked, unknown), { named: locked, changes: [] });
    const pinned = { ...unknown, version: '1.0.0' };
    assert.deepEqual(planned(locked, pinned), { named: locked, changes: [] });
  });

  it('An entry keeps nothing of another version or another package', () => {
    const newer = { launcher: 'npx', name, version: '1.1.0' };
    const how = 'docs-server 1.1.0, before docs-server 1.0.0';
    assert.deepEqual(planned(locked, newer), { named: newer, changes: [how] });
    const other = { launcher: 'npx', name: 'other-server' };
    assert.deepEqual(planned(locked, other).named, other);
  });
});
