/**
 * Long texts in every shape that patterns and parsers have stumbled over, and how long a function may take for them. It is
 * not measured by the clock alone: what a function may take is told by a linear pass over the same text in the same run, so
 * that a function that is not linear fails at the first size already.
 */
import assert from 'node:assert/strict';

const largest = 1024 * 1024;
const sizes = [16 * 1024, 64 * 1024, 128 * 1024, largest];
/**
 * How many linear passes over a mebibyte a function may take: it may go over the text many times, in ways that are slower
 * than that pass. One that is quadratic takes thousands.
 */
const mostPasses = 300;

/** What is repeated, up to the size that is asked for. */
const shapes: readonly string[] = [
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

/** In milliseconds of processor time, so that what else the machine does counts little. */
async function time(run: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** A pass over the largest text, which looks at each character and makes another text of them; the median of five. */
async function linearPass(): Promise<number> {
  const text = filled('a"', largest);
  const taken: number[] = [];
  for (let turn = 0; turn < 5; turn++) taken.push(await time(() => JSON.parse(JSON.stringify(text)) === text));
  return taken.sort((a, b) => a - b)[2] ?? 0;
}

/** Fails where the function takes more than linear time for any shape, up to a mebibyte or another bound of its texts. */
export async function assertLinear(read: (text: string) => unknown, upTo = largest): Promise<void> {
  let bound = mostPasses * (await linearPass());
  for (const shape of shapes) {
    const timed = async (size: number): Promise<number> => {
      const text = filled(shape, size);
      let took = await time(() => read(text));
      // What was slow because the machine was busy is not slow again.
      for (let again = 0; took > bound && again < 2; again++) {
        bound = Math.max(bound, mostPasses * (await linearPass()));
        took = Math.min(took, await time(() => read(text)));
      }
      const found = `${took.toFixed(1)} ms, ${mostPasses} linear passes ${bound.toFixed(1)} ms`;
      assert.ok(took <= bound, `${size} characters of ${JSON.stringify(shape)} took ${found}`);
      return took;
    };
    // A size is left out where even a quadratic function that was so quick before would stay within the bound.
    for (let at = 0, took = 0; at < sizes.length; at++) {
      const [size, before] = [sizes[at] ?? 0, sizes[at - 1]];
      if (size > upTo || (before !== undefined && took * (upTo / before) ** 2 <= bound)) break;
      took = await timed(size);
    }
  }
}
