/**
 * A host with little room over fake servers. Processes take time to start and to end, launches wait
 * for approval, tools are remembered, spares follow, and clients differ and leave. No step has an
 * expected outcome. The invariants are checked after each one.
 */
import assert from 'node:assert/strict';
import { Emitter } from '../../../src/core/base/events.js';
import { adminId } from '../../../src/core/catalogue/admin.js';
import type { Host } from '../../../src/core/calling/hostContract.js';
import type { StdioLaunch } from '../../../src/core/config/model.js';
import type { ServerClient } from '../../../src/core/protocol/client.js';
import type { ToolOutcome } from '../../../src/core/protocol/request.js';
import type { RememberedOffer } from '../../../src/core/reconcile/remembered.js';
import { hadConversations } from '../../support/core/hadConversations.js';
import { testCore } from '../../support/core/testCore.js';
import { FakeClock, rest } from '../../support/fakes/fakeClock.js';
import {
  failure,
  FakeConnector,
  listing,
  textResult,
  type FakeConnection,
} from '../../support/fakes/fakeConnector.js';
import { ids, lostBy, randomEntries, shared, steps, type Entry } from './crowdSteps.js';
import type { Random } from './random.js';
import { turn, within } from './turns.js';
import { fakeClient } from '../../support/fakes/fakeClient.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

interface Call {
  readonly number: number;
  readonly conversation: string;
  readonly server: string;
  readonly controller: AbortController;
  outcome?: ToolOutcome;
}

/** A process between the request to end and its end. */
interface Ending {
  readonly connection: FakeConnection;
  readonly end: () => void;
}

const said = {
  serverInfo: { name: 'f', version: '1' },
  capabilities: {},
  protocolVersion: '2025-11-25',
};
export class Crowd {
  private readonly connector = new FakeConnector();
  private readonly clock = new FakeClock();
  private readonly host: Host;
  private readonly most: number;
  private readonly made = new Set<FakeConnection>();
  private readonly dead = new Set<FakeConnection>();
  private readonly ending = new Set<Ending>();
  private readonly calls = new Set<Call>();
  private readonly sentOn = new Map<number, FakeConnection>();
  private readonly heldBy = new Map<FakeConnection, string>();
  private readonly waits = new Set<Promise<unknown>>();
  private readonly approvalChange = new Emitter<void>();
  private readonly barred = new Set<string>();
  private readonly clients = new Map<string, ServerClient>();
  private entries: readonly Entry[] = [];
  private broken = false;
  private numbers = 0;
  private readonly trail: string[] = [];
  private readonly faults: string[] = [];

  constructor(private readonly random: Random) {
    const { clock, connector } = this;
    this.most = 1 + random.int(4);
    const kept = new Map<string, RememberedOffer>();
    this.trail.push(`most ${this.most}`);
    const connect = connector.connect.bind(connector);
    connector.connect = async (request) => {
      const outcome = await connect(request);
      if (outcome.kind === 'connected') this.watch(outcome.connection as FakeConnection);
      return outcome;
    };
    this.host = testCore({
      clock,
      connector,
      maxInstances: () => this.most,
      startsAtOnce: 1 + random.int(2),
      conversations: hadConversations({ a: 2, b: 2 }),
      kept: {
        recall: (launch) => kept.get(launch),
        remember: (launch, offer) => void kept.set(launch, { ...said, ...offer }),
        forget: (launch) => void kept.delete(launch),
      },
      approvals: {
        judge: (launch) => {
          const text = JSON.stringify(launch);
          return [...this.barred].some((program) => text.includes(program))
            ? 'pending'
            : 'approved';
        },
        isKept: () => true,
        onDidChange: this.approvalChange.event,
      },
    }).host;
  }

  async run(count: number): Promise<void> {
    try {
      for (let made = 0; made < count; made++) {
        await this.step();
        await turn();
        this.check();
      }
      await this.settle();
      await this.end();
    } catch (error) {
      throw new Error(`seed ${this.random.seed}: ${this.trail.slice(-40).join(', ')}`, {
        cause: error,
      });
    }
  }

  /** A process takes time to end, and keeps its slot until then. */
  private watch(connection: FakeConnection): void {
    this.made.add(connection);
    const close = connection.close.bind(connection);
    let closing: Promise<void> | undefined;
    const callTool = connection.callTool.bind(connection);
    connection.callTool = (request) => {
      if (closing)
        this.fault(`call ${String(request.arguments?.['number'])} goes to what was asked to end`);
      return callTool(request);
    };
    connection.close = () => {
      closing ??= new Promise<void>((resolve) => {
        const one = { connection, end: () => void close().then(resolve, resolve) };
        this.ending.add(one);
      });
      return closing;
    };
  }

  private async step(): Promise<void> {
    const { random, host } = this;
    const kind = random.weighted(steps);
    this.trail.push(kind);
    const id = random.pick(ids);
    const conversation = `d${random.int(4)}`;
    const isKnown = host.snapshot.servers.some((server) => server.id === id);
    switch (kind) {
      case 'edit':
        return this.edit();
      case 'startsSucceed':
        for (const pending of this.pendings()) {
          if (pending.request.signal.aborted || random.chance(0.5)) continue;
          this.answered(pending).succeed(listing('x', `y${random.int(2)}`));
          // No two processes end in one turn.
          await turn();
        }
        return;
      case 'startFails':
        for (const pending of this.pendings().slice(0, 1)) this.answered(pending).fail(failure);
        return;
      case 'processesEnd':
        for (const one of [...this.ending]) if (random.chance(0.6)) this.finish(one);
        return;
      case 'call':
        return this.call(id, conversation);
      case 'answer':
        for (const connection of this.made) {
          for (const { request, answer } of connection.calls.splice(0)) {
            if (random.chance(0.6))
              answer({ kind: 'result', result: textResult(String(request.arguments?.['number'])) });
            else connection.calls.push({ request, answer });
          }
        }
        return;
      case 'cancel':
        for (const call of [...this.calls].filter(({ outcome }) => !outcome).slice(0, 1))
          call.controller.abort();
        return;
      case 'die': {
        const live = this.living();
        if (live.length === 0) return;
        const connection = random.pick(live);
        this.dead.add(connection);
        connection.die('it was killed');
        return;
      }
      case 'short':
        return this.clock.advance(random.int(1_500));
      case 'halfMinute':
        return this.clock.advance(31_000);
      case 'idle':
        return this.clock.advance(16 * 60_000);
      case 'person': {
        if (!isKnown) return;
        const what = random.pick(['start', 'stop', 'restart'] as const);
        this.trail.push(`${what} ${id}`);
        return this.wait(host[what](id));
      }
      case 'agentRestart':
        return this.wait(this.admin('mcp_restart', id, conversation));
      case 'release':
        return isKnown ? this.wait(host.release(id, conversation)) : undefined;
      case 'clientLeaves': {
        const client = this.clients.get(conversation);
        if (!client) return;
        this.clients.delete(conversation);
        return host.noteClient(client, 'gone');
      }
      case 'approval': {
        const program = `program${random.int(3)}`;
        if (!this.barred.delete(program)) this.barred.add(program);
        this.trail.push(`barred ${[...this.barred].join(' ')}`);
        return this.approvalChange.fire();
      }
      case 'reapply':
        return this.wait(host.reapply());
    }
  }

  private edit(): void {
    const { random } = this;
    this.broken = random.chance(0.08);
    this.entries = randomEntries(this.entries, random);
    const short = ({ id, command, stateless, onCall }: Entry): string =>
      `${id}${command}${stateless ? ' shared' : ''}${onCall ? ' on call' : ''}`;
    this.trail.push(`[${this.entries.map(short).join('; ')}]`);
    this.set();
  }

  private set(): void {
    const servers = Object.fromEntries(
      this.entries.map(({ id, command, stateless, onCall, enabled, spare, suffix }) => [
        id,
        {
          transport: 'stdio',
          command: `program${command}`,
          args: stateless ? [shared] : [],
          enabled,
          'truely-stateless': stateless,
          start: onCall ? 'call' : 'window',
          ...(!spare && { spare: 0 }),
          transform: [{ prefix: `${id}_` }, ...(suffix > 0 ? [{ suffix: `_${suffix}` }] : [])],
        },
      ]),
    );
    const text = `${JSON.stringify({ version: 1, servers })}${this.broken ? ': [' : ''}`;
    this.wait(this.host.setSources([{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text }]));
  }

  private call(id: string, conversation: string): void {
    const toolset = this.host.catalogue.toolsets.find((one) => one.id === id && one.id !== adminId);
    if (!toolset || toolset.tools.length === 0) return;
    const tool = this.random.pick(toolset.tools).published;
    const number = ++this.numbers;
    const call: Call = { number, conversation, server: id, controller: new AbortController() };
    this.calls.add(call);
    const client = this.clients.get(conversation) ?? this.clientOf(conversation);
    this.clients.set(conversation, client);
    const { signal } = call.controller;
    void this.host
      .call({
        policy: policies.agent,
        toolset: id,
        tool,
        arguments: { number },
        conversation,
        signal,
        ...(this.random.chance(0.7) && { client }),
      })
      .then((outcome) => this.ended(call, outcome));
  }

  private clientOf(conversation: string): ServerClient {
    const capabilities = this.random.pick([{}, { sampling: {} }]);
    return fakeClient({ capabilities, conversation });
  }

  private ended(call: Call, outcome: ToolOutcome): void {
    assert.equal(call.outcome, undefined, 'a call ends twice');
    call.outcome = outcome;
    if (outcome.kind !== 'result') return;
    const text = JSON.stringify(outcome.result);
    if (outcome.result.isError !== true) {
      assert.equal(
        text,
        JSON.stringify(textResult(String(call.number))),
        'the answer of another call',
      );
      return;
    }
    if (!lostBy.some((cause) => text.includes(cause)))
      this.fault(`call ${call.number} was lost: ${text}`);
    if (/was not called|did not start/.test(text) && this.sentOn.has(call.number))
      this.fault(`call ${call.number} was sent and is said not to be: ${text}`);
  }

  /** The faults between two steps are reported after the next step. */
  private fault(text: string): void {
    this.faults.push(text);
  }

  private check(): void {
    assert.deepEqual(this.faults, []);
    const starting = this.connector.pending.filter(({ request }) => !request.signal.aborted).length;
    assert.ok(
      this.living().length + this.ending.size + starting <= 2 * this.most,
      'more live than may',
    );
    const leased = this.host.snapshot.servers
      .flatMap(({ instances }) => instances)
      .filter(({ use }) => use.kind === 'leased');
    assert.ok(leased.length <= this.most, 'more leases than may');
    for (const connection of this.made) {
      for (const { request } of connection.calls) {
        const number = Number(request.arguments?.['number']);
        const call = [...this.calls].find((one) => one.number === number);
        assert.ok(call);
        const before = this.sentOn.get(number);
        assert.ok(before === undefined || before === connection, `call ${number} was sent twice`);
        this.sentOn.set(number, connection);
        const { server, launch } = connection.connectRequest;
        assert.equal(server, call.server);
        if ((launch as StdioLaunch).args.some(({ value }) => value === shared)) continue;
        const holder = this.heldBy.get(connection) ?? call.conversation;
        this.heldBy.set(connection, holder);
        assert.equal(holder, call.conversation, 'two conversations share an instance');
      }
    }
  }

  private async settle(): Promise<void> {
    for (let round = 0; round < 60; round++) {
      await rest();
      this.check();
      for (const pending of this.pendings()) {
        if (pending.request.signal.aborted) continue;
        this.answered(pending).succeed(listing('x'));
        await turn();
      }
      for (const one of [...this.ending]) this.finish(one);
      for (const connection of this.made) {
        for (const { request, answer } of connection.calls.splice(0)) {
          answer({ kind: 'result', result: textResult(String(request.arguments?.['number'])) });
        }
      }
      if (round > 30) this.clock.advance(1_000);
    }
    await rest();
    for (const call of this.calls)
      assert.ok(call.outcome, `call ${call.number} of ${call.server} never ends`);
    await within(Promise.all(this.waits));
    for (const { id, state } of this.host.snapshot.servers) {
      assert.ok(
        !['starting', 'reconnecting'].includes(state.kind),
        `${id} is ${state.kind} for ever`,
      );
    }
  }

  private async end(): Promise<void> {
    let isOver = false;
    const disposed = this.host.dispose().then(() => (isOver = true));
    for (let round = 0; round < 20 && !isOver; round++) {
      await rest();
      for (const one of [...this.ending]) this.finish(one);
    }
    assert.ok(isOver, 'the host does not end');
    await disposed;
    assert.equal(this.connector.live.size, 0, 'connections are left');
    assert.equal(this.clock.pending, 0, 'timers are left');
  }

  private finish(one: Ending): void {
    this.ending.delete(one);
    one.end();
  }

  private living(): FakeConnection[] {
    const ending = new Set([...this.ending].map(({ connection }) => connection));
    return [...this.connector.live].filter(
      (one) => this.made.has(one) && !ending.has(one) && !this.dead.has(one),
    );
  }

  private pendings(): (typeof this.connector.pending)[number][] {
    return this.connector.pending.filter(({ request }) => !request.signal.aborted);
  }

  private answered(pending: (typeof this.connector.pending)[number]): typeof pending {
    this.connector.pending.splice(this.connector.pending.indexOf(pending), 1);
    return pending;
  }

  private async admin(tool: string, serverId: string, conversation: string): Promise<void> {
    const { signal } = new AbortController();
    await this.host.call({
      policy: policies.agent,
      toolset: adminId,
      tool,
      arguments: { serverId },
      conversation,
      signal,
    });
  }

  private wait(promise: Promise<unknown>): void {
    this.waits.add(promise);
    void promise.finally(() => this.waits.delete(promise)).catch(() => undefined);
  }
}
