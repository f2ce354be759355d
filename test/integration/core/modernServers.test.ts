/** Clients of the legacy era use servers that speak 2026-07-28 alone, filtered, renamed and leased (X8). */
import assert from 'node:assert/strict';
import { fixture, http, type Entry } from '../../support/core/configText.js';
import { startHttpFixture, type HttpServer } from '../../support/core/httpServers.js';
import { SessionClient } from '../../support/core/sessionClient.js';
import { endStages, startStage } from '../../support/core/stage.js';

describe('a toolset whose server speaks only 2026-07-28 (X8)', () => {
  const servers: HttpServer[] = [];
  afterEach(async () => {
    await endStages();
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  for (const transport of ['stdio', 'http'] as const) {
    it(`over ${transport} it is filtered, renamed, edited and asked for each conversation`, async () => {
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
        (await session.client.listTools()).tools.map(({ name }) => name).filter((name) => !name.includes('release'));
      assert.deepEqual(await names(), ['my_echo', 'my_pid', 'my_elicit', 'my_region']);
      assert.equal(await session.text('my_echo', { text: 'hello' }), 'hello');
      assert.equal(
        await session.text('my_elicit', { message: 'Who?' }),
        '{"action":"accept","content":{"answer":"Who?"}}',
      );
      const headers = JSON.parse(await session.text('my_region', { region: 'north' })) as Record<string, string>;
      if (transport === 'http') assert.equal(headers['mcp-name'], 'region');
      await stage.edit({ m: await entry({ tools, transform: [{ prefix: 'your_' }] }) });
      assert.deepEqual(await names(), ['your_echo', 'your_pid', 'your_elicit', 'your_region']);
    });
  }
});
