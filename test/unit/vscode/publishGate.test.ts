import assert from 'node:assert/strict';
import { PublishGate } from '../../../src/vscode/publishGate.js';
import { FakeClock } from '../files/fakeClock.js';

describe('PublishGate', () => {
  let clock: FakeClock;
  let gate: PublishGate;
  let announced: number[];
  let start: number;

  beforeEach(() => {
    clock = new FakeClock();
    start = clock.now();
    announced = [];
    gate = new PublishGate(clock, () => announced.push(clock.now() - start));
  });

  afterEach(() => {
    gate.dispose();
    assert.equal(clock.pending, 0);
  });

  it('announces at once, changes of one moment together', async () => {
    gate.request();
    gate.request();
    await clock.advance(5);
    gate.request();
    await clock.advance(5);
    assert.deepEqual(announced, [10]);
  });

  it('announces what comes soon after at once too', async () => {
    for (const wait of [100, 100, 100]) {
      gate.request();
      await clock.advance(wait);
    }
    assert.deepEqual(announced, [10, 110, 210]);
  });

  it('lets the editor take over before it goes on, when changes do not end', async () => {
    for (let change = 0; change < 40; change++) {
      gate.request();
      await clock.advance(100);
    }
    const gaps = announced.slice(1).map((at, index) => at - (announced[index] ?? 0));
    assert.ok(gaps.some((gap) => gap >= 600));
    // The editor needs 500 ms of quiet; it gets one at least every 600 + 600 ms.
    let last = 0;
    announced.forEach((at, index) => {
      if (at - (announced[index - 1] ?? -Infinity) >= 500) last = at;
      assert.ok(at - last <= 1200, `no quiet between ${last} and ${at}`);
    });
  });

  it('loses no change', async () => {
    for (let change = 0; change < 13; change++) {
      gate.request();
      await clock.advance(77);
    }
    const asked = clock.now() - start - 77;
    await clock.advance(2000);
    assert.ok((announced.at(-1) ?? 0) >= asked);
  });

  it('is silent after dispose', async () => {
    gate.request();
    gate.dispose();
    await clock.advance(1000);
    assert.deepEqual(announced, []);
  });
});
