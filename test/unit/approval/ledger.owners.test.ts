/** Approvals of folders that another user owns (S1h). */
import assert from 'node:assert/strict';
import {
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { LaunchDescription } from '../../../src/core/approval/fingerprint.js';
import { ApprovalLedger } from '../../../src/core/approval/ledger.js';
import { MemoryApprovals } from '../../support/core/memoryApprovals.js';
import { itNotHere } from '../../support/notHere.js';

const asRootIt = itNotHere(
  process.getuid?.() !== 0,
  'Only root can give a folder to another user.',
);
/** The user `nobody` of most systems. */
const another = 65534;

describe('approvals and the owner of a folder (S1h)', () => {
  let folder: string;
  let store: MemoryApprovals;

  beforeEach(() => {
    store = new MemoryApprovals();
    folder = path.join(
      realpathSync.native(mkdtempSync(path.join(tmpdir(), 'mcp-toolsets-owner-'))),
      'project',
    );
    mkdirSync(path.join(folder, '.minds'), { recursive: true });
  });
  afterEach(() => rmSync(path.dirname(folder), { recursive: true }));

  const launch = (fingerprint: string, file = '.minds/mcp.yaml'): LaunchDescription => ({
    server: 'a',
    source: path.join(folder, file),
    fingerprint,
    parts: [{ label: 'command', shown: fingerprint }],
  });

  async function open(more: object = {}): Promise<ApprovalLedger> {
    const ledger = new ApprovalLedger({ store, asks: () => true, ...more });
    await ledger.load();
    return ledger;
  }

  it('an approval counts in a folder of the person, and in one that is missing now', async () => {
    await (await open()).approve([launch('1')]);
    assert.equal((await open()).judge(launch('1')), 'approved');
    rmSync(folder, { recursive: true });
    assert.equal((await open()).judge(launch('1')), 'approved');
  });

  for (const made of ['', '.minds'])
    for (const file of made === '' ? ['.minds/mcp.yaml', '.mcprc'] : ['.minds/mcp.yaml'])
      asRootIt(
        `${made || 'a folder'} that another user made at the same path inherits no approval of ${file}`,
        async () => {
          await (await open()).approve([launch('1', file)]);
          rmSync(folder, { recursive: true });
          mkdirSync(path.join(folder, '.minds'), { recursive: true });
          chownSync(path.join(folder, made), another, another);
          const ledger = await open();
          assert.equal(ledger.judge(launch('1', file)), 'pending');
          assert.equal(ledger.approvedBefore(launch('2', file)), undefined);
          assert.equal(ledger.isKept(launch('1', file)), false);
          const before = store.all;
          await ledger.approve([launch('1', file)]);
          assert.deepEqual(store.all, before, 'nothing is stored');
          assert.equal(ledger.judge(launch('1', file)), 'approved', 'for this process');
          assert.equal((await open()).judge(launch('1', file)), 'pending');
        },
      );

  asRootIt('a link that another user made in place of .minds inherits no approval', async () => {
    await (await open()).approve([launch('1')]);
    const own = path.join(folder, '.minds');
    mkdirSync(path.join(folder, 'of the person'));
    rmSync(own, { recursive: true });
    symlinkSync(path.join(folder, 'of the person'), own);
    lchownSync(own, another, another);
    assert.equal((await open()).judge(launch('1')), 'pending');
  });

  asRootIt(
    'a server of the person in a folder of another user of the workspace waits',
    async () => {
      const deps = { isUsersOwn: () => true, isInWorkspace: () => true };
      const own = { ...launch('1'), directory: folder };
      await (await open(deps)).approve([own]);
      assert.equal((await open(deps)).judge(own), 'approved');
      chownSync(folder, another, another);
      assert.equal((await open(deps)).judge(own), 'pending');
    },
  );
});
