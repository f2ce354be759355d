/**
 * The records of the instances and calls of a host over fake servers: why each start was requested,
 * the instance of each call, and why each may end. They are compared with the host and the oracle.
 */
import assert from 'node:assert/strict';
import { adminId } from '../../../src/core/catalogue/admin.js';
import type { Host } from '../../../src/core/calling/hostContract.js';
import type { StdioLaunch } from '../../../src/core/config/model.js';
import type { ToolOutcome } from '../../../src/core/protocol/request.js';
import type { FakeClock } from '../../support/fakes/fakeClock.js';
import type { FakeConnection, FakeConnector } from '../../support/fakes/fakeConnector.js';
import type { EntryModel } from './edits.js';
import type { History, Oracle, Serving } from './oracle.js';

export type Pending = FakeConnector['pending'][number];

/** Why a start was requested, noted by the step before it. */
export type Purpose =
  | { readonly kind: 'attempt' }
  | { readonly kind: 'pool'; readonly serving: Serving; call?: CallRecord };

export interface CallRecord {
  readonly number: number;
  readonly server: string;
  readonly conversation: string;
  readonly original: string;
  readonly serving: Serving;
  readonly controller: AbortController;
  instance?: InstanceRecord;
  answer?: (typeof FakeConnection.prototype.calls)[number];
  outcome?: ToolOutcome;
  /** Why it may fail. */
  excuse?: string;
}

export interface InstanceRecord {
  readonly connection: FakeConnection;
  readonly server: string;
  readonly program: string;
  readonly serving: Serving;
  /** The number of times that its server was added to the file. */
  readonly history: History;
  readonly calls: Set<CallRecord>;
  conversation?: string;
  /** Why it may be closed. */
  excuse?: string;
  /** By the clock. */
  replacedAt?: number;
}

interface RecordsDeps {
  readonly connector: FakeConnector;
  readonly clock: FakeClock;
  readonly oracle: Oracle;
  readonly host: Host;
}

export class Records {
  readonly instances = new Set<InstanceRecord>();
  readonly calls = new Set<CallRecord>();
  readonly purposes = new Map<Pending, Purpose>();
  /** The list of each program. */
  readonly offers = new Map<string, readonly string[]>();
  private readonly lost: string[] = [];
  private readonly histories = new WeakMap<Serving, History>();

  constructor(private readonly deps: RecordsDeps) {}

  pendings(): Pending[] {
    for (const pending of this.deps.connector.pending.splice(0)) {
      if (!pending.request.signal.aborted) this.deps.connector.pending.push(pending);
      else this.purposes.delete(pending);
    }
    return [...this.deps.connector.pending];
  }

  forget(pending: Pending): void {
    const index = this.deps.connector.pending.indexOf(pending);
    if (index >= 0) this.deps.connector.pending.splice(index, 1);
    this.purposes.delete(pending);
  }

  program(pending: Pending): string {
    return (pending.request.launch as StdioLaunch).command;
  }

  offersOf(pending: Pending): readonly string[] {
    return this.offers.get(this.program(pending)) ?? [];
  }

  /** Every new start belongs to the last step. */
  claimStarts(call?: CallRecord): void {
    for (const pending of this.pendings()) {
      if (this.purposes.has(pending)) continue;
      const { server } = pending.request;
      const { serving, pending: attempt } = this.deps.oracle.history(server);
      const known = this.deps.connector.pending.some(
        (other) => other.request.server === server && this.purposes.get(other)?.kind === 'attempt',
      );
      if (attempt && !call && !known) {
        this.purposes.set(pending, { kind: 'attempt' });
      } else {
        assert.ok(serving, `${pending.request.server} starts, and nothing of it is wanted`);
        assert.equal(this.launchOf(pending), serving.launch.split('|').slice(0, 2).join('|'));
        this.purposes.set(pending, { kind: 'pool', serving, ...(call && { call }) });
      }
    }
  }

  private launchOf(pending: Pending): string {
    const { command, args } = pending.request.launch as StdioLaunch;
    return `${command}|${args[0]?.value}`;
  }

  fail(pending: Pending): void {
    const purpose = this.purposeOf(pending);
    this.forget(pending);
    pending.fail({ code: 'server-exited', message: 'exited.', fix: 'Mend it.', path: [] });
    if (purpose.kind === 'attempt') {
      this.deps.oracle.settle(pending.request.server, { failure: 'server-exited' });
      return;
    }
    for (const call of this.calls) {
      if (call.serving === purpose.serving && !call.instance)
        call.excuse ??= 'its instance did not start';
    }
    if (this.isCurrent(pending.request.server, purpose.serving)) {
      this.deps.oracle.history(pending.request.server).servingTrouble = true;
    }
  }

  purposeOf(pending: Pending): Purpose {
    return this.purposes.get(pending) ?? { kind: 'attempt' };
  }

  /** Notes a successful start after the host knows it. */
  settled(pending: Pending, connection: FakeConnection): void {
    const { server } = pending.request;
    const purpose = this.purposeOf(pending);
    const offers = this.offersOf(pending);
    this.forget(pending);
    if (purpose.kind === 'attempt') {
      const generation = this.deps.oracle.settle(server, { offers });
      const { serving } = this.deps.oracle.history(server);
      if (generation === undefined || !serving)
        assert.ok(connection.closed, 'what was refused is open');
      else this.track(connection, server, this.program(pending), serving);
      this.excuseReplaced();
      return;
    }
    if (!purpose.call && !purpose.serving.stateless) this.excuseWarm(purpose.serving);
    const instance = this.track(connection, server, this.program(pending), purpose.serving);
    // The lease exists even if its call is cancelled.
    if (purpose.call && !purpose.serving.stateless)
      instance.conversation = purpose.call.conversation;
    if (!this.isCurrent(server, purpose.serving)) {
      instance.excuse = 'its definition was replaced';
      instance.replacedAt = this.deps.clock.now();
      return;
    }
    this.deps.oracle.history(server).servingTrouble = false;
    this.deps.oracle.relisted(purpose.serving, offers);
  }

  /** Only the last of the waiting instances is kept. */
  private excuseWarm(serving: Serving): void {
    for (const instance of this.instances) {
      if (instance.serving === serving && instance.conversation === undefined)
        instance.excuse ??= 'another one took its place';
    }
  }

  private track(
    connection: FakeConnection,
    server: string,
    program: string,
    serving: Serving,
  ): InstanceRecord {
    const history = this.histories.get(serving) ?? this.deps.oracle.history(server);
    this.histories.set(serving, history);
    const instance: InstanceRecord = {
      connection,
      server,
      program,
      serving,
      history,
      calls: new Set(),
    };
    this.instances.add(instance);
    return instance;
  }

  isCurrent(server: string, serving: Serving): boolean {
    return (
      this.deps.oracle.ids.includes(server) && this.deps.oracle.history(server).serving === serving
    );
  }

  /** A replaced instance may end after its calls. */
  excuseReplaced(): void {
    for (const instance of this.instances) {
      if (this.isCurrent(instance.server, instance.serving)) continue;
      instance.excuse ??= 'its definition was replaced';
      instance.replacedAt ??= this.deps.clock.now();
    }
  }

  ended(call: CallRecord, outcome: ToolOutcome): void {
    call.outcome = outcome;
    call.instance?.calls.delete(call);
    const lost = outcome.kind !== 'result' || outcome.result.isError === true;
    if (lost && call.excuse === undefined) {
      // The next comparison reports it, because an exception would be lost here.
      this.lost.push(`call ${call.number} of ${call.server}: ${JSON.stringify(outcome)}`);
    }
  }

  /** Finds the instance of each new call, and checks it. */
  matchCalls(): void {
    for (const instance of this.instances) {
      for (const answer of instance.connection.calls.splice(0)) {
        const { number } = answer.request.arguments as { number: number };
        const call = [...this.calls].find((each) => each.number === number);
        assert.ok(call && !call.answer, 'a call was sent twice, or was never made');
        assert.equal(
          instance.serving,
          call.serving,
          `call ${number} is on an instance of another definition`,
        );
        assert.equal(answer.request.tool, call.original);
        call.answer = answer;
        call.instance = instance;
        if (!call.outcome) instance.calls.add(call);
        if (instance.serving.stateless) continue;
        instance.conversation ??= call.conversation;
        assert.equal(
          instance.conversation,
          call.conversation,
          `call ${number} is on the instance of another conversation`,
        );
      }
    }
  }

  /** Holds at each moment. */
  compare(): void {
    assert.deepEqual(this.lost, [], 'calls were lost');
    for (const instance of this.instances) {
      const { connection, calls, excuse, server } = instance;
      const current = this.isCurrent(server, instance.serving);
      if (connection.closed) {
        assert.ok(excuse, `an instance of ${server} ended without a reason`);
        this.instances.delete(instance);
      } else if (excuse !== undefined) {
        // It lives only for its calls, except during a death without a report.
        assert.ok(calls.size > 0, `an instance of ${server} lives on: ${excuse}`);
        assert.ok(
          !current || excuse === 'it was idle',
          `an instance of ${server} that serves was to end: ${excuse}`,
        );
      }
    }
    for (const call of this.calls) if (call.outcome) this.calls.delete(call);
    const held = new Map<string, number>();
    for (const { server, serving, conversation } of this.instances) {
      if (!this.isCurrent(server, serving)) continue;
      const key = `${server} ${serving.stateless ? 'shared' : (conversation ?? 'warm')}`;
      held.set(key, (held.get(key) ?? 0) + 1);
    }
    for (const [key, count] of held) {
      if (!key.endsWith(' warm')) assert.equal(count, 1, `${key} has ${count} instances`);
    }
  }

  compareSettled(): void {
    const published = this.deps.host.catalogue.toolsets
      .filter(({ id }) => id !== adminId)
      .flatMap(({ id, tools }) => tools.map(({ published }) => `${id}/${published}`).sort());
    assert.deepEqual(published, this.deps.oracle.published());
    const { snapshot } = this.deps.host;
    assert.deepEqual(
      snapshot.servers.map(({ id }) => id),
      this.deps.oracle.ids,
    );
    const expected = this.deps.oracle.problems();
    const shown = snapshot.problems
      // There is one for each pair of tools, and for each error of the parser. Here the first
      // counts.
      .filter(({ code, server }, index, all) => {
        const first = all.findIndex((other) => other.code === code && other.server === server);
        return code === 'name-twice-in-server' ? index === first : code !== 'yaml-syntax';
      })
      // Several deaths within a minute are an error for a while, which has separate tests.
      .filter(
        ({ code, severity, server = '' }) =>
          code !== 'connection-lost' ||
          severity !== 'error' ||
          this.deps.oracle.history(server).servingTrouble,
      )
      .map(({ code }) => code as string);
    if (snapshot.refused.length > 0) shown.push('yaml-syntax');
    // The later of the two failures is a matter of its supervision, with separate tests.
    replaceCode(shown, 'connection-lost');
    reconcileLost(expected, shown);
    // Beside a refused file, a lost connection is left out and a failed start is not.
    const isKnown = (code: string): boolean => snapshot.refused.length === 0 || code !== 'lost';
    assert.deepEqual(shown.filter(isKnown).sort(), expected.filter(isKnown).sort());
    for (const status of snapshot.servers) {
      const entry = this.deps.oracle.entry(status.id) as EntryModel;
      const { serving } = this.deps.oracle.history(status.id);
      const previous = serving !== undefined && !this.deps.oracle.isAsWritten(serving, entry);
      assert.equal(status.previous !== undefined, previous, `previous of ${status.id}`);
      const history = this.deps.oracle.history(status.id);
      const live = [...this.instances].filter(
        (each) => each.history === history && !each.connection.closed,
      );
      assert.equal(status.instances.length, live.length, `instances of ${status.id}`);
    }
    const live = [...this.instances].filter(({ connection }) => !connection.closed).length;
    assert.equal(this.deps.connector.live.size, live, 'connections that nobody knows of');
  }
}

function replaceCode(codes: string[], code: string): void {
  for (const [index, each] of codes.entries()) if (each === code) codes[index] = 'lost';
}

/** Returns the code of a failed start of the serving definition. */
function reconcileLost(expected: readonly string[], shown: string[]): void {
  const count = (codes: readonly string[], code: string): number =>
    codes.filter((each) => each === code).length;
  let surplus = count(shown, 'server-exited') - count(expected, 'server-exited');
  for (const [index, code] of shown.entries()) {
    if (code === 'server-exited' && surplus-- > 0) shown[index] = 'lost';
  }
}
