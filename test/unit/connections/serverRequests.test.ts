import assert from 'node:assert/strict';
import { ServerRequests } from '../../../src/core/connections/serverRequests.js';
import type { Fields, ServerClient } from '../../../src/core/protocol/client.js';
import { TransientMap } from '../../../src/core/base/transientMap.js';
import { collect } from '../../support/heap.js';

describe('requests of a server', () => {
  it('no answer to `roots/list` is kept, however often a server asks (S2)', async () => {
    const kept: WeakRef<object>[] = [];
    const client: ServerClient = {
      capabilities: { roots: {} },
      session: {},
      conversation: 'c',
      ask: () => {
        const answer: Fields = { roots: [] };
        kept.push(new WeakRef(answer));
        return Promise.resolve(answer);
      },
      tell: () => undefined,
    } as unknown as ServerClient;
    const peer = { exchangeOf: () => undefined, open: new TransientMap<never, never>() };
    const requests = new ServerRequests(peer, {}, () => undefined, client);
    for (let n = 0; n < 100; n++) await requests.answer({ method: 'roots/list' }, undefined);
    await requests.rootsAnswered;
    // A weak reference holds its object for the rest of the turn.
    await new Promise(setImmediate);
    collect();
    assert.equal(kept.filter((answer) => answer.deref() !== undefined).length, 0);
  });
});
