/** The endpoint of all toolsets (G2) also serves prompts, resources and the rest of one toolset (G4). */
import assert from 'node:assert/strict';
import { everyToolset } from '../../../src/core/gateway/backend.js';
import { fixture } from '../../support/core/configText.js';
import { ModernClient } from '../../support/core/modernClient.js';
import { SessionClient } from '../../support/core/sessionClient.js';
import { endStages, startStage } from '../../support/core/stage.js';

describe('all toolsets at one endpoint (G2)', function () {
  this.timeout(60_000);
  afterEach(endStages);

  it('Prompts, resources, completions and subscriptions go to the right server in both eras', async () => {
    const stage = await startStage();
    await stage.edit({ tools: fixture('raw'), all: fixture('features', [], { 'truely-stateless': true }) });
    const session = await SessionClient.open(stage, everyToolset);
    const { client } = session;
    const { messages } = await client.getPrompt({ name: 'greet', arguments: { name: 'you' } });
    assert.match(JSON.stringify(messages), /greet/);
    const { contents } = await client.readResource({ uri: 'note://one' });
    assert.match(JSON.stringify(contents), /note:\/\/one of \d/);
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'name', value: 'a' },
    });
    assert.equal(completion.values.length, 1);
    await client.subscribeResource({ uri: 'note://one' });
    await session.call('touch', { uri: 'note://one' });
    assert.deepEqual(await session.next('notifications/resources/updated'), { uri: 'note://one' });

    const modern = await ModernClient.open(stage, everyToolset, { address: 'a'.repeat(22) });
    const got = await modern.request('prompts/get', { name: 'greet', arguments: { name: 'you' } });
    assert.match(JSON.stringify(got.result?.['messages']), /greet/);
    const read = await modern.request('resources/read', { uri: 'note://two' });
    assert.match(JSON.stringify(read.result?.['contents']), /note:\/\/two of \d/);
  });
});
