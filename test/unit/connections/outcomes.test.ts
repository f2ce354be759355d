import assert from 'node:assert/strict';
import { readCallResult, readOtherResult } from '../../../src/core/connections/outcomes.js';

describe('results of servers', () => {
  it('a result with a part that is neither an object nor null is an error', () => {
    for (const part of ['text', 5, [], [{ type: 'text', text: 'x' }]]) {
      const outcomes = [
        readCallResult({ content: [{ type: 'text', text: 'x' }, part] }, '2025-11-25'),
        readOtherResult({ contents: [{ uri: 'a:b' }, part] }),
        readOtherResult({ messages: [part] }),
      ];
      assert.deepEqual(
        outcomes.map((outcome) => outcome.kind === 'error' && outcome.message),
        ['content', 'contents', 'messages'].map(
          (list) => `The server answered with a part of \`${list}\` that is not an object.`,
        ),
      );
    }
    const content = [{ type: 'text', text: 'x', annotations: null }, null];
    assert.deepEqual(readCallResult({ content, isError: null }, '2025-11-25'), {
      kind: 'result',
      result: { content: [{ type: 'text', text: 'x' }] },
    });
    assert.equal(readCallResult({ content: [{}] }, '2025-11-25').kind, 'result');
    assert.equal(readOtherResult({ contents: [{}], messages: [{}] }).kind, 'result');
    assert.equal(readOtherResult({ contents: 'none' }).kind, 'result');
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
      [{ toolResult: { content: text('x'), isError: true } }, { content: text('x'), isError: true }],
      [
        { toolResult: 'ignored', content: text('x') },
        { toolResult: 'ignored', content: text('x') },
      ],
    ]) {
      assert.deepEqual(readCallResult(given, '2024-11-05'), { kind: 'result', result });
    }
  });
});
