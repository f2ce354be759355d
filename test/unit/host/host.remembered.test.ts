/** Calls of remembered tools wait for the start of their server (P8). */
import assert from 'node:assert/strict';
import type { Host } from '../../../src/core/calling/hostContract.js';
import type { KeptOffers } from '../../../src/core/catalogue/publication.js';
import type { ToolOutcome } from '../../../src/core/protocol/request.js';
import { testCore } from '../../support/core/testCore.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { failure, FakeConnector, listing } from '../../support/fakes/fakeConnector.js';
import { answer, file } from './stage.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

describe('a call of a remembered tool (P8)', () => {
  let connector: FakeConnector;
  let host: Host;
  let knows: boolean;
  let kept: KeptOffers;

  const edit = (rest: string): Promise<void> =>
    host.setSources([
      { file: '/ws/.minds/mcp.yaml', folder: '/ws', text: file({ a: `${rest}, start: call` }) },
    ]);
  const call = (): Promise<ToolOutcome> =>
    host.call({
      policy: policies.agent,
      toolset: 'a',
      tool: 'x',
      arguments: {},
      conversation: 'd1',
      signal: new AbortController().signal,
    });
  const textOf = async (outcome: Promise<ToolOutcome>): Promise<string> =>
    JSON.stringify(await outcome);

  beforeEach(() => {
    connector = new FakeConnector();
    knows = true;
    const said = {
      serverInfo: { name: 'f', version: '1' },
      capabilities: {},
      protocolVersion: '2025-11-25',
    };
    kept = {
      recall: () =>
        knows
          ? { at: 1, declared: '{}', listing: listing('x'), instructions: undefined, ...said }
          : undefined,
      remember: () => undefined,
      forget: () => undefined,
    };
    ({ host } = testCore({ clock: new FakeClock(), connector, kept }));
  });

  afterEach(async () => {
    await host.dispose();
    assert.equal(connector.live.size, 0, 'a connection was left open');
  });

  it('a remembered replacement launch starts for the call', async () => {
    await edit('command: one');
    const waiting = call();
    const first = await connector.nextConnect();
    await edit('command: two');
    assert.equal(first.request.signal.aborted, true);
    const second = await connector.nextConnect();
    assert.match(JSON.stringify(second.request.launch), /"two"/);
    await answer(second.succeed(listing('x')), 'from two');
    assert.match(await textOf(waiting), /from two/);
  });

  it('a call whose start failed does not start it again', async () => {
    await edit('command: one');
    const waiting = call();
    (await connector.nextConnect()).fail(failure);
    assert.match(await textOf(waiting), /\\"x\\" was not called: the server/);
    assert.equal(connector.connects, 1);
  });

  it('a call waits for the start even if the server went while a person was asked (S4)', async () => {
    await host.dispose();
    let answerQuestion = (_: 'once'): void => {};
    const asked = new Promise<void>((resolve) => {
      const ask = (): Promise<'once'> => {
        resolve();
        return new Promise((answers) => (answerQuestion = answers));
      };
      const toolPermissions = { settings: () => [{ x: 'ask' }], ask };
      ({ host } = testCore({ clock: new FakeClock(), connector, kept, toolPermissions }));
    });
    await edit('command: one');
    const waiting = call();
    const first = (await connector.nextConnect()).succeed(listing('x'));
    await asked;
    await edit('command: one, enabled: false');
    await edit('command: one');
    assert.equal(first.closed, true);
    answerQuestion('once');
    await answer((await connector.nextConnect()).succeed(listing('x')), 'after all');
    assert.match(await textOf(waiting), /after all/);
  });

  it('a call does not report the failure of another launch that an edit took back', async () => {
    await edit('command: one');
    knows = false;
    const edited = edit('command: two');
    (await connector.nextConnect()).fail(failure);
    await edited;
    assert.equal(host.snapshot.servers[0]?.state.kind, 'failed');
    knows = true;
    await edit('command: one');
    const { servers, problems } = host.snapshot;
    assert.deepEqual([servers[0]?.state.kind, problems], ['remembered', []]);
  });

  for (const [how, overtake] of [
    ['stopped', () => host.stop('a')],
    ['disabled', () => edit('command: one, enabled: false')],
    ['removed', () => host.setSources([])],
  ] as const) {
    it(`a call reports that it was not made if the server is ${how} before its start`, async () => {
      await edit('command: one');
      const waiting = call();
      await connector.nextConnect();
      await overtake();
      assert.match(
        await textOf(waiting),
        /Error: \\"x\\" of \\"a\\" was not called: the server was stopped or changed\./,
      );
    });
  }
});
