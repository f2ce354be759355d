/** The answer to a question at a terminal (S4): only input after the question. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { typedLine } from '../../../src/cli/terminalQuestion.js';

class Keyboard extends PassThrough {
  readonly modes: boolean[] = [];

  setRawMode(isRaw: boolean): void {
    this.modes.push(isRaw);
  }
}

describe('a line that is typed at a terminal (S1l)', () => {
  let input: Keyboard;
  let shown: string;
  let interruptions: number;
  let withdrawn: AbortController;

  beforeEach(() => {
    input = new Keyboard();
    [shown, interruptions, withdrawn] = ['', 0, new AbortController()];
  });

  /** Begins a question. */
  function question(isOneKey = false): { stands: Promise<void>; answer: Promise<string> } {
    let stand: () => void = () => {};
    const stands = new Promise<void>((resolve) => (stand = resolve));
    const answer = typedLine({
      input,
      ask: () => {
        shown += '?';
        stand();
      },
      echo: (text) => (shown += text),
      interrupt: () => interruptions++,
      signal: withdrawn.signal,
      isOneKey,
    });
    return { stands, answer };
  }

  async function answered(...typed: string[]): Promise<string> {
    const { stands, answer } = question();
    await stands;
    for (const keys of typed) input.write(keys);
    return await answer;
  }

  it('a typed line ends with Enter and is shown', async () => {
    assert.equal(await answered('ye', 's\r'), 'yes');
    assert.equal(shown, '?yes\n');
    assert.deepEqual(input.modes, [true, false]);
    assert.ok(input.isPaused());
    assert.equal(await answered('n\ny\n'), 'n');
  });

  it('the first key after a page is its answer, and later keys do not answer the next question', async () => {
    for (const [keys, key] of [
      ['\r', '\r'],
      ['qy\n', 'q'],
      ['\u0004', '\u0004'],
      ['\u001b[B', '\u001b'],
    ] as const) {
      input.write('y');
      const { stands, answer } = question(true);
      await stands;
      input.write(keys);
      assert.equal(await answer, key);
    }
    assert.equal(await answered('n\n'), 'n');
  });

  it('Backspace corrects a typed line', async () => {
    assert.equal(await answered('\u007fyx\u007f\n'), 'y');
    assert.equal(shown, '?yx\b \b\n');
  });

  it('a typed line has no control characters', async () => {
    assert.equal(await answered('\u001b[Ay\u0000\n'), '[Ay');
    assert.equal(shown, '?[Ay\n');
  });

  it('a line is empty after Ctrl-D or the end of the input, for later questions too', async () => {
    assert.equal(await answered('y\u0004'), '');
    const { stands, answer } = question();
    await stands;
    input.end('y');
    assert.equal(await answer, '');
    assert.equal(await question().answer, '');
  });

  it('a line is empty if the terminal is gone', async () => {
    const { stands, answer } = question();
    await stands;
    input.destroy(new Error('EIO'));
    assert.equal(await answer, '');
  });

  it('a line has no input from before the question', async () => {
    input.write('y');
    input.write('\n');
    assert.equal(await answered('\n'), '');
    input.write('y\n');
    assert.equal(await answered('n\n'), 'n');
    assert.equal(shown, '?\n?n\n');
  });

  it('a line has no input for a withdrawn question', async () => {
    const first = question();
    await first.stands;
    input.write('y');
    await new Promise((resolve) => setImmediate(resolve));
    withdrawn.abort();
    assert.equal(await first.answer, '');
    assert.deepEqual(input.modes, [true, false]);
    withdrawn = new AbortController();
    assert.equal(await answered('\n'), '');
    assert.equal(shown, '?y?\n');
  });

  it('a withdrawn question is not asked', async () => {
    withdrawn.abort();
    assert.equal(await question().answer, '');
    withdrawn = new AbortController();
    const { answer } = question();
    withdrawn.abort();
    assert.equal(await answer, '');
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    assert.equal(shown, '');
  });

  it('Ctrl-C interrupts, even before the question', async () => {
    input.write('\u0003');
    const { stands, answer } = question();
    await stands;
    assert.equal(interruptions, 1);
    input.write('\u0003');
    input.write('n\n');
    assert.equal(await answer, 'n');
    assert.equal(interruptions, 2);
  });
});
