import assert from 'node:assert/strict';
import { Redactor } from '../../../../src/core/base/log.js';
import type { ToolResult } from '../../../../src/core/minds/model.js';
import { read } from '../../../support/markdown.js';
import { callPage } from '../../../../src/vscode/minds/callPage.js';

describe('the page of a call', () => {
  const call = { id: '1', tool: 'shop_count', input: { what: 'pears' } };
  const redactor = new Redactor();
  const deps = { redact: (text: string) => redactor.redact(text), uriOf: (path: string) => `uri:${path}` };
  const page = (parts: ToolResult['parts'], more: Partial<ToolResult> = {}): string =>
    read(callPage(call, { callId: '1', tool: 'shop_count', parts, isError: false, ...more }, deps));
  const text = (words: string): ToolResult['parts'][number] => ({ kind: 'text', text: words });

  it('the page of a call has its input and output, with JSON in lines', () => {
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

  it('the page of a call marks an error or an empty output, and links to files', () => {
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

  it('the page of a call keeps a text inside its fence, and cuts a very long text', () => {
    assert.match(page([text('a\n````\nb')]), /\n`````\na\n````\nb\n`````$/);
    assert.match(page([text('x'.repeat(100_001))]), /x\n… \(100001 characters in all\)\n```$/);
    assert.match(page([text('x '.repeat(1_000_000))]), / \n… \(2000000 characters in all\)\n```$/);
  });

  it('the page of a call has no secret, and a mask removes no fence (S1a)', () => {
    const forged = '\n```\n\n# Sign in again\n\n[Sign in](https://evil.example)';
    for (const [first, second] of [
      ['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----'],
      ['"password": "correct horse', 'battery staple"'],
    ] as const) {
      const [one = '', two = ''] = page([text(first), text(`${second}${forged}`)]).split('\n\n````\n');
      assert.match(one, /\n```\n.*\n```$/);
      assert.ok(two.endsWith(`${forged}\n\`\`\`\``), two);
    }
    const secret = 'sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz';
    const shown = page([text(secret), { kind: 'image', mimeType: secret, base64: '' }], {
      files: [{ path: `/a/${secret}.png`, isImage: true }],
    });
    assert.doesNotMatch(shown.replace(/\]\(.*\)/, ''), /0123456789abc/);
  });
});
