/** What a client is sent of each kind of content, and which files are left, by table. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { nowhere, type ArtifactStore } from '../../../src/core/results/artifacts.js';
import { createDelivery, type Delivery } from '../../../src/core/results/delivery.js';
import { createDiskArtifacts } from '../../../src/core/results/diskArtifacts.js';
import { FakeClock } from '../../support/fakes/fakeClock.js';
import { filesIn, Lines, newFolder, removeFolders } from './folder.js';

const origin = { server: 'shop', tool: 'look' };
const text = (value: string, more: object = {}): object => ({ type: 'text', text: value, ...more });
const userOnly = { annotations: { audience: ['user'] } };
const bytes = Buffer.from('hello').toString('base64');
const pngBytes = Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1').toString('base64');
const image = { type: 'image', data: bytes, mimeType: 'image/png' };
const audio = { type: 'audio', data: bytes, mimeType: 'audio/wav' };
const resource = (inner: object, more: object = {}): object => ({
  type: 'resource',
  resource: { uri: 'x:1', ...inner },
  ...more,
});

interface Case {
  readonly name: string;
  readonly given: Record<string, unknown>;
  /** Paths are written `<n.extension>`: the file of that number, in the order they are named. */
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
      content: [text('[Image: image/png, 5 bytes. Saved as <1.png>]', userOnly), { ...image, ...userOnly }],
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
    gives: { content: [text('[Image: image/png, 12 bytes. Saved as <1.png>]'), { ...image, data: pngBytes }] },
    files: ['\x89PNG\r\n\x1a\nrest'],
  },
  {
    name: 'an image that models do not take',
    given: { content: [{ ...image, mimeType: 'image/svg+xml' }] },
    gives: {
      content: [text('[Image: image/svg+xml, 5 bytes, a type that models do not take. Saved as <1.svg>]')],
    },
    files: ['hello'],
  },
  {
    name: 'an odd type',
    given: { content: [{ ...image, mimeType: `image/../../x\n${'y'.repeat(200)}` }] },
    gives: {
      content: [
        text(`[Image: image/../../x ${'y'.repeat(86)}…, 5 bytes, a type that models do not take. Saved as <1.bin>]`),
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
    gives: { content: [text('[Resource x:1: binary data of unknown type, 0 bytes. Saved as <1.bin>]')] },
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
    gives: { content: [text('[Image: image/png, 5 bytes. Saved as <1.png>]'), image, text('{"a":1}')] },
    files: ['hello'],
  },
  {
    name: 'an error with audio',
    given: { content: [text('broken'), audio], isError: true },
    gives: { content: [text('Error: broken'), text('[Audio: audio/wav, 5 bytes. Saved as <1.wav>]')], isError: true },
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
        text('[Content of a type unknown here] 7'),
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
  let folder: string;
  let store: ArtifactStore;
  let delivery: Delivery;
  let maxResultBytes: number;

  beforeEach(() => {
    folder = newFolder();
    maxResultBytes = 1 << 20;
    use(
      createDiskArtifacts({
        folder: path.join(folder, 'storage'),
        quota: () => 1 << 26,
        clock: new FakeClock(),
        log: new Lines(),
      }),
    );
  });

  afterEach(async () => {
    await store.settled();
    removeFolders();
  });

  function use(artifacts: ArtifactStore): void {
    store = artifacts;
    delivery = createDelivery({ artifacts, maxResultBytes: () => maxResultBytes });
  }

  /** The result with `<n.extension>` for paths, and what is in those files. */
  async function delivered(given: Record<string, unknown>): Promise<{ result: unknown; files: string[] }> {
    const result = await delivery.forEditor(frozen(structuredClone(given)) as unknown as CallToolResult, origin);
    const files: string[] = [];
    const named = JSON.stringify(result).replace(
      /(Saved as|is in) ([^\]]+?\.(\w+))\]/g,
      (_all, how, file, extension) => {
        files.push(readFileSync(JSON.parse(`"${file}"`) as string, 'latin1'));
        return `${how} <${files.length}.${extension}>]`;
      },
    );
    assert.equal(filesIn(folder).length, files.length, 'files that nobody was told of');
    return { result: JSON.parse(named), files };
  }

  const textsOf = (result: unknown): string[] =>
    (result as CallToolResult).content.map((part) => (part.type === 'text' ? part.text : part.type));

  describe('each content (V1, V2)', () => {
    for (const { name, given, gives, files } of cases) {
      it(name, async () => assert.deepEqual(await delivered(given), { result: gives, files }));

      it(`${name}: other clients get it as the server gave it, and its files are there`, async () => {
        const result = given as unknown as CallToolResult;
        assert.equal(await delivery.forOthers(result, origin), result);
        assert.equal(filesIn(folder).length, files.length);
      });
    }
  });

  it('without a folder every line says that nothing was saved, and broken images stay away from models', async () => {
    use(nowhere('no folder is open'));
    const { result } = await delivered({ content: [image, audio, { ...image, data: '!' }] });
    assert.deepEqual((result as CallToolResult).content, [
      text('[Image: image/png, 5 bytes. Not saved: no folder is open]'),
      image,
      text('[Audio: audio/wav, 5 bytes. Not saved: no folder is open]'),
      text('[Image: image/png. It cannot be read: its data is not base64]'),
    ]);
  });

  it('where it cannot write, the result arrives and says what is missing', async () => {
    writeFileSync(path.join(folder, 'storage'), 'in the way');
    const given = { content: [image, text('x'.repeat(2_000))] } as unknown as CallToolResult;
    maxResultBytes = 1_024;
    const [line, shown, long] = textsOf(await delivery.forEditor(given, origin));
    assert.match(
      line ?? '',
      /^\[Image: image\/png, 5 bytes\. Not saved: a file is where a folder should be \(\w+\)\]$/,
    );
    assert.equal(shown, 'image');
    assert.match(long ?? '', /left out here.+It was not saved: a file is where a folder should be/);
  });

  it('an image too large for any model is a line', async () => {
    const data = Buffer.alloc(21 << 20).toString('base64');
    const { result, files } = await delivered({ content: [{ ...image, data }] });
    assert.deepEqual(textsOf(result), ['[Image: image/png, 22.0 MB, too large for models. Saved as <1.png>]']);
    assert.equal(files[0]?.length, 21 << 20);
  });

  describe('the limit of text (V3)', () => {
    const left = (size: string, of: string, limit = '1.0 kB', file = '<1.txt>'): string =>
      `\n\n[${size} of ${of} left out here, over the limit of ${limit}. All of it is in ${file}]\n\n`;

    beforeEach(() => (maxResultBytes = 1_024));

    it('a text of just so many bytes stays', async () => {
      const given = { content: [text('ä'.repeat(512))] };
      assert.deepEqual(await delivered(given), { result: given, files: [] });
    });

    it('a byte more, and it is head, tail, sizes and path', async () => {
      const { result, files } = await delivered({ content: [text(`${'ä'.repeat(512)}!`)] });
      assert.deepEqual(textsOf(result), [`${'ä'.repeat(256)}${left('258 bytes', '1.0 kB')}${'ä'.repeat(127)}!`]);
      assert.deepEqual(files, [Buffer.from(`${'ä'.repeat(512)}!`).toString('latin1')]);
    });

    it('by default 4 KiB and 2 KiB are shown', async () => {
      maxResultBytes = 1 << 20;
      const { result, files } = await delivered({ content: [text('x'.repeat(5_000_000))] });
      const { length } = left('5.0 MB', '5.0 MB', '1.0 MB', '<1.txt>');
      assert.equal(textsOf(result)[0]?.length, 4_096 + length + 2_048);
      assert.equal(files[0]?.length, 5_000_000);
    });

    it('no character is cut', async () => {
      const { result } = await delivered({ content: [text(`x${'🙂'.repeat(1_000)}`)] });
      assert.doesNotMatch(textsOf(result)[0] ?? '', /\ufffd|^x?[\udc00-\udfff]/);
      assert.ok(textsOf(result)[0]?.startsWith(`x${'🙂'.repeat(127)}\n`));
    });

    it('the longest goes, the rest stays where it is', async () => {
      maxResultBytes = 4_096;
      const { result, files } = await delivered({
        content: [text('short'), image, text('x'.repeat(10_000)), text('last')],
      });
      assert.deepEqual(textsOf(result), [
        'short',
        '[Image: image/png, 5 bytes. Saved as <1.png>]',
        'image',
        `${'x'.repeat(2_048)}${left('6.9 kB', '10.0 kB', '4.1 kB', '<2.txt>')}${'x'.repeat(1_024)}`,
        'last',
      ]);
      assert.equal(files.length, 2);
    });

    it('very many texts become one', async () => {
      const given = {
        content: [text('first'), image, ...Array.from({ length: 300 }, (_, index) => text(`line ${index}`))],
      };
      const { result, files } = await delivered(given);
      const [one, ...rest] = textsOf(result);
      assert.deepEqual(rest, ['image']);
      assert.match(one ?? '', /^first\n\[Image: image\/png, 5 bytes\. Saved as <1\.png>\]\nline 0\nline 1\n/);
      assert.match(one ?? '', /line 298\nline 299$/);
      assert.equal(files.length, 2);
      assert.match(files[1] ?? '', /^first\n.+\nline 0\n(line \d+\n)+line 299$/);
    });

    it('what only the user sees is measured apart, and stays apart', async () => {
      const { result, files } = await delivered({
        content: [text('u'.repeat(1_000), userOnly), text('m'.repeat(1_000)), text('u'.repeat(1_000), userOnly)],
      });
      const { content } = result as CallToolResult;
      assert.match(textsOf(result)[0] ?? '', /^u+\n\n\[.+ left out here/);
      assert.deepEqual(content[0]?.annotations, userOnly.annotations);
      assert.deepEqual(content.slice(1), [text('m'.repeat(1_000)), text('u'.repeat(1_000), userOnly)]);
      assert.doesNotMatch(files.join(), /m/);
    });

    it('an embedded text counts, and keeps its uri', async () => {
      const { result } = await delivered({ content: [resource({ mimeType: 'text/plain', text: 'y'.repeat(3_000) })] });
      assert.match(textsOf(result)[0] ?? '', /^Resource x:1 \(text\/plain\):\nyyy[^]+left out here/);
    });

    it('an error begins as one', async () => {
      const { result } = await delivered({ content: [text('z'.repeat(3_000))], isError: true });
      assert.match(textsOf(result)[0] ?? '', /^Error: zzz[^]+left out here/);
    });

    it('JSON goes to a file that is named so', async () => {
      const json = JSON.stringify({ list: Array.from({ length: 300 }, (_, index) => index) });
      const { result, files } = await delivered({ content: [text(json)] });
      assert.match(textsOf(result)[0] ?? '', /All of it is in <1\.json>/);
      assert.deepEqual(files, [json]);
      for (const other of [`${json}\n${json}`, `[2026-01-01] ${'log '.repeat(300)}]`]) {
        assert.match(
          await delivery.forEditor({ content: [text(other)] } as CallToolResult, origin).then((r) => textsOf(r).join()),
          /\.txt\]/,
        );
      }
    });

    describe('structured content', () => {
      const structuredContent = { rows: Array.from({ length: 100 }, (_, id) => ({ id, name: `row ${id}` })) };
      const json = JSON.stringify(structuredContent);

      it('counts, and goes to a file of its own', async () => {
        const { result, files } = await delivered({ content: [text('A hundred rows.')], structuredContent });
        const [said, rows] = textsOf(result);
        assert.equal(said, 'A hundred rows.');
        assert.ok(rows?.startsWith(json.slice(0, 512)) && rows.endsWith(json.slice(-256)));
        assert.match(rows ?? '', /All of it is in <1\.json>/);
        assert.deepEqual(files, [json]);
        assert.ok(!('structuredContent' in (result as object)));
      });

      for (const [layout, same] of [
        ['in one line', json],
        ['in lines', JSON.stringify(structuredContent, undefined, 2)],
      ] as const) {
        it(`that a text repeats ${layout} is written once`, async () => {
          const { result, files } = await delivered({ content: [text(same)], structuredContent });
          assert.equal(textsOf(result).length, 1);
          assert.deepEqual(files, [same]);
        });
      }

      it('that wraps a long text is written once', async () => {
        const long = 'x'.repeat(3_000);
        const { result, files } = await delivered({ content: [text(long)], structuredContent: { content: long } });
        assert.equal(textsOf(result).length, 1);
        assert.deepEqual(files, [long]);
      });

      it('without any text, of an error', async () => {
        const { result } = await delivered({ content: [], structuredContent, isError: true });
        assert.match(textsOf(result)[0] ?? '', /^Error: \{"rows":/);
      });

      it('within the limit stays as it is', async () => {
        const given = { content: [], structuredContent: { a: 1 } };
        assert.deepEqual(await delivered(given), { result: given, files: [] });
      });
    });
  });

  describe('50 MB', () => {
    const big = 50_000_000;
    for (const [name, given] of [
      ['of text', () => ({ content: [text('x'.repeat(big))] })],
      ['of audio', () => ({ content: [{ ...audio, data: 'AAAA'.repeat(big / 3) }] })],
    ] as const) {
      it(`${name} let others have their turn`, async () => {
        let turns = 0;
        let going = true;
        const count = (): void => {
          turns += 1;
          if (going) setImmediate(count);
        };
        count();
        const result = await delivery.forEditor(given() as unknown as CallToolResult, origin);
        going = false;
        assert.ok(turns > 100, `${turns} turns`);
        assert.ok(JSON.stringify(result).length < 10_000);
      }).timeout(30_000);
    }
  });
});

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}
