import assert from 'node:assert/strict';
import { changedRows, unfoldedRows } from '../../../../../src/vscode/views/rows/treeNode.js';
import { treeModel } from '../../../../../src/vscode/views/rows/serverRows.js';
import { servedTool, snapshot, status, treeOptions as around } from '../statuses.js';

type Changes = Parameters<typeof status>[1];

function changed(before: Changes, after: Changes): string[] | undefined {
  const tree = (changes: Changes) =>
    treeModel(snapshot([status('a', changes), status('b')]), around);
  return changedRows(tree(before), tree(after))?.map(({ label }) => label);
}

describe('changedRows: only changed rows are drawn (E3)', () => {
  const instance = {
    id: '1',
    pid: 7,
    startedAt: 0,
    lastCallAt: undefined,
    callsInFlight: 0,
    use: { kind: 'shared' },
  } as const;

  it('draws no row if nothing changed', () => {
    const same = { tools: [servedTool('x')], offered: 1, instances: [instance] };
    assert.deepEqual(changed(same, { ...same, tools: [servedTool('x')] }), []);
  });

  it('draws only the changed row', () => {
    const calling = { ...instance, callsInFlight: 1 };
    assert.deepEqual(changed({ instances: [instance] }, { instances: [calling] }), ['shared']);
  });

  it('draws a server if its rows come and go', () => {
    assert.deepEqual(changed({}, { tools: [servedTool('x')], offered: 1 }), ['a']);
  });

  it('draws a group if its rows come and go', () => {
    const more = { ...instance, id: '2' };
    assert.deepEqual(changed({ instances: [instance] }, { instances: [instance, more] }), [
      'Instances',
    ]);
  });

  it('draws all rows if servers come, go or move', () => {
    const [a, b] = treeModel(snapshot([status('a'), status('b')]), around);
    assert.ok(a && b);
    assert.equal(changedRows([a, b], [b, a]), undefined);
    assert.equal(changedRows([a], [a, b]), undefined);
  });
});

describe('unfoldedRows: a server that fails is open', () => {
  const failed = { state: { kind: 'failed', since: 0, reason: '', fix: '' } } as const;
  const tree = (changes: Changes) => treeModel(snapshot([status('a', changes)]), around);
  const opened = (before: Changes | undefined, after: Changes, earlier = new Set<string>()) =>
    unfoldedRows(before ? tree(before) : [], tree(after), earlier).map(({ label }) => label);

  it('opens the row of a known server that fails, once', () => {
    const earlier = new Set<string>();
    assert.deepEqual(opened({}, failed, earlier), ['a']);
    assert.deepEqual(opened({}, failed, earlier), [], 'a person may have folded it');
  });

  it('leaves a new row, which the editor draws open, and a row that stays as it is', () => {
    assert.deepEqual(opened(undefined, failed), []);
    assert.deepEqual(opened({}, {}), []);
  });
});
