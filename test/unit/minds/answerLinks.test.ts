/** Files in a streamed answer (V2). The division into pieces does not change the result. */
import assert from 'node:assert/strict';
import { AnswerLinks, type AnswerPiece } from '../../../src/core/minds/answerLinks.js';
import type { ResultFile } from '../../../src/core/minds/model.js';

const files: ResultFile[] = [
  { path: '/files/a b/chart.png', isImage: true },
  { path: 'C:\\files\\sound.wav', isImage: false },
];

const fileOf = (target: string): ResultFile | undefined =>
  files.find(({ path }) => path === target);

/** Neighbouring texts as one. */
function joined(pieces: readonly AnswerPiece[]): string[] {
  const lines: string[] = [];
  let text = '';
  const flush = (): void => {
    if (text !== '') lines.push(`text ${JSON.stringify(text)}`);
    text = '';
  };
  for (const piece of pieces) {
    if (piece.kind === 'text') {
      text += piece.text;
      continue;
    }
    flush();
    lines.push(`${piece.shown ? 'image' : 'link'} ${piece.label} → ${piece.file.path}`);
  }
  flush();
  return lines;
}

function inPieces(text: string, size: number): string[] {
  const links = new AnswerLinks(fileOf);
  const out: AnswerPiece[] = [];
  for (let at = 0; at < text.length; at += size) out.push(...links.push(text.slice(at, at + size)));
  return joined([...out, ...links.end()]);
}

describe('files in an answer', () => {
  const cases: readonly (readonly [what: string, text: string, expected: readonly string[]])[] = [
    [
      'a link and an image',
      'See [it](/files/a b/chart.png), or ![the chart](/files/a b/chart.png)!',
      [
        'text "See "',
        'link it → /files/a b/chart.png',
        'text ", or "',
        'image the chart → /files/a b/chart.png',
        'text "!"',
      ],
    ],
    ['in angle brackets', '[x](</files/a b/chart.png>)', ['link x → /files/a b/chart.png']],
    ['of Windows, without a label', '[](C:\\files\\sound.wav)', ['link  → C:\\files\\sound.wav']],
    [
      'what is not ours stays as it was',
      'a[0] [b](https://example.com) ![c](/files/other.png) [d][e] (f)',
      ['text "a[0] [b](https://example.com) ![c](/files/other.png) [d][e] (f)"'],
    ],
    [
      'what never ends',
      'Well, [what (is) ![that](/files',
      ['text "Well, [what (is) ![that](/files"'],
    ],
    [
      'a bracket before it',
      '[ see [it](/files/a b/chart.png)',
      ['text "[ see "', 'link it → /files/a b/chart.png'],
    ],
    ['a bracket on the line before', '[ open\n!', ['text "[ open\\n!"']],
  ];
  for (const [what, text, expected] of cases) {
    it(what, () => {
      for (const size of [text.length, 1, 3, 7])
        assert.deepEqual(inPieces(text, size), expected, `pieces of ${size}`);
    });
  }

  it('a text is held back only while it can become a link', () => {
    const links = new AnswerLinks(fileOf);
    assert.deepEqual(joined(links.push('Now [wait')), ['text "Now "']);
    assert.deepEqual(joined(links.push('\nfor it')), ['text "[wait\\nfor it"']);
    links.push(`[${'x'.repeat(3_000)}`);
    assert.notDeepEqual(links.push('x'.repeat(3_000)), [], 'longer than any link');
  });
});
