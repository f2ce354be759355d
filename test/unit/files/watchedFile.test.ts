import assert from 'node:assert/strict';
import { watchFile, type Disk, type WatchedFile } from '../../../src/core/files/watchedFile.js';
import type { FileContent } from '../../../src/core/base/textFile.js';
import { FakeClock, rest } from '../../support/fakes/fakeClock.js';

type Fault = { readonly code: string };

/** One file in memory. */
class FakeDisk implements Disk {
  content: string | Fault = { code: 'ENOENT' };
  version = 0;
  reads = 0;
  /** Runs while the file is being read, after its text was taken. */
  duringRead: (() => void) | undefined;

  write(content: string | Fault): void {
    this.content = content;
    this.version++;
  }

  async read(): Promise<string> {
    this.reads++;
    const content = this.content;
    await Promise.resolve();
    this.duringRead?.();
    if (typeof content !== 'string') throw content as unknown as Error;
    return content;
  }

  async stamp(): Promise<string> {
    await Promise.resolve();
    if (typeof this.content !== 'string' && this.content.code === 'ENOENT')
      throw this.content as unknown as Error;
    return String(this.version);
  }
}

describe('watchFile', () => {
  let clock: FakeClock;
  let disk: FakeDisk;
  let file: WatchedFile;
  let heard: FileContent[];

  function watch(): void {
    file = watchFile('/folder/.minds/mcp.yaml', { clock, disk });
    file.onDidChange((content) => heard.push(content));
  }

  const texts = (): (string | undefined)[] =>
    heard.map((content) => (content.kind === 'text' ? content.text : undefined));

  beforeEach(() => {
    clock = new FakeClock();
    disk = new FakeDisk();
    heard = [];
  });

  afterEach(() => {
    file.dispose();
    assert.equal(clock.pending, 0, 'no timer is left');
  });

  it('a watched file is read at once, even a missing one', async () => {
    watch();
    assert.equal(file.content, undefined);
    await rest();
    assert.deepEqual(file.content, { kind: 'absent' });
    assert.deepEqual(heard, [{ kind: 'absent' }]);
  });

  it('a change is found by looking, within one interval and the debounce', async () => {
    disk.write('a');
    watch();
    await rest();
    disk.write('b');
    await clock.flow(2199);
    assert.deepEqual(texts(), ['a']);
    await clock.flow(1);
    assert.deepEqual(texts(), ['a', 'b']);
  });

  it('a requested reading starts at once, and ends after listeners received it', async () => {
    disk.write('a');
    watch();
    await rest();
    disk.write('b');
    await file.readNow();
    assert.deepEqual(texts(), ['a', 'b']);
    await file.readNow();
    assert.deepEqual(texts(), ['a', 'b']);
  });

  describe('a half-typed launch (R1a)', () => {
    let typed: string | undefined;
    const seen = (): unknown[] =>
      heard.map((content) =>
        content.kind !== 'text' ? content : [content.text, content.typed ?? ''].join(' ').trim(),
      );

    beforeEach(async () => {
      typed = 'server';
      disk.write('a');
      file = watchFile('/folder/.minds/mcp.yaml', {
        clock,
        disk,
        typedIn: (before, now) => Promise.resolve(before === now ? undefined : typed),
      });
      file.onDidChange((content) => heard.push(content));
      await rest();
      disk.write('ab');
      await clock.flow(9_000);
    });

    it('a half-typed launch is known at once, and its text too', () => {
      assert.deepEqual(seen(), ['a', 'ab server']);
    });

    it('a half-typed launch counts at the end of the typing', async () => {
      typed = undefined;
      file.nudge();
      await clock.flow(200);
      assert.deepEqual(seen(), ['a', 'ab server', 'ab']);
    });

    it('a half-typed launch counts after a while without changes', async () => {
      disk.write('abc');
      await clock.flow(9_000);
      assert.deepEqual(seen(), ['a', 'ab server', 'abc server']);
      await clock.flow(6_000);
      assert.deepEqual(seen(), ['a', 'ab server', 'abc server', 'abc']);
    });

    it('a half-typed launch counts at once on request', async () => {
      await file.readNow();
      assert.deepEqual(seen(), ['a', 'ab server', 'ab']);
    });

    it('a launch typed back to the text that counts does not wait', async () => {
      disk.write('a');
      await clock.flow(2_500);
      assert.deepEqual(seen(), ['a', 'ab server', 'a']);
    });
  });

  it('an unchanged file is not read again', async () => {
    disk.write('a');
    watch();
    await clock.flow(60_000);
    assert.equal(disk.reads, 1);
  });

  it('a nudge reads after the debounce, without waiting for the next look', async () => {
    disk.write('a');
    watch();
    await rest();
    disk.write('b');
    file.nudge();
    await clock.flow(199);
    assert.deepEqual(texts(), ['a']);
    await clock.flow(1);
    assert.deepEqual(texts(), ['a', 'b']);
  });

  it('a nudge reads the file even with the same stamp', async () => {
    disk.write('a');
    watch();
    await rest();
    disk.content = 'b';
    file.nudge();
    await clock.flow(200);
    assert.deepEqual(texts(), ['a', 'b']);
  });

  it('a burst of changes is one reading', async () => {
    disk.write('0');
    watch();
    await rest();
    for (let save = 1; save <= 5; save++) {
      disk.write(String(save));
      file.nudge();
      await clock.flow(50);
    }
    await clock.flow(200);
    assert.deepEqual(texts(), ['0', '5']);
    assert.equal(disk.reads, 2);
  });

  it('an endless burst of changes is read in between', async () => {
    disk.write('0');
    watch();
    await rest();
    for (let save = 1; save <= 20; save++) {
      disk.write(String(save));
      file.nudge();
      await clock.flow(100);
    }
    assert.ok(heard.length > 1, 'something was read while the burst went on');
    await clock.flow(200);
    assert.equal(texts().at(-1), '20');
  });

  it('a save with the same text causes no event', async () => {
    disk.write('a');
    watch();
    await rest();
    disk.write('a');
    await clock.flow(4000);
    assert.deepEqual(texts(), ['a']);
    assert.equal(disk.reads, 2);
  });

  it('a change during a reading is read again, and only the last state is reported', async () => {
    disk.write('a');
    watch();
    await rest();
    disk.write('torn');
    disk.duringRead = () => {
      disk.duringRead = undefined;
      disk.write('whole');
    };
    file.nudge();
    await clock.flow(1000);
    assert.deepEqual(texts(), ['a', 'whole']);
  });

  it('a file that never comes to rest is read as it is', async () => {
    disk.write('a');
    watch();
    await rest();
    let count = 0;
    disk.duringRead = () => disk.write(`growing ${++count}`);
    file.nudge();
    await clock.flow(3000);
    assert.ok(heard.length > 1);
    disk.duringRead = undefined;
    disk.write('done');
    await clock.flow(3000);
    assert.equal(texts().at(-1), 'done');
  });

  it('ends with the last of two states when the file is deleted and written again at once', async () => {
    disk.write('a');
    watch();
    await rest();
    disk.write({ code: 'ENOENT' });
    file.nudge();
    disk.write('b');
    file.nudge();
    await clock.flow(200);
    assert.deepEqual(texts(), ['a', 'b']);
  });

  it('a deletion is reported', async () => {
    disk.write('a');
    watch();
    await rest();
    disk.write({ code: 'ENOENT' });
    await clock.flow(2200);
    assert.deepEqual(heard.at(-1), { kind: 'absent' });
  });

  for (const [code, reason] of [
    ['EACCES', 'permission denied'],
    ['EISDIR', 'it is a folder'],
    ['ELOOP', 'its symbolic links go in a circle'],
    ['EBUSY', 'EBUSY'],
  ] as const) {
    it(`the error ${code} is reported as a value`, async () => {
      disk.write({ code });
      watch();
      await rest();
      assert.deepEqual(heard, [{ kind: 'unreadable', reason }]);
      disk.write('a');
      await clock.flow(2200);
      assert.deepEqual(heard.at(-1), { kind: 'text', text: 'a' });
    });
  }

  it('a path through a file counts as absent', async () => {
    disk.write({ code: 'ENOTDIR' });
    watch();
    await rest();
    assert.deepEqual(heard, [{ kind: 'absent' }]);
  });

  it('a disposed watch reports nothing, even from a running reading', async () => {
    disk.write('a');
    watch();
    file.dispose();
    await clock.flow(10_000);
    assert.deepEqual(heard, []);
  });
});
