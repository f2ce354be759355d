import assert from 'node:assert/strict';
import fc from 'fast-check';
import { LineSplitter } from '../../../../src/core/connections/stdio/lineSplitter.js';

function split(
  chunks: readonly Buffer[],
  limit = 1000,
  onExcess: () => 'stop' | 'skip' = () => 'stop',
): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter({ limit, onLine: (line) => lines.push(line), onExcess });
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return lines;
}

/** Splits the text into chunks of these lengths, in turn. */
function chunked(text: string, lengths: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text);
  const chunks: Buffer[] = [];
  for (let start = 0, n = 0; start < bytes.length; n++) {
    const length = lengths[n % lengths.length] ?? 1;
    chunks.push(bytes.subarray(start, start + length));
    start += length;
  }
  return chunks;
}

describe('line splitter', () => {
  it('lines are the same in whatever chunks the bytes arrive', () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, ''));
    const lengths = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 });
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1 }),
        lengths,
        fc.constantFrom('\n', '\r\n'),
        (lines, sizes, end) => {
          const text = lines.map((each) => each + end).join('');
          assert.deepEqual(split(chunked(text, sizes), 10_000), lines);
        },
      ),
    );
  });

  it('lines keep characters split between chunks, empty lines, and a line without end', () => {
    assert.deepEqual(split(chunked('ä€🌍\n\nlast', [1])), ['ä€🌍', '', 'last']);
  });

  it('a single carriage return is a character of the line', () => {
    assert.deepEqual(split([Buffer.from('a\rb\r\n\r\n')]), ['a\rb', '']);
  });

  it('the splitter stops for good at a line over the limit', () => {
    let told = 0;
    const onExcess = (): 'stop' => {
      told += 1;
      return 'stop';
    };
    assert.deepEqual(split(chunked(`ok\n${'x'.repeat(11)}\nmore\n`, [4]), 10, onExcess), ['ok']);
    assert.equal(told, 1);
    assert.deepEqual(split([Buffer.from(`${'x'.repeat(10)}\n`)], 10, onExcess), ['x'.repeat(10)]);
    assert.equal(told, 1);
  });

  it('a line over the limit is left out, but for its ends', () => {
    const [head, tail] = ['a'.repeat(5_000), 'b'.repeat(20_000)];
    for (const size of [1, 7, 4_096, 60_000]) {
      const lines: string[] = [];
      const skipped: string[][] = [];
      const heads: string[] = [];
      const splitter = new LineSplitter({
        limit: 8_000,
        onLine: (line) => lines.push(line),
        onExcess: (start) => {
          heads.push(start);
          return 'skip';
        },
        onSkipped: (...ends) => skipped.push(ends),
      });
      for (const chunk of chunked(`one\n${head}${tail}\nlast\n${head}${tail}`, [size]))
        splitter.push(chunk);
      assert.deepEqual(
        [heads, splitter.unfinished],
        [[head.slice(0, 4_096), head.slice(0, 4_096)], ''],
      );
      assert.deepEqual(lines, ['one', 'last']);
      assert.equal(skipped.length, 1);
      assert(skipped[0]?.[0] === head.slice(0, 4_096) && skipped[0][1] === tail.slice(0, 4_096));
    }
  });

  it('small chunks of a line are joined', () => {
    const lines: string[] = [];
    const splitter = new LineSplitter({
      limit: 100_000,
      onLine: (line) => lines.push(line),
      onExcess: () => 'stop',
    });
    const text = 'x'.repeat(60_001);
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at++) splitter.push(bytes.subarray(at, at + 1));
    // The last chunk may not be joined yet.
    bytes.subarray(0, -1).fill('?');
    splitter.push(Buffer.from('\n'));
    assert.ok(lines.length === 1 && lines[0] === text, 'what was written over is not in the line');
  });

  it('the time of splitting is linear in the length of a line', () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const lines: number[] = [];
    const splitter = new LineSplitter({
      limit: 1e9,
      onLine: ({ length }) => lines.push(length),
      onExcess: () => 'stop',
    });
    const begun = performance.now();
    for (let n = 0; n < 800; n++) splitter.push(chunk);
    const before = performance.now() - begun;
    splitter.push(Buffer.from('\n'));
    assert.deepEqual(lines, [800 * chunk.length]);
    assert(before < 200, `${before} ms for chunks that end no line`);
  });
});
