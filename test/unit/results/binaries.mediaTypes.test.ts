import assert from 'node:assert/strict';
import { extensionOf, modelImageType } from '../../../src/core/results/binaries.js';

const starts = {
  png: Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64'),
  jpeg: Buffer.from('\xff\xd8\xff\xe0', 'latin1').toString('base64'),
  gif: Buffer.from('GIF89a').toString('base64'),
  webp: Buffer.from('RIFF\x10\0\0\0WEBPVP8 ').toString('base64'),
  other: Buffer.from('hello').toString('base64'),
};

describe('results: media types', () => {
  for (const [name, declared, base64, expected] of [
    ['what is declared, where the bytes say nothing', 'image/png', starts.other, 'image/png'],
    ['the official spelling', 'image/JPG; q=1', starts.other, 'image/jpeg'],
    ['what the bytes are, where it is declared wrongly', 'image/png', starts.jpeg, 'image/jpeg'],
    ['what the bytes are, where an odd type is declared', 'image/x-png', starts.png, 'image/png'],
    ['what the bytes are, where no type is declared', undefined, starts.gif, 'image/gif'],
    [
      'what the bytes are, where any bytes are declared',
      'application/octet-stream',
      starts.webp,
      'image/webp',
    ],
    ['nothing of a type that models do not take', 'image/svg+xml', starts.other, undefined],
    ['nothing of what is declared as something else', 'application/x-thing', starts.png, undefined],
    ['nothing of an unknown type', undefined, starts.other, undefined],
  ] as const) {
    it(`a model gets ${name}`, () => assert.equal(modelImageType(declared, base64), expected));
  }

  for (const [type, expected] of [
    ['image/jpeg', 'jpg'],
    ['AUDIO/X-WAV; rate=8000', 'wav'],
    ['application/ld+json', 'json'],
    ['application/x-sh', 'bin'],
    ['../../etc/passwd', 'bin'],
    ['constructor', 'bin'],
    ['', 'bin'],
    [undefined, 'bin'],
  ] as const) {
    it(`the extension of ${type} is ${expected}`, () => assert.equal(extensionOf(type), expected));
  }
});
