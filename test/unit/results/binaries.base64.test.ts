import assert from 'node:assert/strict';
import { canonical, decoded, decodedSize, splitDataUrl } from '../../../src/core/results/binaries.js';

async function read(text: string): Promise<string | { unreadable: string }> {
  const pieces = await decoded(text);
  return typeof pieces === 'string' ? { unreadable: pieces } : Buffer.concat(pieces).toString('latin1');
}

describe('results: base64', () => {
  for (const [name, text, expected] of [
    ['padded', 'aGVsbG8=', 'hello'],
    ['without padding', 'aGVsbG8', 'hello'],
    ['padding of two', 'aGVsbA==', 'hell'],
    ['in lines', 'aGVs\r\n bG8=\n', 'hello'],
    ['padding on a line of its own', 'aGVsbA=\n=', 'hell'],
    ['the alphabet of URLs', '-_-_', '\xfb\xff\xbf'],
    ['nothing', '', ''],
    ['space alone', ' \n', ''],
    ['other characters', 'aGVs*G8=', { unreadable: 'its data is not base64' }],
    ['text', 'not base64 at all!', { unreadable: 'its data is not base64' }],
    ['more after the end', 'aGVsbG8=aGVs', { unreadable: 'its data is not base64' }],
    ['cut off', 'aGVsb', { unreadable: 'its data was cut off' }],
  ] as const) {
    it(name, async () => assert.deepEqual(await read(text), expected));
  }

  it('base64 in pieces decodes as in one, in lines or not', async () => {
    const bytes = Buffer.from(Array.from({ length: 1_000_003 }, (_, index) => index % 251));
    const text = bytes.toString('base64');
    assert.equal(await read(text), bytes.toString('latin1'));
    assert.equal(await read(text.replace(/.{76}/g, '$&\r\n')), bytes.toString('latin1'));
    assert.deepEqual(await read(`${text.slice(0, -20)}!${text.slice(-19)}`), { unreadable: 'its data is not base64' });
    assert.equal(decodedSize(text), bytes.length);
  });

  it('base64 is spelled as every reader takes it', () => {
    assert.equal(canonical('-_-_ aG\n'), '+/+/aG==');
    const plain = 'aGVsbG8=';
    assert.equal(canonical(plain), plain);
  });

  for (const [url, base64, type] of [
    ['aGVs', 'aGVs', undefined],
    ['data:image/png;base64,aGVs', 'aGVs', 'image/png'],
    ['DATA:image/png;charset=x; Base64,aGVs', 'aGVs', 'image/png;charset=x'],
    ['data:;base64,aGVs', 'aGVs', undefined],
    ['data:image/png;base64', 'data:image/png;base64', undefined],
  ] as const) {
    it(`the prefix of ${url}`, () => assert.deepEqual(splitDataUrl(url), { base64, type }));
  }
});
