/** A question during the start of a window waits a limited time for its tools. */
import assert from 'node:assert/strict';
import { Emitter } from '../../../../src/core/base/events.js';
import {
  untilReady,
  type EngineSlot,
  type WindowState,
} from '../../../../src/vscode/engine/engineSlot.js';
import { FakeClock } from '../../../support/fakes/fakeClock.js';
import { rest } from '../../../support/fakes/fakeClock.js';
import { servedTool, snapshot, status } from '../views/statuses.js';

const starting = status('slow', { state: { kind: 'starting', since: 0 } as never });
const serving = (...servers: ReturnType<typeof status>[]): WindowState => ({
  phase: 'serving',
  snapshot: snapshot(servers),
});

describe('readiness for a question', () => {
  let clock: FakeClock;
  let changes: Emitter<WindowState>;
  let slot: { state: WindowState; onDidChange: EngineSlot['onDidChange'] };
  let waits: (readonly string[])[];
  let done: boolean;

  beforeEach(() => {
    clock = new FakeClock();
    changes = new Emitter();
    slot = { state: serving(), onDidChange: changes.event };
    waits = [];
    done = false;
  });

  function become(state: WindowState): void {
    slot.state = state;
    changes.fire(state);
  }

  async function begin(signal = new AbortController().signal): Promise<void> {
    const ready = untilReady(slot as unknown as EngineSlot, clock, signal, (ids) =>
      waits.push(ids),
    );
    void ready.then(() => (done = true));
    await rest();
  }

  it('a question does not wait if no server starts, or without folder, file or trust', async () => {
    for (const phase of ['serving', 'noFolder', 'noFile', 'untrusted'] as const) {
      done = false;
      slot.state = { phase, snapshot: snapshot([]) };
      await begin();
      assert.ok(done, phase);
    }
    assert.deepEqual([waits, clock.pending], [[], 0]);
  });

  it('a question waits for the config files and for servers without a list, and reports it once', async () => {
    slot.state = { phase: 'reading', snapshot: snapshot([]) };
    await begin();
    assert.deepEqual(waits, [[]]);
    become(serving(starting, status('other')));
    await rest();
    assert.equal(done, false, 'a server starts');
    become(serving(status('slow')));
    await rest();
    assert.ok(done);
    assert.deepEqual([waits, clock.pending], [[[]], 0], 'no timer is left');
  });

  it('a question names the servers it waits for, without servers that restart and still serve', async () => {
    slot.state = serving({ ...starting, id: 'again', tools: [servedTool('a')] }, starting);
    await begin();
    assert.deepEqual(waits, [['slow']]);
  });

  it('a question waits ten seconds at most', async () => {
    slot.state = serving(starting);
    await begin();
    clock.advance(9_999);
    await rest();
    assert.equal(done, false);
    clock.advance(1);
    await rest();
    assert.ok(done);
    become(serving());
    await rest();
  });

  it('waiting ends with the question, even if it was cancelled before', async () => {
    slot.state = serving(starting);
    const question = new AbortController();
    await begin(question.signal);
    question.abort();
    await rest();
    assert.deepEqual([done, clock.pending], [true, 0]);
    done = false;
    await begin(question.signal);
    assert.deepEqual([done, clock.pending], [true, 0]);
  });
});
