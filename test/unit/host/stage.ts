/** A host over fake servers for the tests of its behaviour (spec R, L). */
import assert from 'node:assert/strict';
import { nextEvent } from '../../../src/core/base/events.js';
import { adminId } from '../../../src/core/catalogue/admin.js';
import type { Host } from '../../../src/core/calling/hostContract.js';
import type { LeaseNews, ToolOutcome } from '../../../src/core/protocol/request.js';
import type { ServerStatus, StatusSnapshot } from '../../../src/core/reconcile/status.js';
import { testCore } from '../../support/core/testCore.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import {
  FakeConnector,
  listing,
  textResult,
  type FakeConnection,
} from '../../support/fakes/fakeConnector.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

/** Gives each test of the suite a new host, and checks that nothing of it is left. */
export function hostStage(): HostStage {
  const stage = new HostStage();
  beforeEach(() => stage.open());
  afterEach(() => stage.close());
  return stage;
}

class HostStage {
  connector = new FakeConnector();
  clock = new FakeClock();
  private opened: ReturnType<typeof testCore> | undefined;

  get core(): ReturnType<typeof testCore> {
    assert.ok(this.opened, 'there is a host within a test alone');
    return this.opened;
  }

  get host(): Host {
    return this.core.host;
  }

  open(): void {
    this.connector = new FakeConnector();
    this.clock = new FakeClock();
    const { clock, connector } = this;
    this.opened = testCore({
      clock,
      connector,
      env: { SECRET: 'hunter2222' },
      maxInstances: () => 3,
    });
  }

  async close(): Promise<void> {
    await this.host.dispose();
    assert.equal(this.connector.live.size, 0, 'a connection was left open');
    assert.equal(this.clock.pending, 0, 'a timer was left');
  }

  edit(text: string | undefined): Promise<void> {
    return this.host.setSources([{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text }]);
  }

  /** Makes this the only server of the file, and resolves when it serves. */
  async serve(id: string, rest: string, ...tools: string[]): Promise<FakeConnection> {
    const edited = this.edit(file({ [id]: rest }));
    const connection = (await this.connector.nextConnect()).succeed(listing(...tools));
    await edited;
    return connection;
  }

  /** Names the tools as `server/published name`. */
  published(): string[] {
    return this.host.catalogue.toolsets
      .filter(({ id }) => id !== adminId)
      .flatMap(({ id, tools }) => tools.map((tool) => `${id}/${tool.published}`));
  }

  server(id: string): ServerStatus {
    const found = this.host.snapshot.servers.find((server) => server.id === id);
    assert.ok(found, `no server ${id}`);
    return found;
  }

  codes(): string[] {
    return this.host.snapshot.problems.map((problem) => problem.code);
  }

  async until(accept: (snapshot: StatusSnapshot) => boolean): Promise<StatusSnapshot> {
    const { host } = this;
    return accept(host.snapshot)
      ? host.snapshot
      : nextEvent(host.onDidChange, (snapshot) => accept(snapshot));
  }

  call(
    toolset: string,
    tool: string,
    conversation = 'd1',
    signal: AbortSignal = new AbortController().signal,
  ): Promise<ToolOutcome> {
    return this.host.call({
      policy: policies.agent,
      toolset,
      tool,
      arguments: {},
      conversation,
      signal,
    });
  }
}

export const file = (servers: Record<string, string>): string =>
  `version: 1\nservers:\n${Object.entries(servers)
    .map(([id, rest]) => `  ${id}: { transport: stdio, ${rest} }\n`)
    .join('')}`;

export const answered = (text: string, news?: LeaseNews): ToolOutcome => ({
  kind: 'result',
  result: textResult(text),
  ...(news && { news, folder: '/ws' }),
});

/** Answers the next call of a connection with this text. */
export async function answer(connection: FakeConnection, text: string): Promise<void> {
  (await connection.nextCall()).answer({ kind: 'result', result: textResult(text) });
}
