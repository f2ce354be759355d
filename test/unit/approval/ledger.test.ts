import assert from 'node:assert/strict';
import { MemoryApprovals } from '../../support/core/memoryApprovals.js';
import { ApprovalLedger, type ApprovedServer } from '../../../src/core/approval/ledger.js';
import type { LaunchDescription } from '../../../src/core/approval/fingerprint.js';

function launch(
  server: string,
  fingerprint: string,
  source = '/ws/.minds/mcp.yaml',
): LaunchDescription {
  return { server, source, fingerprint, parts: [{ label: 'command', shown: fingerprint }] };
}

describe('approval ledger (S1)', () => {
  let store: MemoryApprovals;
  let asks: boolean;
  const open = async (): Promise<ApprovalLedger> => {
    const ledger = new ApprovalLedger({ store, asks: () => asks });
    await ledger.load();
    return ledger;
  };

  beforeEach(() => {
    store = new MemoryApprovals();
    asks = true;
  });

  it('the ledger approves exactly the given launches, and remembers them', async () => {
    const ledger = await open();
    let changes = 0;
    ledger.onDidChange(() => changes++);
    assert.equal(ledger.judge(launch('a', '1')), 'pending');
    await ledger.approve([launch('a', '1')]);
    assert.ok(changes > 0);
    for (const each of [ledger, await open()]) {
      assert.equal(each.judge(launch('a', '1')), 'approved');
      assert.equal(each.judge(launch('a', '2')), 'pending');
    }
  });

  it('the ledger remembers the previous approved launch', async () => {
    const ledger = await open();
    await ledger.approve([launch('a', '1')]);
    await ledger.approve([launch('a', '2')]);
    assert.equal(ledger.judge(launch('a', '1')), 'approved');
    assert.equal(ledger.approvedBefore(launch('a', '3'))?.fingerprint, '2');
    assert.equal(ledger.approvedBefore(launch('a', '3', '/other/.minds/mcp.yaml')), undefined);
    assert.equal(ledger.approvedBefore(launch('b', '3')), undefined);
  });

  it('a revocation covers everything of one server of one file, and nothing else', async () => {
    const forgotten: ApprovedServer[] = [];
    const forgetOffers = (server: ApprovedServer): unknown => forgotten.push(server);
    const ledger = new ApprovalLedger({ store, asks: () => asks, forgetOffers });
    await ledger.approve([
      launch('a', '1'),
      launch('a', '2'),
      launch('b', '3'),
      launch('a', '4', '/other/.minds/mcp.yaml'),
    ]);
    assert.equal(ledger.servers.length, 3);
    const revoked = { server: 'a', source: '/ws/.minds/mcp.yaml' };
    await ledger.revoke(revoked);
    assert.deepEqual(forgotten, [revoked]);
    const judged = [
      launch('a', '1'),
      launch('a', '2'),
      launch('b', '3'),
      launch('a', '4', '/other/.minds/mcp.yaml'),
    ];
    for (const each of [ledger, await open()]) {
      assert.deepEqual(
        judged.map((launch) => each.judge(launch)),
        ['pending', 'pending', 'approved', 'approved'],
      );
    }
  });

  it('a person who wants no questions gets none, and approves nothing by that', async () => {
    const ledger = await open();
    asks = false;
    assert.equal(ledger.judge(launch('a', '1')), 'notAsked');
    asks = true;
    assert.equal(ledger.judge(launch('a', '1')), 'pending');
  });

  it(`servers of the user’s own file need no question, and all others do`, () => {
    const own = '/home/me/.minds/mcp.yaml';
    const ledger = new ApprovalLedger({
      store,
      asks: () => asks,
      isUsersOwn: (file) => file === own,
    });
    assert.equal(ledger.judge(launch('a', '1', own)), 'notAsked');
    for (const source of ['/ws/.minds/mcp.yaml', '/ws/.mcprc', `/ws${own}`]) {
      assert.equal(ledger.judge(launch('a', '1', source)), 'pending');
    }
  });

  it(`each workspace folder of the user’s own servers needs one question (S1c)`, async () => {
    const own = '/home/me/.minds/mcp.yaml';
    const ledger = new ApprovalLedger({
      store,
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

  it('the ledger keeps the last launches of a server', async () => {
    const ledger = await open();
    for (let index = 0; index < 30; index++) await ledger.approve([launch('a', String(index))]);
    await ledger.approve([launch('b', 'b')]);
    assert.equal(store.all.length, 21);
    assert.equal(ledger.judge(launch('a', '9')), 'pending');
    assert.equal(ledger.judge(launch('a', '10')), 'approved');
  });

  it('every process knows at once what another one approves or revokes', async () => {
    const [one, two] = [await open(), await open()];
    let heard = 0;
    two.onDidChange(() => heard++);
    await one.approve([launch('a', '1')]);
    await two.approve([launch('b', '2')]);
    assert.deepEqual(
      [two.judge(launch('a', '1')), one.judge(launch('b', '2'))],
      ['approved', 'approved'],
    );
    await one.revoke({ server: 'a', source: '/ws/.minds/mcp.yaml' });
    assert.equal(two.judge(launch('a', '1')), 'pending');
    assert.ok(heard >= 2);
  });

  it('an allowed launch may start until the process ends, and is not stored', async () => {
    const ledger = await open();
    ledger.allow([launch('a', '1')]);
    assert.equal(ledger.judge(launch('a', '1')), 'approved');
    assert.deepEqual([store.text, (await open()).judge(launch('a', '1'))], [undefined, 'pending']);
  });

  it('an approval counts even if it cannot be stored, and the failure is reported', async () => {
    const ledger = await open();
    store.change = () => Promise.reject(new Error('read-only'));
    await assert.rejects(ledger.approve([launch('a', '1')]), /read-only/);
    assert.equal(ledger.judge(launch('a', '1')), 'approved');
  });

  it('an approval in a store inside its folder counts only in its process', async () => {
    const home = '/home/me/.minds/mcp.yaml';
    await (await open()).approve([launch('a', '1')]);
    const planted = JSON.parse(store.text ?? '') as { approvals: object[] };
    planted.approvals.push(launch('a', '2', home), {
      ...launch('a', '3', '/x/.minds/mcp.yaml'),
      directory: '/home/me',
    });
    store = new MemoryApprovals(JSON.stringify(planted));
    const ledger = await open();
    assert.deepEqual(
      [ledger.judge(launch('a', '1')), ledger.judge(launch('a', '2', home))],
      ['approved', 'pending'],
    );
    assert.equal(ledger.approvedBefore(launch('a', '2', home)), undefined);
    assert.deepEqual(
      [ledger.isKept(launch('a', '1')), ledger.isKept(launch('a', '2', home))],
      [true, false],
    );
    const before = store.text;
    await ledger.approve([launch('a', '2', home)]);
    assert.deepEqual([ledger.judge(launch('a', '2', home)), store.text], ['approved', before]);
    assert.equal((await open()).judge(launch('a', '2', home)), 'pending');
  });

  const whole = { version: 1, approvals: [launch('a', '1')] };
  for (const [text, why] of [
    ['text', /no whole JSON/],
    ['7', /no whole JSON/],
    ['', /no whole JSON/],
    [JSON.stringify(whole).slice(0, 60), /no whole JSON/],
    [`${JSON.stringify(whole)}}`, /no whole JSON/],
    ['['.repeat(100_000), /no whole JSON/],
    [JSON.stringify({ ...whole, version: 2 }), /another version/],
    [JSON.stringify({ approvals: whole.approvals }), /another version/],
    [JSON.stringify({ ...whole, approvals: { a: 1 } }), /no list/],
    [JSON.stringify({ ...whole, revoked: { a: 1 } }), /no list/],
  ] as const) {
    it(`a store that was not understood approves nothing, says so and stays: ${text.slice(0, 120)} (S1h)`, async () => {
      store = new MemoryApprovals(text);
      const ledger = await open();
      assert.match(ledger.problem ?? '', why);
      assert.equal(ledger.judge(launch('a', '1')), 'pending');
      await assert.rejects(ledger.approve([launch('b', '2')]), why);
      await assert.rejects(ledger.revoke(launch('c', '3')), why);
      assert.equal(store.text, text);
      store.text = JSON.stringify(whole);
      await store.open();
      assert.deepEqual([ledger.problem, ledger.judge(launch('a', '1'))], [undefined, 'approved']);
    });
  }

  for (const strange of [
    null,
    1,
    { server: 'a' },
    { ...launch('a', '1'), server: 7 },
    { ...launch('a', '1'), parts: undefined },
    ...[{}, { label: 'command' }, { shown: 'x' }, { label: 'command', shown: 'x', digest: 1 }].map(
      (part) => ({
        ...launch('a', '1'),
        parts: [part],
      }),
    ),
  ]) {
    it(`an entry that was not understood approves nothing and stays: ${JSON.stringify(strange)} (S1h)`, async () => {
      const later = { ...launch('c', '3'), since: 4 };
      const stored = {
        later: 5,
        version: 1,
        approvals: [strange, later],
        revoked: [null, { server: 'x' }],
      };
      store = new MemoryApprovals(JSON.stringify(stored));
      const ledger = await open();
      assert.deepEqual(
        [ledger.problem, ledger.judge(launch('a', '1')), ledger.judge(launch('c', '3'))],
        [undefined, 'pending', 'approved'],
      );
      await ledger.approve([launch('b', '2')]);
      await ledger.revoke(launch('d', '4'));
      const {
        later: field,
        approvals,
        revoked,
      } = JSON.parse(store.text ?? '') as Record<string, unknown[]>;
      const kept = JSON.parse(JSON.stringify(strange)) as unknown;
      assert.deepEqual([field, approvals?.[0], approvals?.[1]], [5, kept, later]);
      assert.deepEqual(revoked?.slice(0, 2), [null, { server: 'x' }]);
    });
  }

  it('a revocation also removes an entry of a later product for the server (S1h)', async () => {
    const strange = { ...launch('a', '1'), parts: 'of another form' };
    store = new MemoryApprovals(
      JSON.stringify({ version: 1, approvals: [strange, { ...strange, server: 'b' }] }),
    );
    await (await open()).revoke(launch('a', '1'));
    assert.deepEqual(store.all, [{ ...strange, server: 'b' }]);
  });

  it('a revoked server waits even if a person wants no questions, but not if every file counts (S1i)', async () => {
    const ledger = await open();
    await ledger.approve([launch('a', '1')]);
    await ledger.revoke(launch('a', '1'));
    asks = false;
    const all = new ApprovalLedger({ store, asks: () => asks, startsRevoked: true });
    await all.load();
    for (const [each, verdict] of [
      [ledger, 'pending'],
      [await open(), 'pending'],
      [all, 'notAsked'],
    ] as const) {
      assert.equal(each.judge(launch('a', '2')), verdict);
      assert.equal(each.judge(launch('b', '1')), 'notAsked');
    }
    await ledger.approve([launch('a', '2')]);
    assert.deepEqual(
      [ledger.judge(launch('a', '2')), ledger.judge(launch('a', '3'))],
      ['notAsked', 'notAsked'],
    );
    // Such a store does not say what was revoked.
    store.text = '';
    await store.open();
    assert.deepEqual(
      [ledger.judge(launch('b', '1')), all.judge(launch('b', '1'))],
      ['pending', 'notAsked'],
    );
  });
});
