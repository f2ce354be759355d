import assert from 'node:assert/strict';
import { readCallResult, readOtherResult } from '../../../src/core/connections/outcomes.js';

const text = (said: string) => ({ type: 'text', text: said });

describe('results of servers', () => {
  for (const part of [
    'text',
    5,
    [],
    {},
    { type: 'video', url: 'x' },
    { type: 'text', text: null },
  ]) {
    it(`the part ${JSON.stringify(part)} of a result costs only itself, and a line and the log name it (X3c)`, () => {
      const right = { type: 'text', text: 'x', annotations: null };
      const notes: string[] = [];
      const note = (sentence: string): void => void notes.push(sentence);
      assert.deepEqual(
        [
          readCallResult({ content: [right, part, null], isError: null }, '2025-11-25', note),
          readOtherResult({ contents: [{ uri: 'a:b', text: 'x' }, part, null] }, note),
          readOtherResult(
            {
              messages: [
                { role: 'user', content: part },
                { role: 'user', content: right },
              ],
            },
            note,
          ),
          readOtherResult({ messages: [part, part] }, note),
        ].map((outcome) => outcome.kind === 'result' && outcome.result),
        [
          { content: [text('x'), text(`[${notes[0]}]`)] },
          { contents: [{ uri: 'a:b', text: 'x' }] },
          {
            messages: [
              { role: 'user', content: text('x') },
              ...(Array.isArray(part) ? [] : [{ role: 'user', content: text(`[${notes[2]}]`) }]),
            ],
          },
          { messages: [{ role: 'user', content: text(`[${notes.at(-1)}]`) }] },
        ],
      );
      const said = 'A part of the result is left out, because the protocol has no such part: ';
      assert.equal(notes.length, Array.isArray(part) ? 3 : 4);
      assert.ok(notes.every((each) => each.startsWith(said)));
      assert.ok(notes.at(-1)?.endsWith(' So are 1 more.'));
    });
  }

  it('a result with more than 10,000 parts is an error (P10)', () => {
    const parts = (length: number) => Array.from({ length }, () => ({ type: 'text', text: '' }));
    assert.equal(readCallResult({ content: parts(10_000) }, '2025-11-25').kind, 'result');
    for (const read of [
      readCallResult({ content: parts(10_001) }, '2025-11-25'),
      readOtherResult({ contents: parts(10_001) }),
      readOtherResult({ messages: parts(10_001) }),
      readOtherResult({ completion: { values: parts(10_001) } }),
    ]) {
      assert.ok(read.kind === 'error');
      assert.match(read.message, /answered with more than 10000 parts/);
    }
  });

  it('a right result is the same object, and the log says nothing', () => {
    const note = () => assert.fail();
    for (const result of [
      { content: [{ type: 'text', text: 'x' }] },
      { content: [{ type: 'image', data: 'YQ==', mimeType: 'image/png' }] },
    ]) {
      const read = readCallResult(result, '2025-11-25', note);
      assert.ok(read.kind === 'result' && (read.result as object) === result);
    }
    for (const result of [
      { contents: [{ uri: 'a:b', blob: 'YQ==' }] },
      {
        messages: [
          { role: 'user', content: { type: 'resource', resource: { uri: 'a:b', text: '' } } },
        ],
      },
      { completion: { values: ['a'], total: 1 } },
      { contents: 'none' },
    ]) {
      const read = readOtherResult(result, note);
      assert.ok(read.kind === 'result' && read.result === result);
    }
  });

  it('the value of protocol 2024-10-07 becomes content, and its error stays one', () => {
    const text = (value: string) => [{ type: 'text', text: value }];
    for (const [given, result] of [
      [{ toolResult: 'done' }, { content: text('done') }],
      [
        { toolResult: [1, { a: 2 }], isError: true },
        { isError: true, content: text('[1,{"a":2}]') },
      ],
      [{ toolResult: 0 }, { content: text('0') }],
      [{ toolResult: null }, { content: [] }],
      [
        { toolResult: { content: text('x'), isError: true } },
        { content: text('x'), isError: true },
      ],
      [
        { toolResult: 'ignored', content: text('x') },
        { toolResult: 'ignored', content: text('x') },
      ],
    ]) {
      assert.deepEqual(readCallResult(given, '2024-11-05'), { kind: 'result', result });
    }
  });
});
