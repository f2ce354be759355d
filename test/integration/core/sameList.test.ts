/** The bytes of the list of tools (N6): agents pay for every change. */
import assert from 'node:assert/strict';
import { fixture, type Entry } from '../../support/core/configText.js';
import { SessionClient } from '../../support/core/sessionClient.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

const servers = 20;
/** One for each server, so 100 in all. */
const restarts = 5;

describe('core: the list of tools stays the same', () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await startStage();
  });

  afterEach(endStages);

  it(`${servers} shuffling servers, ${servers * restarts} restarts, deaths and reloads change no byte, and no client hears of a change`, async () => {
    const ids = Array.from({ length: servers }, (_, index) => `s${index}`);
    const entry = (id: string): Entry => {
      const override = {
        echo: { description: 'Says it again.', arguments: { text: { default: 'x' } } },
      };
      const rest = {
        'truely-stateless': true,
        transform: [{ prefix: `${id}_` }],
        tools: { override },
      };
      return fixture('raw', ['--shuffle', '--tools', 'slow,echo,add,exit,count'], rest);
    };
    const config = Object.fromEntries(ids.map((id) => [id, entry(id)]));
    await stage.edit(config);
    const clients = await Promise.all(ids.map((id) => SessionClient.open(stage, id)));
    const bytes = async (): Promise<string[]> =>
      Promise.all(
        clients.map(async ({ client }) => JSON.stringify((await client.listTools()).tools)),
      );
    const before = await bytes();
    for (let round = 0; round < restarts; round++) {
      await Promise.all(ids.map((id) => stage.host.restart(id)));
      assert.deepEqual(await bytes(), before);
    }
    await Promise.all(ids.map((id) => stage.failure(id, `${id}_exit`, { code: 3 })));
    await Promise.all(ids.map((id) => stage.text(id, `${id}_echo`, { text: 'x' })));
    await stage.edit(config);
    assert.deepEqual(await bytes(), before);
    assert.deepEqual(
      clients.flatMap(({ told }) => told.map(({ method }) => method)),
      [],
    );
    // The same client receives a real change.
    await stage.edit({ ...config, s0: { ...entry('s0'), tools: { blacklist: ['add'] } } });
    await clients[0]?.next('notifications/tools/list_changed');
    assert.notDeepEqual((await bytes())[0], before[0]);
  }).timeout(180_000);
});
