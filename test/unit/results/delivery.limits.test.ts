/** Texts over the limit (V3), and very large results. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import assert from 'node:assert/strict';
import { filesIn } from './folder.js';
import { audio, deliveryStage, image, origin, resource, text, textsOf, userOnly } from './stage.js';

describe('results: the limits of delivery', () => {
  const stage = deliveryStage();

  describe('the limit of files (V2)', () => {
    it('of many parts with bytes, 32 become files, and a note has the number of the others', async () => {
      const { result, files } = await stage.delivered({
        content: Array.from({ length: 50 }, () => ({ ...image })),
      });
      assert.equal(files.length, 32);
      const texts = textsOf(result).filter((line) => line !== 'image');
      assert.equal(texts.length, 50);
      const why = 'one answer leaves at most 32 files, and 18 more of its parts have bytes';
      assert.equal(texts.at(-1), `[Image: image/png, 5 bytes. Not saved: ${why}]`);
    });

    it('long texts find room among the files', async () => {
      stage.maxResultBytes = 1_024;
      const content = [
        ...Array.from({ length: 50 }, () => ({ ...image })),
        text('x'.repeat(5_000)),
      ];
      const result = await stage.delivery.readable(
        { content } as unknown as CallToolResult,
        origin,
      );
      assert.ok(filesIn(stage.folder).length <= 32);
      assert.match(textsOf(result).join('\n'), /All of it is in /);
    });

    it('the limit of files holds for clients with the server’s own result', async () => {
      const content = Array.from({ length: 50 }, () => ({ ...image }));
      const given = { content } as unknown as CallToolResult;
      assert.equal(await stage.delivery.asGiven(given, origin), given);
      assert.equal(filesIn(stage.folder).length, 32);
    });
  });

  describe('the limit of text (V3)', () => {
    const left = (size: string, of: string, limit = '1.0 kB', file = '<1.txt>'): string =>
      `\n\n[${size} of ${of} left out here, over the limit of ${limit}. All of it is in ${file}]\n\n`;

    beforeEach(() => (stage.maxResultBytes = 1_024));

    it('a text at the limit stays', async () => {
      const given = { content: [text('ä'.repeat(512))] };
      assert.deepEqual(await stage.delivered(given), { result: given, files: [] });
    });

    it('a text one byte over the limit becomes head, tail, sizes and path', async () => {
      const { result, files } = await stage.delivered({ content: [text(`${'ä'.repeat(512)}!`)] });
      assert.deepEqual(textsOf(result), [
        `${'ä'.repeat(256)}${left('258 bytes', '1.0 kB')}${'ä'.repeat(127)}!`,
      ]);
      assert.deepEqual(files, [Buffer.from(`${'ä'.repeat(512)}!`).toString('latin1')]);
    });

    it('4 KiB and 2 KiB of a long text are shown by default', async () => {
      stage.maxResultBytes = 1 << 20;
      const { result, files } = await stage.delivered({ content: [text('x'.repeat(5_000_000))] });
      const { length } = left('5.0 MB', '5.0 MB', '1.0 MB', '<1.txt>');
      assert.equal(textsOf(result)[0]?.length, 4_096 + length + 2_048);
      assert.equal(files[0]?.length, 5_000_000);
    });

    it('no character of a long text is cut', async () => {
      const { result } = await stage.delivered({ content: [text(`x${'🙂'.repeat(1_000)}`)] });
      assert.doesNotMatch(textsOf(result)[0] ?? '', /\ufffd|^x?[\udc00-\udfff]/);
      assert.ok(textsOf(result)[0]?.startsWith(`x${'🙂'.repeat(127)}\n`));
    });

    it('the longest text goes, and the rest stays in its place', async () => {
      stage.maxResultBytes = 4_096;
      const { result, files } = await stage.delivered({
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
        content: [
          text('first'),
          image,
          ...Array.from({ length: 300 }, (_, index) => text(`line ${index}`)),
        ],
      };
      const { result, files } = await stage.delivered(given);
      const [one, ...rest] = textsOf(result);
      assert.deepEqual(rest, ['image']);
      assert.match(
        one ?? '',
        /^first\n\[Image: image\/png, 5 bytes\. Saved as <1\.png>\]\nline 0\nline 1\n/,
      );
      assert.match(one ?? '', /line 298\nline 299$/);
      assert.equal(files.length, 2);
      assert.match(files[1] ?? '', /^first\n.+\nline 0\n(line \d+\n)+line 299$/);
    });

    it('text for the user is measured apart, and stays apart', async () => {
      const { result, files } = await stage.delivered({
        content: [
          text('u'.repeat(1_000), userOnly),
          text('m'.repeat(1_000)),
          text('u'.repeat(1_000), userOnly),
        ],
      });
      const { content } = result as CallToolResult;
      assert.match(textsOf(result)[0] ?? '', /^u+\n\n\[.+ left out here/);
      assert.deepEqual(content[0]?.annotations, userOnly.annotations);
      assert.deepEqual(content.slice(1), [
        text('m'.repeat(1_000)),
        text('u'.repeat(1_000), userOnly),
      ]);
      assert.doesNotMatch(files.join(), /m/);
    });

    it('an embedded text counts, and keeps its URI', async () => {
      const { result } = await stage.delivered({
        content: [resource({ mimeType: 'text/plain', text: 'y'.repeat(3_000) })],
      });
      assert.match(
        textsOf(result)[0] ?? '',
        /^Resource x:1 \(text\/plain\):\nyyy[^]+left out here/,
      );
    });

    it('a shortened error begins as one', async () => {
      const { result } = await stage.delivered({
        content: [text('z'.repeat(3_000))],
        isError: true,
      });
      assert.match(textsOf(result)[0] ?? '', /^Error: zzz[^]+left out here/);
    });

    it('long JSON goes to a JSON file', async () => {
      const json = JSON.stringify({ list: Array.from({ length: 300 }, (_, index) => index) });
      const { result, files } = await stage.delivered({ content: [text(json)] });
      assert.match(textsOf(result)[0] ?? '', /All of it is in <1\.json>/);
      assert.deepEqual(files, [json]);
      for (const other of [
        `${json}\n`.repeat(2).concat('.'),
        `[2026-01-01] ${'log '.repeat(300)}]`,
      ]) {
        assert.match(
          await stage.delivery
            .readable({ content: [text(other)] } as CallToolResult, origin)
            .then((r) => textsOf(r).join()),
          /\.txt\]/,
        );
      }
    });

    describe('long structured content', () => {
      const structuredContent = {
        rows: Array.from({ length: 100 }, (_, id) => ({ id, name: `row ${id}` })),
      };
      const json = JSON.stringify(structuredContent);

      it('structured content counts, and goes to another file', async () => {
        const { result, files } = await stage.delivered({
          content: [text('A hundred rows.')],
          structuredContent,
        });
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
        ['with blanks', `${json.replaceAll(',', ', ')}\n`],
      ] as const) {
        it(`structured content that a text repeats ${layout} is written once`, async () => {
          const { result, files } = await stage.delivered({
            content: [text(same)],
            structuredContent,
          });
          assert.equal(textsOf(result).length, 1);
          assert.deepEqual(files, [same]);
        });
      }

      it('structured content that wraps a long text is written once', async () => {
        const long = 'x'.repeat(3_000);
        const { result, files } = await stage.delivered({
          content: [text(long)],
          structuredContent: { content: long },
        });
        assert.equal(textsOf(result).length, 1);
        assert.deepEqual(files, [long]);
      });

      it('long structured content without any text, of an error', async () => {
        const { result } = await stage.delivered({ content: [], structuredContent, isError: true });
        assert.match(textsOf(result)[0] ?? '', /^Error: \{"rows":/);
      });

      it('structured content within the limit stays', async () => {
        const given = { content: [], structuredContent: { a: 1 } };
        assert.deepEqual(await stage.delivered(given), { result: given, files: [] });
      });
    });
  });

  describe('50 MB', () => {
    const big = 50_000_000;
    for (const [name, given] of [
      ['of text', () => ({ content: [text('x'.repeat(big))] })],
      ['of audio', () => ({ content: [{ ...audio, data: 'AAAA'.repeat(big / 3) }] })],
    ] as const) {
      it(`${name} of 50 MB let others have their turn`, async () => {
        let turns = 0;
        let going = true;
        const count = (): void => {
          turns += 1;
          if (going) setImmediate(count);
        };
        count();
        const result = await stage.delivery.readable(given() as unknown as CallToolResult, origin);
        going = false;
        assert.ok(turns > 100, `${turns} turns`);
        assert.ok(JSON.stringify(result).length < 10_000);
      }).timeout(30_000);
    }
  });
});
