import assert from 'node:assert/strict';
import { atOnce } from '../../../src/core/base/turns.js';
import {
  canonical,
  decoded,
  decodedSize,
  splitDataUrl,
} from '../../../src/core/results/binaries.js';

function read(text: string): string | { unreadable: string } {
  const bytes = atOnce(decoded(text));
  return typeof bytes === 'string' ? { unreadable: bytes } : bytes.toString('latin1');
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
    it(name, () => assert.deepEqual(read(text), expected));
  }

  it('base64 in pieces decodes as in one, in lines or not', () => {
    const bytes = Buffer.from(Array.from({ length: 1_000_003 }, (_, index) => index % 251));
    const text = bytes.toString('base64');
    assert.equal(read(text), bytes.toString('latin1'));
    assert.equal(read(text.replace(/.{76}/g, '$&\r\n')), bytes.toString('latin1'));
    assert.deepEqual(read(`${text.slice(0, -20)}!${text.slice(-19)}`), {
      unreadable: 'its data is not base64',
    });
    assert.equal(decodedSize(text), bytes.length);
  });

  it('base64 is spelled as every reader takes it', () => {
    assert.equal(atOnce(canonical('-_-_ aA\n')), '+/+/aA==');
    const plain = 'aGVsbG8=';
    assert.equal(atOnce(canonical(plain)), plain);
    assert.equal(atOnce(canonical('not base64!')), 'not base64!');
  });

  it('a long text in the alphabet of URLs is spelled as every reader takes it, in slices (P10)', () => {
    const bytes = Buffer.alloc(1_000_001, 0xff);
    const work = canonical(bytes.toString('base64url'));
    let slices = 0;
    let step = work.next();
    for (; !step.done; step = work.next()) slices += 1;
    assert.equal(step.value, bytes.toString('base64'));
    assert.ok(slices > 100, `${slices} slices`);
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
