import assert from 'node:assert/strict';
import {
  Parking,
  type CallTarget,
  type ParkableCall,
} from '../../../../src/core/gateway/modern/parking.js';

const call = { abandon: (): void => {}, waitsSince: undefined } as unknown as ParkableCall;
const target: CallTarget = {
  toolset: 't',
  conversation: 'd',
  method: 'tools/call',
  params: { name: 'a', arguments: { x: 1, y: [2] } },
};

describe('gateway: request states (G4b)', () => {
  const parking = new Parking();

  it('each request state is different, and finds its call whatever else the second request brings', () => {
    const [one, two] = [parking.put(call, target), parking.put(call, target)];
    assert.notEqual(one, two);
    const params = {
      arguments: { y: [2], x: 1 },
      name: 'a',
      _meta: {},
      requestState: one,
      inputResponses: {},
    };
    assert.equal(parking.take(one, { ...target, params }), call);
    assert.equal(parking.take(one, target), undefined, 'they are good once');
    parking.forget(two);
    assert.equal(parking.take(two, target), undefined);
  });

  it('an equal call without its request state is recognised', () => {
    assert.equal(parking.waits(target), false);
    const state = parking.put(call, target);
    assert.equal(
      parking.waits({ ...target, params: { ...target.params, inputResponses: {} } }),
      true,
    );
    assert.equal(parking.waits({ ...target, conversation: 'e' }), false);
    parking.forget(state);
    assert.equal(parking.waits(target), false);
  });

  it('a large call is read once, however many calls wait', () => {
    const states = Array.from({ length: 100 }, () => parking.put(call, target));
    let read = 0;
    const params = {
      get name(): string {
        read += 1;
        return 'b';
      },
    };
    assert.equal(parking.waits({ ...target, params: { arguments: params } }), false);
    assert.equal(read, 1);
    for (const state of states) parking.forget(state);
  });

  for (const [what, other] of [
    ['toolset', { ...target, toolset: 'u' }],
    ['conversation', { ...target, conversation: 'e' }],
    ['method', { ...target, method: 'prompts/get' }],
    ['tool', { ...target, params: { ...target.params, name: 'b' } }],
    ['argument', { ...target, params: { name: 'a', arguments: { x: 1, y: [3] } } }],
  ] as const) {
    it(`a request state is wrong for another ${what}, and stays valid for its own`, () => {
      const state = parking.put(call, target);
      assert.equal(parking.take(state, other), undefined);
      assert.equal(parking.take(state, target), call);
    });
  }

  it('a request state is wrong in another process, and with any other bit', () => {
    const state = parking.put(call, target);
    assert.equal(new Parking().take(state, target), undefined);
    const bytes = Buffer.from(state, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      assert.equal(parking.take(changed.toString('base64url'), target), undefined, `bit ${bit}`);
    }
    for (const wrong of [undefined, null, 5, '', 'x', {}, state.slice(1)])
      assert.equal(parking.take(wrong, target), undefined);
  });
});
