import assert from 'node:assert/strict';
import { atOnce } from '../../../src/core/base/turns.js';
import { withReadableBytes } from '../../../src/core/results/binaries.js';

const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64');
const png = base64('\x89PNG\r\n\x1a\n....');
const jpeg = base64('\xff\xd8\xff\xe0..JFIF');
const svg = base64('<svg xmlns="http://www.w3.org/2000/svg"/>');
const html = base64('<!doctype html><title>404</title>');
const image = (mimeType: string | undefined, data: string) => ({ type: 'image', data, mimeType });
const read = <Result extends object>(result: Result) => atOnce(withReadableBytes(result));

describe('bytes that every client can decode (V1c)', () => {
  for (const [declared, data, type] of [
    ['image/png', jpeg, 'image/jpeg'],
    ['image/jpg', jpeg, 'image/jpeg'],
    ['IMAGE/PNG; x=1', png, 'image/png'],
    ['', png, 'image/png'],
    ['application/octet-stream', jpeg, 'image/jpeg'],
    ['image/svg+xml', png, 'image/png'],
  ] as const) {
    it(`the bytes of ${declared || 'an image without a type'} say that it is ${type}`, () => {
      assert.deepEqual(read({ content: [image(declared, data)] }), {
        content: [image(type, data)],
      });
      const messages = [{ role: 'user', content: image(declared, data) }];
      assert.deepEqual(read({ messages }), {
        messages: [{ role: 'user', content: image(type, data) }],
      });
      if (!declared.startsWith('image/')) return;
      const contents = [{ uri: 'a:b', mimeType: declared, blob: data }];
      const right = [{ uri: 'a:b', mimeType: type, blob: data }];
      assert.deepEqual(read({ contents }), { contents: right });
      const resource = { type: 'resource', resource: contents[0] };
      assert.deepEqual(read({ content: [resource] }), {
        content: [{ type: 'resource', resource: right[0] }],
      });
    });
  }

  for (const [mimeType, data, why] of [
    ['image/png', html, 'its bytes are no image of a known type'],
    ['image/jpg', svg, 'its bytes are no image of a known type'],
    ['image/png', '', 'it has no data'],
    ['image/svg+xml', ' ', 'it has no data'],
    ['image/png', '<not base64>', 'its data is not base64'],
    ['image/png', `data:${'x'.repeat(300)},${png}`, 'its data is not base64'],
    ['image/png', `${png.slice(0, 12)}A`, 'its data was cut off'],
  ] as const) {
    it(`an image costs only itself if ${why} (${data.slice(0, 8)})`, () => {
      const annotations = { audience: ['user'] };
      const beside = { type: 'text', text: 'beside it' };
      const content = [{ ...image(mimeType, data), annotations }, beside];
      const line = {
        type: 'text',
        text: `[Image: ${mimeType}. It cannot be read: ${why}]`,
        annotations,
      };
      assert.deepEqual(read({ content }), { content: [line, beside] });
      assert.deepEqual(read({ contents: [{ uri: 'a:b', mimeType, blob: data }] }), {
        contents: [{ uri: 'a:b', text: `[Resource a:b: ${mimeType}. It cannot be read: ${why}]` }],
      });
    });
  }

  it('an image without a type and of unknown bytes costs only itself', () => {
    const why = 'its bytes are no image of a known type';
    const text = `[Image: unknown type. It cannot be read: ${why}]`;
    assert.deepEqual(read({ content: [image('', 'AAAA')] }), { content: [{ type: 'text', text }] });
  });

  it('bytes of no image must be base64 in the spelling that every reader takes', () => {
    const audio = (data: string) => ({ type: 'audio', data, mimeType: 'audio/wav' });
    assert.deepEqual(read({ content: [audio(''), audio('-_8'), audio('AA\n==')] }), {
      content: [
        { type: 'text', text: '[Audio: audio/wav. It cannot be read: it has no data]' },
        audio('+/8='),
        audio('AA=='),
      ],
    });
    const zip = { uri: 'a:b', mimeType: 'application/zip', blob: '' };
    assert.deepEqual(read({ contents: [zip, { uri: 'a:c', blob: '?' }] }), {
      contents: [
        zip,
        {
          uri: 'a:c',
          text: '[Resource a:c: unknown type. It cannot be read: its data is not base64]',
        },
      ],
    });
  });

  it('right results, and images whose type is not known here, are the same object', () => {
    for (const result of [
      {
        content: [
          image('image/png', png),
          image('image/x-new', html),
          image('image/svg+xml', svg),
          { type: 'text', text: 'a' },
        ],
      },
      { contents: [{ uri: 'ui://a', mimeType: 'text/html;profile=mcp-app', blob: html }] },
    ])
      assert.equal(read(result), result);
  });
});
