/** Whether a call needs a question (S4), and the page of a call. */
import assert from 'node:assert/strict';
import type { ToolResult } from '../../../../src/core/dialog/model.js';
import { callPage } from '../../../../src/vscode/minds/callPage.js';
import { needsQuestion } from '../../../../src/vscode/minds/permission.js';
import { tool } from '../../dialog/fakes.js';

describe('a question before a call', () => {
  const reads = tool('shop_count', { annotations: { readOnlyHint: true } });
  const writes = tool('shop_pay');
  const asks = (one: typeof reads, ...settings: unknown[]): boolean => needsQuestion(one, settings);

  it('is asked unless the tool only reads, or is the host’s own', () => {
    assert.deepEqual([asks(reads), asks(writes), asks(tool('mcp_release'))], [false, true, false]);
    assert.equal(asks(reads, undefined, undefined, undefined), false);
  });

  it('is spared by a rule of the person alone', () => {
    assert.equal(asks(writes, { 'shop_*': 'allow' }), false);
    assert.equal(asks(writes, undefined, { 'shop_*': 'allow' }), true, 'of the workspace');
    assert.equal(asks(writes, { 'bank_*': 'allow' }), true, 'of another tool');
  });

  it('is asked wherever a rule says so, also for what only reads', () => {
    assert.equal(asks(reads, { shop_count: 'ask' }), true);
    assert.equal(asks(reads, undefined, { '*': 'ask' }), true, 'of the workspace');
    assert.equal(asks(writes, { '*': 'allow' }, { shop_pay: 'ask' }), true, 'the stricter counts');
    assert.equal(asks(tool('mcp_restart'), { 'mcp_*': 'ask' }), true);
    assert.equal(asks(reads, { shop_count: 'perhaps' }), true, 'what is not known is asked');
  });
});

describe('the page of a call', () => {
  const call = { id: '1', tool: 'shop_count', input: { what: 'pears' } };
  const page = (parts: ToolResult['parts'], more: Partial<ToolResult> = {}): string =>
    callPage(call, { callId: '1', tool: 'shop_count', parts, isError: false, ...more }, (path) => `uri:${path}`);
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
        'An image, `image/png`.',
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
      /## Files\n\n- \[c\.png\]\(uri:\/a\/b\/c\.png\)\n- \[e\.wav\]\(uri:C:\\d\\e\.wav\)$/,
    );
  });

  it('keeps a text inside its fence, and cuts what is very long', () => {
    assert.match(page([text('a\n````\nb')]), /\n`````\na\n````\nb\n`````$/);
    assert.match(page([text('x'.repeat(100_001))]), /x\n… \(100001 characters in all\)\n```$/);
  });
});
