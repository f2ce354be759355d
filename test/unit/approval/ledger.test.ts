import assert from 'node:assert/strict';
import { MemoryStorage } from '../../support/core/memoryStorage.js';
import { ApprovalLedger, type ApprovedServer } from '../../../src/core/approval/ledger.js';
import type { LaunchDescription } from '../../../src/core/approval/fingerprint.js';

function launch(server: string, fingerprint: string, source = '/ws/.minds/mcp.yaml'): LaunchDescription {
  return { server, source, fingerprint, parts: [{ label: 'command', shown: fingerprint }] };
}

const key = 'mcpToolsets.approvals';

describe('approval ledger (S1)', () => {
  let storage: MemoryStorage;
  let asks: boolean;
  const open = (): ApprovalLedger => new ApprovalLedger({ storage, asks: () => asks });

  beforeEach(() => {
    storage = new MemoryStorage();
    asks = true;
  });

  it('approves exactly what was approved, and remembers it', async () => {
    const ledger = open();
    let changes = 0;
    ledger.onDidChange(() => changes++);
    assert.equal(ledger.judge(launch('a', '1')), 'pending');
    await ledger.approve([launch('a', '1')]);
    assert.equal(changes, 1);
    for (const each of [ledger, open()]) {
      assert.equal(each.judge(launch('a', '1')), 'approved');
      assert.equal(each.judge(launch('a', '2')), 'pending');
    }
  });

  it('remembers what was approved before it', async () => {
    const ledger = open();
    await ledger.approve([launch('a', '1')]);
    await ledger.approve([launch('a', '2')]);
    assert.equal(ledger.judge(launch('a', '1')), 'approved');
    assert.equal(ledger.approvedBefore(launch('a', '3'))?.fingerprint, '2');
    assert.equal(ledger.approvedBefore(launch('a', '3', '/other')), undefined);
    assert.equal(ledger.approvedBefore(launch('b', '3')), undefined);
  });

  it('revokes everything of one server of one file, and nothing else', async () => {
    const forgotten: ApprovedServer[] = [];
    const forgetOffers = (server: ApprovedServer): unknown => forgotten.push(server);
    const ledger = new ApprovalLedger({ storage, asks: () => asks, forgetOffers });
    await ledger.approve([launch('a', '1'), launch('a', '2'), launch('b', '3'), launch('a', '4', '/other')]);
    assert.equal(ledger.servers.length, 3);
    const revoked = { server: 'a', source: '/ws/.minds/mcp.yaml' };
    await ledger.revoke(revoked);
    assert.deepEqual(forgotten, [revoked]);
    const judged = [launch('a', '1'), launch('a', '2'), launch('b', '3'), launch('a', '4', '/other')];
    assert.deepEqual(
      judged.map((each) => open().judge(each)),
      ['pending', 'pending', 'approved', 'approved'],
    );
  });

  it('asks nobody who does not want to be asked, and approves nothing by that', () => {
    const ledger = open();
    asks = false;
    assert.equal(ledger.judge(launch('a', '1')), 'notAsked');
    asks = true;
    assert.equal(ledger.judge(launch('a', '1')), 'pending');
  });

  it("asks nothing about servers of the user's own file, and about all others", () => {
    const own = '/home/me/.minds/mcp.yaml';
    const ledger = new ApprovalLedger({ storage, asks: () => asks, isUsersOwn: (file) => file === own });
    assert.equal(ledger.judge(launch('a', '1', own)), 'notAsked');
    for (const source of ['/ws/.minds/mcp.yaml', '/ws/.mcprc', `/ws${own}`]) {
      assert.equal(ledger.judge(launch('a', '1', source)), 'pending');
    }
  });

  it("asks once about a folder of the workspace in which servers of the user's own file run (S1a)", async () => {
    const own = '/home/me/.minds/mcp.yaml';
    const ledger = new ApprovalLedger({
      storage,
      asks: () => asks,
      isUsersOwn: (file) => file.startsWith('/home/me/'),
      isInWorkspace: (folder) => folder === '/ws' || folder.startsWith('/ws/'),
    });
    const inFolder = (server: string, fingerprint: string, directory: string, source = own) => ({
      ...launch(server, fingerprint, source),
      directory,
    });
    assert.equal(ledger.judge(inFolder('a', '1', '/home/me')), 'notAsked');
    assert.equal(ledger.judge(inFolder('a', '1', '/ws/tools')), 'pending');
    await ledger.approve([inFolder('a', '1', '/ws/tools')]);
    assert.equal(ledger.judge(inFolder('b', '2', '/ws/tools')), 'approved');
    assert.equal(ledger.judge(inFolder('b', '2', '/ws/other')), 'pending');
    assert.equal(ledger.judge(inFolder('b', '2', '/ws/tools', '/home/me/.mcprc')), 'pending');
  });

  it('keeps the last launches of a server', async () => {
    const ledger = open();
    for (let index = 0; index < 30; index++) await ledger.approve([launch('a', String(index))]);
    await ledger.approve([launch('b', 'b')]);
    assert.equal((storage.get(key) as unknown[]).length, 21);
    assert.equal(ledger.judge(launch('a', '9')), 'pending');
    assert.equal(ledger.judge(launch('a', '10')), 'approved');
  });

  for (const stored of [
    'text',
    7,
    { a: 1 },
    [null, 1, { server: 'a' }],
    [{ server: 7, source: 'b', fingerprint: '1', parts: [] }],
    [{ server: 'a', source: 'b', fingerprint: '1' }],
    ...[{}, { label: 'command' }, { shown: 'x' }, { label: 'command', shown: 'x', digest: 1 }].map((part) => [
      { server: 'a', source: 'b', fingerprint: '1', parts: [part] },
    ]),
  ]) {
    it(`takes nothing from a store that holds ${JSON.stringify(stored)}`, () => {
      void storage.update(key, stored);
      assert.equal(open().judge(launch('a', '1')), 'pending');
      assert.deepEqual(open().servers, []);
    });
  }
});
