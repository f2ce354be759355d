import assert from 'node:assert/strict';
import { atOnce } from '../../../src/core/base/turns.js';
import { withReadableBytes } from '../../../src/core/results/binaries.js';

const png = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' };
const url = 'data:image/png;base64,iVBORw0KGgo=';

describe('data URLs in results (V1)', () => {
  for (const [what, given, gives] of [
    ['an image', { content: [{ ...png, data: url }] }, { content: [png] }],
    [
      'an image whose type only the URL says',
      { content: [{ type: 'image', data: url }] },
      { content: [png] },
    ],
    [
      'a declared type stays',
      { content: [{ ...png, data: 'DATA:image/webp;base64,iVBORw0KGgo=' }] },
      { content: [png] },
    ],
    [
      'a forgotten mark',
      { content: [{ ...png, data: 'data:image/png,iVBORw0KGgo=' }] },
      { content: [png] },
    ],
    [
      'percent-encoded text',
      { content: [{ type: 'image', data: 'data:image/svg+xml;utf8,%3Csvg%3E' }] },
      { content: [{ type: 'image', data: 'PHN2Zz4=', mimeType: 'image/svg+xml' }] },
    ],
    [
      'audio',
      {
        content: [{ type: 'audio', data: 'data:;base64,AA==', mimeType: 'audio/wav' }],
        isError: true,
      },
      { content: [{ type: 'audio', data: 'AA==', mimeType: 'audio/wav' }], isError: true },
    ],
    [
      'an embedded resource',
      { content: [{ type: 'resource', resource: { uri: 'x:1', blob: url } }] },
      {
        content: [
          {
            type: 'resource',
            resource: { uri: 'x:1', blob: 'iVBORw0KGgo=', mimeType: 'image/png' },
          },
        ],
      },
    ],
    [
      'a resource that is read',
      { contents: [{ uri: 'x:1', blob: url, mimeType: 'image/png' }] },
      { contents: [{ uri: 'x:1', blob: 'iVBORw0KGgo=', mimeType: 'image/png' }] },
    ],
    [
      'a message of a prompt',
      { messages: [{ role: 'user', content: { ...png, data: url } }] },
      { messages: [{ role: 'user', content: png }] },
    ],
    [
      'a message of several parts',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'x' },
              { ...png, data: url },
            ],
          },
        ],
      },
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, png] }] },
    ],
    [
      'a blank type is none',
      { content: [{ ...png, data: url, mimeType: ' ' }] },
      { content: [png] },
    ],
    [
      'the type of the bytes',
      { content: [{ type: 'image', data: 'data:;base64,iVBORw0KGgo=' }] },
      { content: [png] },
    ],
  ] as const) {
    it(`${what} becomes plain base64`, () =>
      assert.deepEqual(atOnce(withReadableBytes(given)), gives));
  }

  for (const result of [
    { content: [png, { type: 'text', text: url }, null, 7] },
    { contents: [{ uri: 'x:1', text: url }] },
    { messages: [{ role: 'user', content: { type: 'text', text: 'x' } }] },
    { messages: [null, { role: 'user', content: [{ type: 'text', text: url }] }, 7] },
    { content: 'no list', structuredContent: { data: url } },
    {},
  ]) {
    it(`${JSON.stringify(result).slice(0, 60)} stays the same object`, () => {
      assert.equal(atOnce(withReadableBytes<object>(result)), result);
    });
  }
});
