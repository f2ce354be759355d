import assert from 'node:assert/strict';
import type { ToolResult } from '../../../../src/core/dialog/model.js';
import { read } from '../../../support/markdown.js';
import { callPage } from '../../../../src/vscode/minds/callPage.js';

describe('the page of a call', () => {
  const call = { id: '1', tool: 'shop_count', input: { what: 'pears' } };
  const page = (parts: ToolResult['parts'], more: Partial<ToolResult> = {}): string =>
    read(callPage(call, { callId: '1', tool: 'shop_count', parts, isError: false, ...more }, (path) => `uri:${path}`));
  const text = (words: string): ToolResult['parts'][number] => ({ kind: 'text', text: words });

  it('has what went in and what came out, JSON in lines', () => {
    assert.equal(
      page([text('{"a":[1]}'), { kind: 'image', mimeType: 'image/png', base64: '' }, text('{not JSON')]),
      [
        '# shop_count',
        '## Input',
        '```json\n{\n  "what": "pears"\n}\n```',
        '## Output',
        '```\n{\n  "a": [\n    1\n  ]\n}\n```',
        'An image, image/png.',
        '```\n{not JSON\n```',
      ].join('\n\n'),
    );
  });

  it('says that it was an error, or nothing, and links to files', () => {
    assert.match(page([], { isError: true }), /## Output \(an error\)\n\nNothing\.$/);
    const files = [
      { path: '/a/b/c.png', isImage: true },
      { path: 'C:\\d\\e.wav', isImage: false },
    ];
    assert.match(
      page([], { files }),
      /## Files\n\n- \[c\.png\]\(uri:\/a\/b\/c\.png\)\n- \[e\.wav\]\(uri:C:%5Cd%5Ce\.wav\)$/,
    );
  });

  it('keeps a text inside its fence, and cuts what is very long', () => {
    assert.match(page([text('a\n````\nb')]), /\n`````\na\n````\nb\n`````$/);
    assert.match(page([text('x'.repeat(100_001))]), /x\n… \(100001 characters in all\)\n```$/);
  });
});
