/**
 * No memory of a call outlives the call (P3, P4). Data reachable from an old table stays until a
 * full garbage collection, as `TransientMap` explains. Then the gateway pays for every call a
 * second time.
 */
import assert from 'node:assert/strict';
import { queryObjects } from 'node:v8';
import { LiveConnection } from '../../../src/core/connections/liveConnection.js';
import { rawWith } from '../../support/core/configText.js';
import { endStages, startStage } from '../../support/core/stage.js';
import { collect, oldSpace } from '../../support/heap.js';
import { RawClient } from '../gateway/rawClient.js';

/** Bytes of a call in each direction. */
const carried = 8_192;
const calls = 2_400;
const inFlight = 8;

describe('memory of a call', () => {
  let client: RawClient;

  afterEach(async () => {
    client.close();
    await endStages();
  });

  for (const isLeased of [true, false]) {
    it(`The memory of a call is freed with the call if instances are ${isLeased ? 'leased' : 'shared'}`, async function () {
      this.timeout(120_000);
      const stage = await startStage();
      await stage.edit({ one: rawWith(['echo'], isLeased ? {} : { 'truely-stateless': true }) });
      client = new RawClient((await stage.gateway()).endpoint('one', 'editor'));
      await client.initialize();
      const lane = async (lines: number): Promise<void> => {
        for (let line = 0; line < lines; line++) {
          const { result } = await client.ask('tools/call', {
            name: 'echo',
            arguments: { text: `${line} ${'x'.repeat(carried)}` },
          });
          assert.ok(JSON.stringify(result).length > carried);
          if (line % 60 === 0) collect({ type: 'minor' });
        }
      };
      const round = (): Promise<unknown> =>
        Promise.all(Array.from({ length: inFlight }, () => lane(calls / inFlight)));

      // V8 first learns the lifetimes. Objects become old after two rounds.
      await round();
      collect();
      const before = oldSpace();
      await round();
      for (let turn = 0; turn < 3; turn++) collect({ type: 'minor' });
      const left = (oldSpace() - before) / calls;
      assert.ok(left < carried / 2, `${left} of ${carried} bytes are left of each call`);
    });
  }
});

describe('memory of a connection', () => {
  afterEach(endStages);

  it('The connections of restarted servers are freed', async function () {
    this.timeout(120_000);
    const count = (): number => queryObjects(LiveConnection, { format: 'count' });
    const before = count();
    const stage = await startStage();
    await stage.edit({ one: rawWith(['echo'], { 'truely-stateless': true }) });
    for (let restart = 0; restart < 5; restart++) {
      await stage.text('one', 'echo', { text: 'x' });
      await stage.host.restart('one');
    }
    // The last ones may still be ending.
    const left = count() - before;
    assert.ok(left <= 3, `${left} connections are left of one server`);
  });
});
