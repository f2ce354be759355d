/** The result for a client and the saved files, for each kind of content, by table. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { nowhere } from '../../../src/core/results/artifacts.js';
import { filesIn } from './folder.js';
import {
  audio,
  bytes,
  deliveryStage,
  image,
  origin,
  pngBytes,
  resource,
  text,
  textsOf,
  userOnly,
} from './stage.js';

interface Case {
  readonly name: string;
  readonly given: Record<string, unknown>;
  /** Paths are written `<n.extension>`: the file of that number, in the order of the result. */
  readonly gives: Record<string, unknown>;
  readonly files: readonly string[];
}

const cases: readonly Case[] = [
  { name: 'text', given: { content: [text('a')] }, gives: { content: [text('a')] }, files: [] },
  {
    name: 'an image',
    given: { content: [image] },
    gives: { content: [text('[Image: image/png, 5 bytes. Saved as <1.png>]'), image] },
    files: ['hello'],
  },
  {
    name: 'an image for the user only: so is its line',
    given: { content: [{ ...image, ...userOnly }] },
    gives: {
      content: [
        text('[Image: image/png, 5 bytes. Saved as <1.png>]', userOnly),
        { ...image, ...userOnly },
      ],
    },
    files: ['hello'],
  },
  {
    name: 'an image as a data URL, in lines',
    given: { content: [{ ...image, data: 'data:image/png;base64,aGVs\nbG8' }] },
    gives: { content: [text('[Image: image/png, 5 bytes. Saved as <1.png>]'), image] },
    files: ['hello'],
  },
  {
    name: 'an image whose type only its data URL says',
    given: { content: [{ type: 'image', data: `data:image/webp;base64,${bytes}` }] },
    gives: {
      content: [
        text('[Image: image/webp, 5 bytes. Saved as <1.webp>]'),
        { type: 'image', data: bytes, mimeType: 'image/webp' },
      ],
    },
    files: ['hello'],
  },
  {
    name: 'an image that is declared as another',
    given: { content: [{ ...image, data: pngBytes, mimeType: 'image/jpeg' }] },
    gives: {
      content: [
        text('[Image: image/png, 12 bytes. Saved as <1.png>]'),
        { ...image, data: pngBytes },
      ],
    },
    files: ['\x89PNG\r\n\x1a\nrest'],
  },
  {
    name: 'an image that models do not take',
    given: { content: [{ ...image, mimeType: 'image/svg+xml' }] },
    gives: {
      content: [
        text('[Image: image/svg+xml, 5 bytes, a type that models do not accept. Saved as <1.svg>]'),
      ],
    },
    files: ['hello'],
  },
  {
    name: 'an odd type',
    given: { content: [{ ...image, mimeType: `image/../../x\n${'y'.repeat(200)}` }] },
    gives: {
      content: [
        text(
          `[Image: image/../../x ${'y'.repeat(86)}…, 5 bytes, a type that models do not accept. Saved as <1.bin>]`,
        ),
      ],
    },
    files: ['hello'],
  },
  {
    name: 'an image that is no base64',
    given: { content: [{ ...image, data: 'n o t!' }] },
    gives: { content: [text('[Image: image/png. It cannot be read: its data is not base64]')] },
    files: [],
  },
  {
    name: 'an image of nothing',
    given: { content: [{ ...image, data: '' }] },
    gives: { content: [text('[Image: image/png. It cannot be read: it has no data]')] },
    files: [],
  },
  {
    name: 'audio',
    given: { content: [audio] },
    gives: { content: [text('[Audio: audio/wav, 5 bytes. Saved as <1.wav>]')] },
    files: ['hello'],
  },
  {
    name: 'audio that was cut off',
    given: { content: [{ ...audio, data: 'aGVsb' }] },
    gives: { content: [text('[Audio: audio/wav. It cannot be read: its data was cut off]')] },
    files: [],
  },
  {
    name: 'an embedded image',
    given: { content: [resource({ mimeType: 'image/png', blob: bytes })] },
    gives: { content: [text('[Resource x:1: image/png, 5 bytes. Saved as <1.png>]'), image] },
    files: ['hello'],
  },
  {
    name: 'embedded bytes',
    given: { content: [resource({ mimeType: 'application/pdf', blob: bytes })] },
    gives: { content: [text('[Resource x:1: application/pdf, 5 bytes. Saved as <1.pdf>]')] },
    files: ['hello'],
  },
  {
    name: 'embedded bytes of no type and no length',
    given: { content: [resource({ blob: '' })] },
    gives: {
      content: [text('[Resource x:1: binary data of unknown type, 0 bytes. Saved as <1.bin>]')],
    },
    files: [''],
  },
  {
    name: 'embedded text',
    given: { content: [resource({ text: 'inside', blob: bytes })] },
    gives: { content: [text('Resource x:1:\ninside')] },
    files: [],
  },
  {
    name: 'structured content beside an image: both can be read',
    given: { content: [image], structuredContent: { a: 1 } },
    gives: {
      content: [text('[Image: image/png, 5 bytes. Saved as <1.png>]'), image, text('{"a":1}')],
    },
    files: ['hello'],
  },
  {
    name: 'an error with audio',
    given: { content: [text('broken'), audio], isError: true },
    gives: {
      content: [text('Error: broken'), text('[Audio: audio/wav, 5 bytes. Saved as <1.wav>]')],
      isError: true,
    },
    files: ['hello'],
  },
  {
    name: 'a mix, in order',
    given: { content: [text('first'), image, text('then'), audio, 7, image], _meta: { k: 1 } },
    gives: {
      content: [
        text('first'),
        text('[Image: image/png, 5 bytes. Saved as <1.png>]'),
        image,
        text('then'),
        text('[Audio: audio/wav, 5 bytes. Saved as <2.wav>]'),
        text('[Content of an unknown type] 7'),
        text('[Image: image/png, 5 bytes. Saved as <3.png>]'),
        image,
      ],
      _meta: { k: 1 },
    },
    files: ['hello', 'hello', 'hello'],
  },
  { name: 'no content at all', given: {}, gives: { content: [] }, files: [] },
];

describe('results: delivery', () => {
  const stage = deliveryStage();

  describe('each content (V1)', () => {
    for (const { name, given, gives, files } of cases) {
      it(name, async () =>
        assert.deepEqual(await stage.delivered(given), { result: gives, files }),
      );

      it(`${name}: other clients get the server’s own result, and its files exist`, async () => {
        const result = given as unknown as CallToolResult;
        assert.equal(await stage.delivery.asGiven(result, origin), result);
        assert.equal(filesIn(stage.folder).length, files.length);
      });
    }
  });

  it('without a folder, every line says that no file was saved, and models get no broken image', async () => {
    stage.use(nowhere('no folder is open'));
    const { result } = await stage.delivered({ content: [image, audio, { ...image, data: '!' }] });
    assert.deepEqual((result as CallToolResult).content, [
      text('[Image: image/png, 5 bytes. Not saved: no folder is open]'),
      image,
      text('[Audio: audio/wav, 5 bytes. Not saved: no folder is open]'),
      text('[Image: image/png. It cannot be read: its data is not base64]'),
    ]);
  });

  it('if a file cannot be written, the result arrives with the reason', async () => {
    writeFileSync(path.join(stage.folder, 'storage'), 'in the way');
    const given = { content: [image, text('x'.repeat(2_000))] } as unknown as CallToolResult;
    stage.maxResultBytes = 1_024;
    const [line, shown, long] = textsOf(await stage.delivery.readable(given, origin));
    assert.match(
      line ?? '',
      /^\[Image: image\/png, 5 bytes\. Not saved: (a folder of its path is a file|another file is in its place) \(\w+\)\]$/,
    );
    assert.equal(shown, 'image');
    assert.match(
      long ?? '',
      /left out here.+It was not saved: (a folder of its path is a file|another file is in its place) \(/,
    );
  });
});
