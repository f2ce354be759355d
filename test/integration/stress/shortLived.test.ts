/**
 * Nothing of a call outlives it (P3, P4). What an old table leads on to stays until the whole heap is collected, as
 * `TransientMap` explains, and then the gateway pays for every call a second time.
 */
import assert from 'node:assert/strict';
import { rawWith } from '../../support/core/configText.js';
import { endStages, startStage } from '../../support/core/stage.js';
import { collect, oldSpace } from '../../support/heap.js';
import { RawClient } from '../gateway/rawClient.js';

/** What a call carries to and fro, in bytes. */
const carried = 8_192;
const calls = 2_400;
const inFlight = 8;

describe('what a call carries', () => {
  let client: RawClient;

  afterEach(async () => {
    client.close();
    await endStages();
  });

  for (const isLeased of [true, false]) {
    it(`goes with it, where instances are ${isLeased ? 'leased' : 'shared'}`, async function () {
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
      const round = (): Promise<unknown> => Promise.all(Array.from({ length: inFlight }, () => lane(calls / inFlight)));

      // V8 learns first what lives long, and what has lived through two of these is old.
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
