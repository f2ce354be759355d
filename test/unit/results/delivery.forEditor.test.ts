import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import assert from 'node:assert/strict';
import { deliveryWithoutFiles } from '../../../src/core/results/delivery.js';
import { formatBytes } from '../../../src/core/results/artifacts.js';

interface Case {
  readonly name: string;
  /** Untyped, because servers may send anything. */
  readonly given: Record<string, unknown>;
  readonly gives: Record<string, unknown>;
}

const text = (value: string, more: object = {}): object => ({ type: 'text', text: value, ...more });
const png = { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' };
const unsaved = 'Not saved: there is no folder for files';
const pngLine = text(`[Image: image/png, 5 bytes. ${unsaved}]`);
const userOnly = { annotations: { audience: ['user'] } };

function groups(): Record<string, Case[]> {
  return {
    'content that the editor shows as it is': [
      same('text', { content: [text('hello')] }),
      same('several texts in order', { content: [text('a'), text('b')] }),
      same('text for the user only', { content: [text('a', userOnly)] }),
      same('empty content', { content: [] }),
      same('fields of the result and of parts that nobody asked about', {
        content: [text('a', { _meta: { a: 1 } })],
        _meta: { trace: 'x' },
        later: true,
      }),
    ],
    'missing content': [
      { name: 'becomes empty', given: {}, gives: { content: [] } },
      { name: 'null too', given: { content: null }, gives: { content: [] } },
      { name: 'an object too', given: { content: { type: 'text' } }, gives: { content: [] } },
      {
        name: 'beside structured content',
        given: { structuredContent: { a: 1 } },
        gives: { content: [], structuredContent: { a: 1 } },
      },
    ],
    'structured content': [
      same('alone stays', { content: [], structuredContent: { a: 1 } }),
      {
        name: 'beside an image becomes text, as the line of the image is text',
        given: { content: [png], structuredContent: { a: 1 } },
        gives: { content: [pngLine, png, text('{"a":1}')] },
      },
      {
        name: 'that the text repeats is dropped',
        given: { content: [text('{"a":1,"b":[2]}')], structuredContent: { b: [2], a: 1 } },
        gives: { content: [text('{"a":1,"b":[2]}')] },
      },
      {
        name: 'that the text repeats in another layout is dropped',
        given: { content: [text('\n{\n  "a": 1\n}\n')], structuredContent: { a: 1 } },
        gives: { content: [text('\n{\n  "a": 1\n}\n')] },
      },
      {
        name: 'that one of several texts repeats is dropped',
        given: { content: [text('Found:'), text('{"a":1}')], structuredContent: { a: 1 } },
        gives: { content: [text('Found:'), text('{"a":1}')] },
      },
      {
        name: 'beside other text becomes text',
        given: { content: [text('One thing.'), png], structuredContent: { a: 1 }, _meta: { k: 1 } },
        gives: { content: [text('One thing.'), pngLine, png, text('{"a":1}')], _meta: { k: 1 } },
      },
      {
        name: 'beside JSON of something else becomes text',
        given: { content: [text('{"a":2}')], structuredContent: { a: 1 } },
        gives: { content: [text('{"a":2}'), text('{"a":1}')] },
      },
      {
        name: 'beside text that only looks like JSON becomes text',
        given: { content: [text('{not json')], structuredContent: { a: 1 } },
        gives: { content: [text('{not json'), text('{"a":1}')] },
      },
      {
        name: 'that only the user was shown becomes text for the model',
        given: { content: [text('{"a":1}', userOnly)], structuredContent: { a: 1 } },
        gives: { content: [text('{"a":1}', userOnly), text('{"a":1}')] },
      },
      {
        name: 'beside a part that became text becomes text',
        given: {
          content: [{ type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }],
          structuredContent: { a: 1 },
        },
        gives: { content: [text(`[Audio: audio/wav, 3 bytes. ${unsaved}]`), text('{"a":1}')] },
      },
      {
        name: 'that only wraps the text is not said twice',
        given: { content: [text('The file.')], structuredContent: { content: 'The file.' } },
        gives: { content: [text('The file.')] },
      },
      {
        name: 'that is null is nothing',
        given: { content: [], structuredContent: null },
        gives: { content: [] },
      },
    ],
    images: [
      {
        name: 'of each type that models take stay, after a line',
        given: {
          content: ['jpeg', 'png', 'gif', 'webp'].map((kind) => ({
            ...png,
            mimeType: `image/${kind}`,
          })),
        },
        gives: {
          content: ['jpeg', 'png', 'gif', 'webp'].flatMap((kind) => [
            text(`[Image: image/${kind}, 5 bytes. ${unsaved}]`),
            { ...png, mimeType: `image/${kind}` },
          ]),
        },
      },
      {
        name: 'of another type become a line',
        given: { content: [{ ...png, mimeType: 'image/svg+xml', ...userOnly }] },
        gives: {
          content: [
            text(
              `[Image: image/svg+xml, 5 bytes, a type that models do not accept. ${unsaved}]`,
              userOnly,
            ),
          ],
        },
      },
      {
        name: 'lose a data URL prefix',
        given: { content: [{ ...png, data: 'data:image/png;base64,aGVsbG8=' }] },
        gives: { content: [pngLine, png] },
      },
      {
        name: 'get the official spelling of their type',
        given: { content: [{ ...png, mimeType: 'image/JPG; q=1' }] },
        gives: {
          content: [
            text(`[Image: image/jpeg, 5 bytes. ${unsaved}]`),
            { ...png, mimeType: 'image/jpeg' },
          ],
        },
      },
      {
        name: 'without data are quoted',
        given: { content: [{ type: 'image', mimeType: 'image/png' }] },
        gives: {
          content: [text('[Content of an unknown type] {"type":"image","mimeType":"image/png"}')],
        },
      },
    ],
    audio: [
      {
        name: 'becomes a line',
        given: { content: [{ type: 'audio', data: 'A'.repeat(4000), mimeType: 'audio/mpeg' }] },
        gives: { content: [text(`[Audio: audio/mpeg, 3.0 kB. ${unsaved}]`)] },
      },
      {
        name: 'without a type',
        given: { content: [{ type: 'audio', data: 'AA==' }] },
        gives: { content: [text(`[Audio: unknown type, 1 byte. ${unsaved}]`)] },
      },
    ],
    'embedded resources': [
      {
        name: 'text comes inline with its uri and type',
        given: {
          content: [
            {
              type: 'resource',
              resource: { uri: 'file:///a.md', mimeType: 'text/markdown', text: '# A' },
            },
          ],
        },
        gives: { content: [text('Resource file:///a.md (text/markdown):\n# A')] },
      },
      {
        name: 'text without a type, with annotations',
        given: { content: [{ type: 'resource', resource: { uri: 'x:1', text: '' }, ...userOnly }] },
        gives: { content: [text('Resource x:1:\n', userOnly)] },
      },
      {
        name: 'an image comes as an image after its uri',
        given: {
          content: [
            { type: 'resource', resource: { uri: 'x:1', mimeType: 'image/png', blob: 'aGVsbG8=' } },
          ],
        },
        gives: { content: [text(`[Resource x:1: image/png, 5 bytes. ${unsaved}]`), png] },
      },
      {
        name: 'other binary data becomes a line',
        given: {
          content: [
            {
              type: 'resource',
              resource: { uri: 'x:1', mimeType: 'application/pdf', blob: 'aGVsbG8=' },
            },
          ],
        },
        gives: { content: [text(`[Resource x:1: application/pdf, 5 bytes. ${unsaved}]`)] },
      },
      {
        name: 'binary data without a type becomes a line',
        given: { content: [{ type: 'resource', resource: { uri: 'x:1', blob: 'aA==' } }] },
        gives: {
          content: [text(`[Resource x:1: binary data of unknown type, 1 byte. ${unsaved}]`)],
        },
      },
      {
        name: 'with neither are quoted',
        given: { content: [{ type: 'resource', resource: { uri: 'x:1' } }] },
        gives: {
          content: [
            text('[Content of an unknown type] {"type":"resource","resource":{"uri":"x:1"}}'),
          ],
        },
      },
      {
        name: 'without a uri are quoted',
        given: { content: [{ type: 'resource', resource: null }] },
        gives: {
          content: [text('[Content of an unknown type] {"type":"resource","resource":null}')],
        },
      },
    ],
    'resource links': [
      {
        name: 'stay, beside a line that models can read',
        given: {
          content: [
            {
              type: 'resource_link',
              uri: 'x:1',
              name: 'one',
              description: 'The one.',
              mimeType: 'text/plain',
              size: 1500,
            },
          ],
        },
        gives: {
          content: [
            {
              type: 'resource_link',
              uri: 'x:1',
              name: 'one',
              description: 'The one.',
              mimeType: 'text/plain',
              size: 1500,
            },
            text('Resource link "one": x:1 (text/plain, 1.5 kB)\nThe one.'),
          ],
        },
      },
      {
        name: 'with only a uri',
        given: { content: [{ type: 'resource_link', uri: 'x:1' }] },
        gives: { content: [{ type: 'resource_link', uri: 'x:1' }, text('Resource link: x:1')] },
      },
      {
        name: 'the title names it',
        given: { content: [{ type: 'resource_link', uri: 'x:1', name: 'one', title: 'First' }] },
        gives: {
          content: [
            { type: 'resource_link', uri: 'x:1', name: 'one', title: 'First' },
            text('Resource link "First": x:1'),
          ],
        },
      },
      {
        name: 'to an image becomes the line alone: the editor would fetch it and get nothing',
        given: {
          content: [{ type: 'resource_link', uri: 'x:1', name: 'shot', mimeType: 'image/png' }],
        },
        gives: { content: [text('Resource link "shot": x:1 (image/png)')] },
      },
      {
        name: 'without a uri are quoted',
        given: { content: [{ type: 'resource_link' }] },
        gives: { content: [text('[Content of an unknown type] {"type":"resource_link"}')] },
      },
    ],
    'unknown content': [
      {
        name: 'is quoted',
        given: { content: [{ type: 'video', url: 'x' }, 7, null, { type: 'text' }] },
        gives: {
          content: [
            text('[Content of an unknown type] {"type":"video","url":"x"}'),
            text('[Content of an unknown type] 7'),
            text('[Content of an unknown type] null'),
            text('[Content of an unknown type] {"type":"text"}'),
          ],
        },
      },
      {
        name: 'is cut where it is long',
        given: { content: ['x'.repeat(5000)] },
        gives: {
          content: [
            text(`[Content of an unknown type] "${'x'.repeat(3999)}… (5002 characters in all)`),
          ],
        },
      },
    ],
    errors: [
      {
        name: 'the first text is marked, the second is not',
        given: { content: [text('no such file'), text('try another')], isError: true },
        gives: { content: [text('Error: no such file'), text('try another')], isError: true },
      },
      same('text that is marked stays', { content: [text('Error: no')], isError: true }),
      {
        name: 'without content',
        given: { isError: true },
        gives: {
          content: [text('Error: the tool failed and said nothing about it.')],
          isError: true,
        },
      },
      {
        name: 'with an image only',
        given: { content: [png], isError: true },
        gives: {
          content: [text(`Error: [Image: image/png, 5 bytes. ${unsaved}]`), png],
          isError: true,
        },
      },
      {
        name: 'text for the user alone is no text for the model',
        given: { content: [text('for you', userOnly), text('for it')], isError: true },
        gives: { content: [text('for you', userOnly), text('Error: for it')], isError: true },
      },
      {
        name: 'structured content is its text',
        given: { content: [], structuredContent: { code: 7 }, isError: true },
        gives: { content: [text('Error: {"code":7}')], isError: true },
      },
      {
        name: 'structured content beside other text',
        given: { content: [text('it broke')], structuredContent: { code: 7 }, isError: true },
        gives: { content: [text('Error: it broke'), text('{"code":7}')], isError: true },
      },
      {
        name: 'structured content that the text repeats',
        given: { content: [text('{"code":7}')], structuredContent: { code: 7 }, isError: true },
        gives: { content: [text('Error: {"code":7}')], isError: true },
      },
      {
        name: 'a part that became text is the first text',
        given: {
          content: [{ type: 'resource', resource: { uri: 'x:1', text: 'log' } }],
          isError: true,
        },
        gives: { content: [text('Error: Resource x:1:\nlog')], isError: true },
      },
    ],
  };
}

function same(name: string, result: Record<string, unknown>): Case {
  return { name, given: result, gives: result };
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null)
    Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

describe('results: for the editor (V1)', () => {
  const delivery = deliveryWithoutFiles();
  const forEditor = (result: CallToolResult): Promise<CallToolResult> =>
    delivery.readable(result, { server: 'shop', tool: 'look', conversation: 'd' });

  for (const [group, cases] of Object.entries(groups())) {
    describe(group, () => {
      for (const { name, given, gives } of cases) {
        it(name, async () => {
          // A change of the frozen input would throw.
          assert.deepEqual(
            await forEditor(frozen(structuredClone(given)) as CallToolResult),
            gives,
          );
        });
      }
    });
  }

  it('a second pass changes nothing', async () => {
    for (const { given } of Object.values(groups()).flat()) {
      const once = await forEditor(given as CallToolResult);
      // The line would come twice.
      if (once.content.some(({ type }) => type === 'resource_link' || type === 'image')) continue;
      assert.deepEqual(await forEditor(once), once);
    }
  });

  it('a plain text comes back without a copy', async () => {
    const result: CallToolResult = { content: [{ type: 'text', text: 'a' }] };
    assert.equal(await forEditor(result), result);
  });
});

describe('results: sizes', () => {
  for (const [bytes, expected] of [
    [0, '0 bytes'],
    [999, '999 bytes'],
    [1_000, '1.0 kB'],
    [2_500_000, '2.5 MB'],
  ] as const) {
    it(expected, () => assert.equal(formatBytes(bytes), expected));
  }
});
