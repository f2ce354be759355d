/**
 * Every function that reads text of others is given a lot of it, in every shape that patterns and parsers have stumbled
 * over (S2). Nothing is measured by the clock alone: what each may take is told by a linear pass over the same text in the
 * same run, so a function that is not linear fails at the first size already.
 */
import assert from 'node:assert/strict';
import { readInitializeAnswer } from '../../src/core/connections/handshake.js';
import { inShort } from '../../src/core/connections/http/exchange.js';
import { readChallenge } from '../../src/core/connections/http/oauth/access.js';
import { inBrief, parseMessages, shortened } from '../../src/core/connections/jsonRpc.js';
import { initializeRefused, listFailed } from '../../src/core/connections/openingFailures.js';
import { likelyCause } from '../../src/core/connections/stdio/likelyCause.js';
import { LineSplitter } from '../../src/core/connections/stdio/lineSplitter.js';

const sizes = [16 * 1024, 1024 * 1024];
/** How many linear passes over a mebibyte a function may take: it may go over the text many times. */
const mostPasses = 60;

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
  ...['Bearer realm="', ', a="b"', 'file:///', '{a}', '*a', '..', 'x'.repeat(63) + ' '],
];

const filled = (shape: string, size: number): string => shape.repeat(Math.ceil(size / shape.length)).slice(0, size);

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  'a message of a server': (text) => parseMessages(text),
  'a text in a message of a server': (text) =>
    parseMessages(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: 1, message: text } })),
  'an answer to initialize': (text) =>
    readInitializeAnswer({
      protocolVersion: '2025-11-25',
      capabilities: {},
      serverInfo: { name: text, version: text, title: text },
      instructions: text,
    }),
  'another answer to initialize': (text) => readInitializeAnswer({ protocolVersion: text }),
  'a text that is shown in short': (text) => [shortened(text, 500), inBrief({ text }, 500)],
  'a page instead of an answer': (text) => [inShort(text), inShort(`<html>${text}`)],
  'a challenge': (text) => readChallenge(`Bearer ${text.slice(0, 16 * 1024)}`),
  'an error of a server': (text) => [
    initializeRefused('It', { code: 1, message: text }),
    listFailed('It', shortened(text, 500)),
  ],
  'the last words of a process': (text) =>
    likelyCause(
      { code: 1, signal: null },
      Array.from({ length: 25 }, (_, line) => text.slice(line * 500, (line + 1) * 500)),
    ),
  'the output of a process': (text) => {
    const lines = new LineSplitter({ limit: 8 * 1024, onLine: () => {}, onExcess: () => 'cut' });
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 64 * 1024) lines.push(bytes.subarray(at, at + 64 * 1024));
    lines.end();
  },
};

async function time(run: () => unknown): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

describe('long texts of others', function () {
  this.timeout(300_000);
  const largest = Math.max(...sizes);

  /** A pass over the largest text, which looks at each character and makes another text of them; the median of five. */
  async function linearPass(): Promise<number> {
    const text = filled('a"', largest);
    const taken: number[] = [];
    for (let turn = 0; turn < 5; turn++) taken.push(await time(() => JSON.parse(JSON.stringify(text)) === text));
    return taken.sort((a, b) => a - b)[2] ?? 0;
  }

  for (const [what, read] of Object.entries(readers)) {
    it(`${what}: read in linear time`, async () => {
      let bound = mostPasses * (await linearPass());
      for (const size of sizes) {
        for (const shape of shapes) {
          const text = filled(shape, size);
          let took = await time(() => read(text));
          // What was slow because the machine was busy is not slow again.
          for (let again = 0; took > bound && again < 2; again++) {
            bound = Math.max(bound, mostPasses * (await linearPass()));
            took = Math.min(took, await time(() => read(text)));
          }
          const found = `${took.toFixed(1)} ms, ${mostPasses} linear passes ${bound.toFixed(1)} ms`;
          assert.ok(took <= bound, `${size} characters of ${JSON.stringify(shape)} took ${found}`);
        }
      }
    });
  }
});
