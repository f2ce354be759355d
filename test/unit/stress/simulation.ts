/**
 * The host over fake servers, under random edits, calls, deaths and actions of persons, one step
 * after the other. After each step it is compared with the oracle. The clock is a fake one, and
 * only turns of the event loop pass.
 */
import assert from 'node:assert/strict';
import { adminNames } from '../../../src/core/catalogue/admin.js';
import { DisposableStore } from '../../../src/core/base/disposables.js';
import { ListError } from '../../../src/core/connections/connection.js';
import type { Host } from '../../../src/core/calling/hostContract.js';
import { testCore } from '../../support/core/testCore.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { FakeConnector, listing, textResult } from '../../support/fakes/fakeConnector.js';
import { emptyFile, launchVariable, randomEdit, textOf, type FileModel } from './edits.js';
import { isWrong, Oracle } from './oracle.js';
import type { Random } from './random.js';
import { Records, type CallRecord, type InstanceRecord, type Pending } from './records.js';
import { turn, within } from './turns.js';
import { conversations, steps, toolNames, vocabulary, type StepKind } from './vocabulary.js';
import { policies } from '../../../src/core/protocol/clientPolicy.js';

export class Simulation {
  readonly counts = new Map<string, number>();
  private readonly connector = new FakeConnector();
  private readonly clock = new FakeClock();
  private readonly env: Record<string, string> = { [launchVariable]: 'v0' };
  private readonly oracle = new Oracle(adminNames);
  private readonly host: Host;
  private readonly records: Records;
  private readonly waits = new Set<Promise<unknown>>();
  private file: FileModel = emptyFile;
  private numbers = 0;
  private edits = 0;
  /** The last steps, for the message of a failure. */
  private readonly trail: string[] = [];

  constructor(private readonly random: Random) {
    const { clock, connector, env } = this;
    // The oracle tells the purpose of a start by the turn in which it connects.
    this.host = testCore({
      clock,
      connector,
      env,
      maxInstances: () => 1_000,
      startsAtOnce: 1_000,
    }).host;
    this.records = new Records({ connector, clock, oracle: this.oracle, host: this.host });
    for (const program of vocabulary.programs)
      this.records.offers.set(program, this.randomOffers());
  }

  get editsMade(): number {
    return this.edits;
  }

  async step(): Promise<void> {
    const kind = this.random.weighted(steps);
    this.note(kind);
    try {
      await this.carryOut(kind);
      await turn();
      this.records.claimStarts();
      this.records.matchCalls();
      this.records.compare();
    } catch (error) {
      throw new Error(this.describe(), { cause: error });
    }
  }

  /** Lets everything come to rest, ends the host, and proves that nothing is left. */
  async end(): Promise<void> {
    try {
      await this.settle();
      const stores = DisposableStore.liveNames();
      for (const call of this.records.calls) call.excuse ??= 'the end';
      await this.host.dispose();
      await turn();
      assert.equal(this.connector.live.size, 0, 'connections are left');
      assert.equal(this.clock.pending, 0, 'timers are left');
      assert.deepEqual(DisposableStore.liveNames(), stores);
      for (const call of this.records.calls)
        assert.ok(call.outcome, `call ${call.number} has no outcome`);
      await Promise.all(this.waits);
    } catch (error) {
      throw new Error(this.describe(), { cause: error });
    }
  }

  private async carryOut(kind: StepKind): Promise<void> {
    const { random } = this;
    switch (kind) {
      case 'edit':
        return this.edit();
      case 'editDuringStarts':
        return this.editDuringStarts();
      case 'answerStarts':
        for (const pending of random.shuffled(this.records.pendings()))
          if (random.chance(0.6)) await this.answer(pending);
        return;
      case 'call':
        return this.call();
      case 'answerCall': {
        const running = [...this.records.calls].filter(({ answer, outcome }) => answer && !outcome);
        if (running.length > 0) await this.answerCall(random.pick(running));
        return;
      }
      case 'cancelCall': {
        const open = [...this.records.calls].filter(({ outcome }) => !outcome);
        if (open.length === 0) return;
        const call = random.pick(open);
        call.excuse = 'cancelled';
        call.controller.abort();
        return;
      }
      case 'die': {
        const live = [...this.records.instances].filter(({ connection }) => !connection.closed);
        if (live.length > 0) this.die(random.pick(live));
        return;
      }
      case 'changeTools':
        return this.changeTools(false);
      case 'brokenTools':
        return this.changeTools(true);
      case 'seconds':
        return this.advance(1_000 + random.int(4_000));
      case 'halfMinute':
        return this.advance(31_000);
      case 'idle':
        return this.advance(16 * 60_000);
      case 'stop':
      case 'start':
      case 'restart':
      case 'release':
        return this.person(kind);
      case 'hostVariable':
        this.env[launchVariable] = `v${random.int(3)}`;
        this.wait(this.host.reload());
        this.oracle.apply(this.file, this.hostValue);
        this.records.excuseReplaced();
        return;
      case 'settle':
        return this.settle();
    }
  }

  private get hostValue(): string {
    return this.env[launchVariable] ?? '';
  }

  private setSources(): void {
    this.edits++;
    const text = textOf(
      this.file,
      ({ program, nonce }) => ({ command: program, args: [String(nonce)] }),
      `edit ${this.edits}`,
    );
    this.wait(this.host.setSources([{ file: '/ws/.minds/mcp.yaml', folder: '/ws', text }]));
    this.oracle.apply(this.file, this.hostValue);
    this.records.excuseReplaced();
  }

  private edit(): void {
    const { kind, file } = randomEdit(this.file, this.random, vocabulary);
    this.note(`edit: ${kind}`);
    this.file = file;
    this.setSources();
  }

  /** The connections open in the same turn as an edit that may end them. */
  private async editDuringStarts(): Promise<void> {
    const attempts = this.records
      .pendings()
      .filter((pending) => this.records.purposes.get(pending)?.kind === 'attempt');
    const wanted = attempts.map((pending) => ({
      pending,
      history: this.oracle.history(pending.request.server).pending,
      made: this.flaky(pending)
        ? undefined
        : pending.succeed(listing(...this.records.offersOf(pending))),
    }));
    this.edit();
    for (const { pending, history, made } of wanted) {
      this.records.forget(pending);
      if (!made) {
        // A call without an answer yet may be gone with the edit.
        if (!pending.request.signal.aborted) this.records.fail(pending);
        continue;
      }
      const still =
        history !== undefined && this.oracle.history(pending.request.server).pending === history;
      await turn();
      if (still) this.records.settled(pending, made);
      else assert.ok(made.closed, 'what an overtaken start connected is open');
    }
  }

  private flaky(pending: Pending): boolean {
    const program = this.records.program(pending);
    return program === 'bad' || (program === 'flaky' && this.random.chance(0.5));
  }

  private async answer(pending: Pending): Promise<void> {
    if (pending.request.signal.aborted) return;
    if (this.flaky(pending)) {
      this.records.fail(pending);
    } else {
      const made = pending.succeed(listing(...this.records.offersOf(pending)));
      await turn();
      this.records.settled(pending, made);
    }
    await turn();
    this.records.claimStarts();
    this.records.matchCalls();
  }

  private async call(): Promise<void> {
    const published = this.oracle.published();
    if (published.length === 0) return;
    const [server = '', tool = ''] = this.random.pick(published).split('/');
    const { serving } = this.oracle.history(server);
    const original = this.oracle.original(server, tool);
    assert.ok(serving && original !== undefined);
    const controller = new AbortController();
    const conversation = this.random.pick(conversations);
    const call: CallRecord = {
      number: ++this.numbers,
      server,
      conversation,
      original,
      serving,
      controller,
    };
    this.records.calls.add(call);
    const { signal } = controller;
    void this.host
      .call({
        policy: policies.agent,
        toolset: server,
        tool,
        arguments: { number: call.number },
        conversation,
        signal,
      })
      .then((outcome) => this.records.ended(call, outcome));
    await turn();
    this.records.claimStarts(call);
  }

  private async answerCall(call: CallRecord): Promise<void> {
    if (this.random.chance(0.1)) {
      call.excuse = 'an error of the tool';
      call.answer?.answer({ kind: 'error', code: -32000, message: 'no' });
    } else {
      call.answer?.answer({ kind: 'result', result: textResult(String(call.number)) });
    }
    await turn();
    assert.ok(call.outcome, `call ${call.number} was answered and has no outcome`);
  }

  private die(instance: InstanceRecord): void {
    instance.excuse = 'it died';
    for (const call of instance.calls) call.excuse ??= 'its instance died';
    if (this.records.isCurrent(instance.server, instance.serving))
      this.oracle.history(instance.server).servingTrouble = true;
    instance.connection.die('it was killed');
  }

  private async changeTools(broken: boolean): Promise<void> {
    const live = [...this.records.instances].filter(
      ({ connection, server, serving }) =>
        !connection.closed && this.records.isCurrent(server, serving),
    );
    if (live.length === 0) return;
    const { program } = this.random.pick(live);
    const offers = this.randomOffers();
    if (!broken) this.records.offers.set(program, offers);
    const told = live.filter((each) => each.program === program);
    for (const instance of told) {
      const { connection, serving } = instance;
      this.oracle.relisted(serving, broken ? undefined : offers);
      for (let times = 1 + this.random.int(3); times > 0; times--) {
        connection.changeTools(broken ? new ListError('no list now.') : listing(...offers));
      }
    }
    // A server with frequent changes is asked after a while, and at most twice for these changes.
    for (let times = 0; times < 2; times++) {
      await turn();
      this.clock.advance(600);
    }
    await turn();
    if (!broken) return;
    for (const { connection } of told)
      connection.offers = listing(...(this.records.offers.get(program) ?? []));
  }

  private async advance(ms: number): Promise<void> {
    const before = [...this.records.instances].filter(({ connection }) => !connection.closed);
    const busy = new Set(before.filter(({ calls }) => calls.size > 0));
    for (const instance of before) {
      if (ms > 15 * 60_000 && !busy.has(instance)) instance.excuse ??= 'it was idle';
      if (this.clock.now() + ms - (instance.replacedAt ?? Infinity) >= 30_000) {
        for (const call of instance.calls) call.excuse ??= 'the drain limit';
      }
    }
    this.clock.advance(ms);
    await turn();
    for (const { connection, excuse } of before) {
      if (excuse === 'it was idle') assert.ok(connection.closed, 'an idle instance lives');
    }
    for (const instance of busy) {
      if (this.clock.now() - (instance.replacedAt ?? Infinity) >= 30_000) {
        assert.ok(instance.connection.closed, 'the drain limit has passed');
      }
    }
  }

  private async person(kind: 'stop' | 'start' | 'restart' | 'release'): Promise<void> {
    const { ids } = this.oracle;
    if (ids.length === 0) return;
    const id = this.random.pick(ids);
    const entry = this.oracle.entry(id);
    const of = [...this.records.instances].filter(({ server }) => server === id);
    const end = (instances: readonly InstanceRecord[], why: string): void => {
      for (const instance of instances) {
        instance.excuse ??= why;
        for (const call of instance.calls) call.excuse ??= why;
      }
      // The calls whose instance is starting.
      for (const call of this.records.calls)
        if (call.server === id && !call.instance) call.excuse ??= why;
    };
    switch (kind) {
      case 'stop':
        end(of, 'stopped');
        this.wait(this.host.stop(id));
        this.oracle.stop(id);
        break;
      case 'start':
      case 'restart': {
        const current = of.filter(({ server, serving }) => this.records.isCurrent(server, serving));
        if (entry && isWrong(entry)) this.oracle.apply(this.file, this.hostValue);
        const { serving } = this.oracle.history(id);
        const after = this.oracle.entry(id);
        // The serving definition of a wrong entry is started again, whatever its launch is.
        const isLast =
          after &&
          (isWrong(after) || (after.enabled && serving?.launch === this.oracle.launchOf(after)));
        const runs = serving && isLast;
        if (kind === 'restart' && runs) end(current, 'restarted');
        // Every start of another definition begins again.
        if (kind === 'restart' && !runs)
          for (const pending of this.records.pendings()) this.untag(pending, id);
        this.wait(kind === 'start' ? this.host.start(id) : this.host.restart(id));
        this.oracle.start(id);
        break;
      }
      case 'release': {
        const conversation = this.random.pick(conversations);
        const held = of.filter(
          (instance) => instance.conversation === conversation && !instance.serving.stateless,
        );
        end(held, 'released');
        this.wait(this.host.release(id, conversation));
        break;
      }
    }
    await turn();
    this.records.excuseReplaced();
  }

  private untag(pending: Pending, id: string): void {
    if (pending.request.server === id && this.records.purposeOf(pending).kind === 'attempt')
      this.records.purposes.delete(pending);
  }

  /**
   * Answers every start and call until none is under way. Then everything must be as the oracle
   * says.
   */
  private async settle(): Promise<void> {
    for (;;) {
      await turn();
      this.records.claimStarts();
      this.records.matchCalls();
      const pendings = this.records.pendings();
      for (const pending of this.random.shuffled(pendings)) await this.answer(pending);
      const running = [...this.records.calls].filter(({ outcome }) => !outcome);
      for (const call of running) if (call.answer && !call.outcome) await this.answerCall(call);
      if (pendings.length === 0 && this.records.pendings().length === 0) break;
    }
    // An early refresh is delayed (rate limits of refreshing).
    for (let times = 0; times < 3; times++) {
      this.clock.advance(600);
      await turn();
      this.records.claimStarts();
      for (const pending of this.records.pendings()) await this.answer(pending);
    }
    await within(Promise.all(this.waits));
    this.records.compareSettled();
  }

  private wait(promise: Promise<unknown>): void {
    this.waits.add(promise);
    void promise.finally(() => this.waits.delete(promise)).catch(() => undefined);
  }

  private randomOffers(): string[] {
    const offers = this.random.some(toolNames, 4);
    return offers.length === 0 ? ['t0'] : offers;
  }

  private note(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
    this.trail.push(what);
    if (this.trail.length > 40) this.trail.shift();
  }

  private describe(): string {
    const { snapshot } = this.host;
    return [
      `seed ${this.random.seed}, ${this.edits} edits`,
      `steps: ${this.trail.join(', ')}`,
      `file: ${JSON.stringify(this.file)}`,
      `states: ${snapshot.servers.map(({ id, state }) => `${id} ${state.kind}`).join(', ')}`,
      `problems: ${snapshot.problems.map(({ code, server }) => `${server ?? ''}:${code}`).join(', ')}`,
      `oracle: ${this.oracle.published().join(' ')}; ${this.oracle.problems().join(', ')}`,
    ].join('\n');
  }
}
