/**
 * The end of a program outside the editor: its instances, and the notices to its model (L2a, L3).
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createGateway } from '../../../src/core/gateway/http/gateway.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { fixture } from '../../support/core/configText.js';
import { SessionClient } from '../../support/core/sessionClient.js';
import { endStages, startStage, textOf, type Stage } from '../../support/core/stage.js';

describe('core: sessions of other agents', () => {
  let stage: Stage;

  beforeEach(async () => {
    stage = await startStage();
    await stage.edit({ a: fixture('plain') });
  });

  afterEach(endStages);

  const leased = (): number =>
    stage.instances('a').filter(({ use }) => use.kind === 'leased').length;
  const untilLeased = (count: number): Promise<unknown> =>
    stage.until(() => leased() === count, `${count} leases`);

  it('A client that deletes its session ends its own instance only', async () => {
    const [one, two] = [await SessionClient.open(stage, 'a'), await SessionClient.open(stage, 'a')];
    await one.call('pid');
    const pid = await two.text('pid');
    await untilLeased(2);
    await one.close();
    await untilLeased(1);
    assert.equal(await two.text('pid'), pid);
  });

  it('The instance of a killed client ends after 45 s of silence', async () => {
    const clock = new FakeClock();
    const { backend, log } = stage.core;
    const gateway = createGateway({ backend, clock, log }, { version: '0' });
    await gateway.start();
    stage.onDispose(() => gateway.dispose());
    const { url, headers } = gateway.endpoint('a', 'agent');
    const program = path.resolve(__dirname, '../../support/core/listeningClient.mjs');
    const client = spawn(process.execPath, [program, url, headers['Authorization'] ?? ''], {
      stdio: 'pipe',
    });
    await once(client.stdout, 'data');
    await untilLeased(1);
    const timers = clock.pending;
    client.kill('SIGKILL');
    await once(client, 'exit');
    while (clock.pending <= timers) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(44_000);
    assert.equal(leased(), 1);
    clock.advance(1_000);
    await untilLeased(0);
  });

  it('A note reaches a model that reads only the structured content, and leaves that content unchanged', async () => {
    const weather = { celsius: 21.5, place: 'Bremen' };
    const reader = await SessionClient.open(stage, 'a', { name: 'claude-code' });
    const { tools } = await reader.client.listTools();
    assert.equal(tools.find(({ name }) => name === 'structured')?.outputSchema, undefined);
    const first = await reader.call('structured');
    assert.equal(first.structuredContent, undefined);
    const texts = first.content.map((part) => textOf({ content: [part] }));
    assert.ok(texts.includes(JSON.stringify(weather)));
    assert.match(
      texts.at(-1) ?? '',
      /^\n\[MCP Toolsets\] This conversation now has its own instance of "a".* and works in [/\w]/,
    );
    assert.deepEqual(
      (await reader.call('structured')).structuredContent,
      weather,
      'where there is no note',
    );

    const other = await SessionClient.open(stage, 'a', { name: 'another' });
    const both = await other.call('structured');
    assert.deepEqual(both.structuredContent, weather);
    assert.match(textOf(both), /\[MCP Toolsets\]/);
  });
});
