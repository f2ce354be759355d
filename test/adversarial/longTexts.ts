/**
 * Long texts in every shape known to break patterns and parsers, and time limits for functions that
 * read them. The limit is a number of linear passes over the same text in the same run, not a fixed
 * time. So a function beyond linear time fails at the first size.
 */
import assert from 'node:assert/strict';
import { collect } from '../support/heap.js';
import { threadTime } from '../support/core/threadTime.js';

const largest = 1024 * 1024;
/**
 * The maximum for a function, in linear passes over a mebibyte. 20 passes are some 100 ms on a
 * machine of 2020. A function may read the text many times, and slower than that pass. A quadratic
 * function takes thousands of passes.
 */
const mostPasses = 120;

interface Bound {
  /** The maximum number of linear passes over the largest text. */
  readonly passes: number;
  /** The length of the largest text, in characters. */
  readonly upTo: number;
  /**
   * The maximum factor for a text of eight times the length. A quadratic function takes 64 times as
   * long.
   */
  readonly growth: number;
}

const ofOne: Bound = { passes: mostPasses, upTo: largest, growth: Infinity };
/**
 * A reader that calls several functions is linear if each is. Growth proves that, and the number of
 * passes only depends on their number.
 */
export const ofMany: Bound = { ...ofOne, passes: 400, growth: 24 };
/**
 * A reader of a whole file on save or on request parses it several times. A part of the longest
 * file is enough to see linear time.
 */
export const ofFile: Bound = { passes: 3000, upTo: largest / 8, growth: 24 };
/** Shorter times grow by chance. In milliseconds. */
const leastGrown = 100;
/** The number of repeated measurements if a time seems too long. */
export const mostTries = 5;

/** Repeated up to the requested size. */
export const shapes: readonly string[] = [
  ...'a =-_.,:;/\\\'"`~!?@#$%^&*+|<>()[]{}0é\n\r\t\u0000\u2028\ud83d',
  ...[
    'a.',
    'a-',
    'a=',
    'a:',
    'a@',
    'a ',
    '--a ',
    '-a=b ',
    '?a=b&',
    '://',
    'a://',
    'http://a@',
    'http://[',
    '../',
    '%41',
    '%2e',
  ],
  ...[
    'bearer ',
    'Bearer a',
    'basic =',
    'sk-',
    'ghp_',
    'eyJ',
    'eyJa.',
    'token=',
    '"token":"',
    'password: ',
    'mcp-session-id:',
  ],
  ...[
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY-----',
    '-----END',
    'KEY="',
    '\\"',
    '\\\\',
    '{"a":',
    '[[',
    '[]',
    '{}',
    '},{',
  ],
  ...[
    '<a',
    '<script',
    '</script',
    '<html',
    '<title>',
    '<!--',
    '<![CDATA[',
    '![](',
    '[a](',
    '](',
    '**',
    '> ',
    '- ',
    '\n\n',
    '|a',
  ],
  ...[
    'data:',
    'data:image/png;base64,',
    'Error: ',
    'usage: ',
    'Cannot find module ',
    ' \n',
    '\r\n',
    '\u001b[',
    '🙂',
    'e\u0301',
  ],
  ...['a: ', 'a:\n ', '- ', '&a ', '? ', '*a\n', ': '],
  ...['Bearer realm="', ', a="b"', 'file:///', '{a}', '*a', '..', 'x'.repeat(63) + ' '],
];

export const filled = (shape: string, size: number): string =>
  shape.repeat(Math.ceil(size / shape.length)).slice(0, size);

/**
 * In milliseconds of processor time of this thread, so that other work of the machine counts
 * little.
 */
async function time(run: () => unknown): Promise<number> {
  const before = threadTime();
  await run();
  return threadTime() - before;
}

const passTimes = new Map<number, number>();

/**
 * The time of a linear pass over a text of this size, measured on the first request, or again. The
 * longer time counts.
 */
export async function linearPass(size = largest, again = false): Promise<number> {
  const known = passTimes.get(size);
  if (known !== undefined && !again) return known;
  const longer = Math.max(known ?? 0, await measuredPass(size));
  passTimes.set(size, longer);
  return longer;
}

/**
 * A pass that looks at each character and makes another text. In milliseconds, the mean of some 80
 * ms of passes.
 */
async function measuredPass(size: number): Promise<number> {
  const text = filled('a"', size);
  const passes = (16 * largest) / size;
  const taken = await time(() => {
    for (let pass = 0; pass < passes; pass++) JSON.parse(JSON.stringify(text));
  });
  return taken / passes;
}

/** Fails if the function takes more than linear time for any shape. */
export async function assertLinear(
  read: (text: string) => unknown,
  { passes, upTo, growth } = ofOne,
): Promise<void> {
  let bound = passes * (await linearPass(upTo));
  const sizes = [upTo / 64, upTo / 8, upTo];
  for (const shape of shapes) {
    const timed = async (size: number, before: number): Promise<number> => {
      const text = filled(shape, size);
      const grown = Math.max(leastGrown, before * growth);
      let took = await time(() => read(text));
      // A time that was long only because of a busy machine or the collector is short the second
      // time.
      for (let again = 0; took > Math.min(bound, grown) && again < mostTries; again++) {
        collect();
        bound = passes * (await linearPass(upTo, true));
        took = Math.min(took, await time(() => read(text)));
      }
      const found = `${size} characters of ${JSON.stringify(shape)} took ${took.toFixed(1)} ms`;
      assert.ok(took <= bound, `${found}, ${passes} linear passes ${bound.toFixed(1)} ms`);
      assert.ok(took <= grown, `${found}, an eighth of that ${before.toFixed(1)} ms`);
      return took;
    };
    // A size is skipped if even a quadratic function as fast as this one at the previous size would
    // stay within the bound.
    for (let at = 0, took = Infinity; at < sizes.length; at++) {
      const [size, before] = [sizes[at] ?? 0, sizes[at - 1]];
      if (
        before !== undefined &&
        took * (upTo / before) ** 2 <= Math.min(bound, leastGrown * growth)
      )
        break;
      took = await timed(size, took);
    }
  }
}
