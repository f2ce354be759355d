/** Clients of the legacy era with servers of 2026-07-28 only, filtered, renamed and leased (X8). */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Emitter, nextEvent } from '../../../src/core/base/events.js';
import { fixture, http, type Entry } from '../../support/core/configText.js';
import { startHttpFixture, type HttpServer } from '../../support/core/httpServers.js';
import { ModernClient } from '../../support/core/modernClient.js';
import { SessionClient } from '../../support/core/sessionClient.js';
import { endStages, startStage, type Stage } from '../../support/core/stage.js';

describe('a toolset whose server speaks only 2026-07-28 (X8)', () => {
  const servers: HttpServer[] = [];
  afterEach(async () => {
    await endStages();
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  for (const transport of ['stdio', 'http'] as const) {
    it(`A modern server over ${transport} is filtered, renamed, edited and asked for each conversation`, async () => {
      const stage = await startStage();
      const entry = async (rest: Entry): Promise<Entry> => {
        if (transport === 'stdio') return fixture('modern', [], rest);
        const server = servers[0] ?? (await startHttpFixture('modern', ['--http'], process.env));
        if (servers.length === 0) servers.push(server);
        return http(server.url, rest);
      };
      const tools = { whitelist: ['echo', 'region', 'elicit', 'pid'] };
      await stage.edit({ m: await entry({ tools, transform: [{ prefix: 'my_' }] }) });
      const session = await SessionClient.open(stage, 'm', {
        capabilities: { elicitation: {} },
        elicit: ({ message }) => ({ action: 'accept', content: { answer: message } }),
      });
      const names = async (): Promise<string[]> =>
        (await session.client.listTools()).tools
          .map(({ name }) => name)
          .filter((name) => !name.includes('release'));
      assert.deepEqual(await names(), ['my_echo', 'my_pid', 'my_elicit', 'my_region']);
      assert.equal(await session.text('my_echo', { text: 'hello' }), 'hello');
      assert.equal(
        await session.text('my_elicit', { message: 'Who?' }),
        '{"action":"accept","content":{"answer":"Who?"}}',
      );
      const headers = JSON.parse(await session.text('my_region', { region: 'north' })) as Record<
        string,
        string
      >;
      if (transport === 'http') assert.equal(headers['mcp-name'], 'region');
      await stage.edit({ m: await entry({ tools, transform: [{ prefix: 'your_' }] }) });
      assert.deepEqual(await names(), ['your_echo', 'your_pid', 'your_elicit', 'your_region']);
    });
  }
});

describe('subscriptions of a client (G4, X8d)', () => {
  afterEach(endStages);
  const uri = 'note://one';
  const updated = 'notifications/resources/updated';

  /** Ends the instance that answered, and resolves after another instance has answered. */
  async function exchanged(stage: Stage, pid: () => Promise<string>): Promise<void> {
    const before = await pid();
    process.kill(Number(before), 'SIGKILL');
    await stage.until(
      () => !stage.instances('s').some((instance) => instance.pid === Number(before)),
      'its end',
    );
    assert.notEqual(await pid(), before);
  }

  for (const server of ['features', 'modern']) {
    for (const use of ['leased', 'shared'] as const) {
      it(`A subscription at the ${use} instance of ${server}.mjs moves to the next instance`, async () => {
        const stage = await startStage();
        await stage.edit({ s: fixture(server, [], { 'truely-stateless': use === 'shared' }) });
        const old = await SessionClient.open(stage, 's');
        await old.client.subscribeResource({ uri });
        await exchanged(stage, () => old.text('pid'));
        assert.deepEqual(await old.next(updated), { uri }, 'nobody knows what changed meanwhile');
        const told = old.next(updated);
        let isTold = false;
        for (void told.then(() => (isTold = true)); !isTold;) await old.text('touch', { uri });
        assert.deepEqual(await told, { uri });
        const own = randomBytes(16).toString('base64url');
        const client = await ModernClient.open(stage, 's', {
          ...(use === 'leased' && { address: own }),
        });
        const updates = new Emitter<void>();
        let count = 0;
        const onTold = (method: string): void => {
          if (method === updated) count += 1;
          updates.fire();
        };
        // The server gets the subscription asynchronously and may not know it yet.
        const more = async (): Promise<void> => {
          for (const before = count; count === before;) await client.text('touch', { uri });
        };
        const stop = new AbortController();
        const notifications = { resourceSubscriptions: [uri] };
        const options = { onTold, signal: stop.signal, isLong: true };
        const heard = nextEvent(updates.event, () => true);
        const listening = client
          .request('subscriptions/listen', { notifications }, options)
          .catch(() => undefined);
        await heard;
        await more();
        await exchanged(stage, () => client.text('pid'));
        await more();
        stop.abort();
        await listening;
      });
    }
  }
});
