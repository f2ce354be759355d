import assert from 'node:assert/strict';
import { nodeOf, nodesOf, serverOf } from '../../../../../src/vscode/views/rows/subject.js';

describe('argument of a command', () => {
  it('the argument of a command is a row or the id of a server', () => {
    const changed = { launch: '1', kind: 'tool', original: 't' };
    const node = {
      kind: 'tool',
      server: 's',
      name: 'n',
      conversation: 'd',
      original: 'o',
      published: 'p',
      ticked: true,
      changed,
    };
    assert.deepEqual(nodeOf({ node: { ...node, label: 'l' } }), node);
    assert.deepEqual([serverOf({ node }), serverOf('s'), nodeOf('s')], ['s', 's', undefined]);
  });

  it('the argument of a command is all selected rows if there are several', () => {
    const [one, other] = [{ node: { server: 'a' } }, { node: { server: 'b' } }];
    assert.deepEqual(nodesOf(one, [one, other]), [{ server: 'a' }, { server: 'b' }]);
    assert.deepEqual(nodesOf(one, undefined), [{ server: 'a' }]);
    assert.deepEqual(nodesOf(undefined, undefined), []);
  });

  it('any other argument of a command counts as undefined', () => {
    const node = new Proxy({}, { get: () => ({}) });
    for (const subject of [
      undefined,
      null,
      5,
      {},
      [],
      () => {},
      { node: null },
      { node: 'n' },
      { node: [] },
      { node },
    ]) {
      const { server, name, conversation } = nodeOf(subject) ?? {};
      assert.deepEqual(
        [serverOf(subject), server, name, conversation],
        [undefined, undefined, undefined, undefined],
      );
    }
  });
});
