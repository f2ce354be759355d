import assert from 'node:assert/strict';
import { AppOpenings } from '../../../../src/core/gateway/methods/appCalls.js';
import type { Answer } from '../../../../src/core/gateway/methods/requests.js';
import { Links } from '../../../../src/core/gateway/conversations/links.js';
import { Listings } from '../../../../src/core/gateway/conversations/listings.js';
import { answerRequest } from '../../../../src/core/gateway/methods/methods.js';
import type { Session } from '../../../../src/core/gateway/conversations/session.js';
import { policies, type Road } from '../../../../src/core/protocol/clientPolicy.js';
import { deliveryWithoutFiles } from '../../../../src/core/results/delivery.js';
import { toolsAlone } from '../../../../src/core/tools/features.js';
import { FakeClock } from '../../../support/fakes/fakeClock.js';
import { FakeBackend, FakeStream, listingOf, MemoryLog, sessionOf, turn } from '../fakes.js';

describe('gateway: links of results', () => {
  const uri = 'report://latest';
  const link = (to: unknown): { type: string } =>
    ({ type: 'resource_link', uri: to }) as { type: string };

  describe('memory', () => {
    const origin = { toolset: 't', conversation: 'd' };

    it('links are remembered in bounds (S2)', () => {
      const links = new Links();
      const note = (...uris: unknown[]): void =>
        links.add({ content: uris.map(link) as never }, origin);
      note(5, 'x'.repeat(8_193), 'a:0', ...Array.from({ length: 999 }, (_, index) => `b:${index}`));
      assert.deepEqual([links.holders('x'.repeat(8_193)), links.holders('a:0')], [[], [origin]]);
      note('c:0');
      assert.deepEqual(
        [links.holders('a:0'), links.holders('b:0'), links.holders('c:0')],
        [[], [origin], [origin]],
      );
    });

    it('a link has one holder for each conversation, the newest last, in bounds (G3)', () => {
      const links = new Links();
      for (let count = 0; count < 100; count++)
        links.set(uri, { toolset: 't', conversation: `d${count}` });
      links.set(uri, { toolset: 'u', conversation: 'd90' });
      const holders = links.holders(uri);
      assert.equal(holders.length, 16);
      assert.deepEqual(holders.at(-1), { toolset: 'u', conversation: 'd90' });
      assert.equal(new Set(holders.map(({ conversation }) => conversation)).size, 16);
    });
  });

  describe('of the same name in two conversations (G3)', () => {
    const threads = [
      '11111111-1111-4111-8111-111111111111',
      '22222222-2222-4222-8222-222222222222',
    ] as const;
    const chats = ['chat-a', 'chat-b'] as const;
    let backend: FakeBackend;
    let listings: Listings;
    let session: Session;
    let conversations: string[];
    let id = 0;

    afterEach(end);

    function end(): void {
      session.close({ cancelCalls: true });
      listings.dispose();
    }

    function ask(method: string, params: Record<string, unknown>): Answer {
      const clock = new FakeClock();
      return answerRequest(method, params, {
        id: (id += 1),
        client: session,
        reply: new FakeStream(),
        deps: {
          backend,
          log: new MemoryLog(),
          clock,
          delivery: deliveryWithoutFiles(),
          maxCalls: 9,
          noteActivity: () => {},
          namesConversations: session.listing.policy === policies.editor,
          openings: new AppOpenings(),
        },
      });
    }

    /** Begins a session. Each of these conversations has the link from a call. */
    async function given(road: Road, metas: readonly object[], isLeased = true): Promise<void> {
      const clock = new FakeClock();
      backend = new FakeBackend();
      backend.set('t', ['a', 'app'], { isLeased, features: { ...toolsAlone, resources: true } });
      const { tools, ...rest } = backend.toolset('t', policies[road]) ?? assert.fail();
      const [plain, app] = tools;
      assert.ok(plain && app);
      backend.toolsets.set('t', {
        ...rest,
        tools: [plain, { ...app, _meta: { ui: { resourceUri: 'ui://page' } } }],
      });
      conversations = [];
      backend.answering = ({ conversation }) => {
        conversations.push(conversation);
        return { kind: 'result', result: { content: [{ ...link(uri), name: 'report' } as never] } };
      };
      listings = new Listings({
        backend,
        clock,
        log: new MemoryLog(),
        pageSize: 2,
        coalesceMs: 20,
        announce: () => {},
      });
      const namer = road === 'editor' ? undefined : 'codex-mcp-client';
      session = sessionOf(listingOf(listings, 't', road), { version: '2025-06-18', namer });
      for (const name of ['a', 'app'])
        for (const _meta of metas) ask('tools/call', { name, _meta });
      await turn();
      conversations = [...new Set(conversations)];
      assert.equal(conversations.length, metas.length);
    }

    /** Returns the number of the reading conversation, or the refusal. */
    function reads(meta?: object, of = uri): number | string {
      const before = backend.requests.length;
      const answer = ask('resources/read', { uri: of, ...(meta && { _meta: meta }) });
      if (answer.kind === 'error') return answer.error.message;
      const asked = backend.requests[before];
      assert.ok(asked);
      return conversations.indexOf(asked.conversation);
    }

    for (const [who, road, metas] of [
      ['Codex', 'agent', threads.map((threadId) => ({ threadId }))],
      ['the editor', 'editor', chats.map((chat) => ({ 'vscode.conversationId': chat }))],
    ] as const) {
      it(`each conversation reads a link from its own instance: ${who}`, async () => {
        await given(road, metas);
        assert.deepEqual(
          metas.map((meta) => reads(meta)),
          [0, 1],
        );
      });

      it(`a read of a link is refused if it may belong to several conversations: ${who}`, async () => {
        await given(road, metas);
        assert.match(String(reads()), /does not say which one asks/);
      });

      it(`a read without a conversation follows the only link, or any link of a shared instance: ${who}`, async () => {
        await given(road, metas.slice(0, 1));
        assert.equal(reads(), 0);
        end();
        await given(road, metas, false);
        assert.equal(typeof reads(), 'number');
      });
    }

    it('a page of an app is the same for all', async () => {
      await given('editor', [
        { 'vscode.conversationId': 'chat-a' },
        { 'vscode.conversationId': 'chat-b' },
      ]);
      assert.equal(typeof reads(undefined, 'ui://page'), 'number');
      assert.equal(backend.requests.at(-1)?.instance, 'any');
    });
  });
});
