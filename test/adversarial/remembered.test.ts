/**
 * Files of earlier windows with lists of servers, damaged by a seed. Each is published like a live
 * list, or not at all. No reader throws, and no text affects a terminal.
 *
 *     MCP_TOOLSETS_SEED=1 npx mocha --node-option import=tsx test/adversarial/remembered.test.ts
 */
import assert from 'node:assert/strict';
import { everyToolset } from '../../src/core/gateway/routes.js';
import { readKept } from '../../src/core/remembered/keptOffer.js';
import { damagedText, mutated, randomOf } from '../fixtures/servers/shared/mutate.mjs';
import { testCore } from '../support/core/testCore.js';
import { FakeClock } from '../support/fakes/fakeClock.js';
import { FakeConnector } from '../support/fakes/fakeConnector.js';
import { roundsOf, seedOf } from '../unit/stress/random.js';
import { assertNotPolluted, assertShownWithoutControl } from './bounds.js';
import { policies } from '../../src/core/protocol/clientPolicy.js';

const rounds = roundsOf(2_000);

const schema = { type: 'object', properties: { a: { type: 'string' } } };
const kept = {
  version: 1,
  declared: '{}',
  at: 1_000,
  serverInfo: { name: 's', version: '1', title: 'S' },
  instructions: 'Read this.',
  capabilities: {
    tools: { listChanged: true },
    prompts: {},
    resources: { subscribe: true },
    extensions: { x: {} },
  },
  protocolVersion: '2026-07-28',
  listing: {
    tools: [
      {
        name: 'a',
        title: 'A',
        description: 'Does.',
        inputSchema: schema,
        annotations: { readOnlyHint: true },
      },
      {
        name: 'b',
        inputSchema: schema,
        outputSchema: schema,
        _meta: { ui: { resourceUri: 'ui://b' } },
      },
    ],
    malformed: [{ name: 'c', detail: 'has no inputSchema' }],
    prompts: {
      prompts: [{ name: 'p', arguments: [{ name: 'x', required: true }] }],
      malformed: [],
    },
    resources: {
      resources: [{ uri: 'file:///a', name: 'a', mimeType: 'text/plain' }],
      templates: [{ uriTemplate: 'file:///{b}', name: 'b' }],
      malformed: [],
    },
  },
};

// The title has the seed, so each report of a failure has it.
const seed = seedOf('MCP_TOOLSETS_SEED');
describe(`damaged lists of an earlier window, MCP_TOOLSETS_SEED=${seed}`, function () {
  this.timeout(300_000);

  it(`A damaged list is published like a live list or not at all, ${rounds} times over`, async () => {
    const random = randomOf(seed);
    const damaged = (): string => {
      const text = JSON.stringify(random() < 0.9 ? mutated(kept, random) : kept) ?? '';
      return random() < 0.1 ? damagedText(text, random) : text;
    };
    let recalled: string | undefined;
    const { host, backend, dispose } = testCore({
      clock: new FakeClock(),
      connector: new FakeConnector(),
      kept: {
        recall: () => (recalled === undefined ? undefined : readKept(recalled)),
        remember: () => {},
        forget: () => {},
      },
    });
    const unsettled: Promise<void>[] = [];
    let published = 0;
    for (let turn = 0; turn < rounds; turn++) {
      recalled = damaged();
      const text = `version: 1\nservers: { s: { transport: stdio, command: c${turn} } }\n`;
      try {
        unsettled.push(host.setSources([{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text }]));
        if (host.catalogue.toolsets.some(({ id }) => id === 's')) published += 1;
        for (const kind of ['editor', 'agentHost', 'agent'] as const)
          JSON.stringify(backend.toolset('s', policies[kind]));
        JSON.stringify(backend.toolset(everyToolset, policies.agent));
        assertShownWithoutControl(host.snapshot);
      } catch (error) {
        const stack = error instanceof Error ? error.stack : String(error);
        assert.fail(`turn ${turn}: ${stack}\n${recalled.slice(0, 2_000)}`);
      }
      assertNotPolluted();
    }
    // Most are good enough to be published, or nothing was tried.
    assert.ok(published > rounds * 0.2 && published < rounds, String(published));
    await dispose();
    await Promise.all(unsettled);
  });
});
