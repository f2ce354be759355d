/** The page of a call. */
import assert from 'node:assert/strict';
import { Redactor } from '../../../../../src/core/base/log.js';
import type { CallContent } from '../../../../../src/core/calls/contents.js';
import type { CallFact } from '../../../../../src/core/calls/fact.js';
import { read } from '../../../../support/markdown.js';
import { callFact } from '../../../calls/facts.js';
import { callPage } from '../../../../../src/vscode/views/calls/callPage.js';

describe('the page of a call', () => {
  const redactor = new Redactor();
  const redact = (text: string): string => redactor.redact(text);
  const text = (words: string): object => ({ type: 'text', text: words });
  const page = (
    parts: readonly object[],
    more: Partial<CallContent> = {},
    fact: Partial<CallFact> = {},
  ): string => {
    const content: CallContent = {
      given: { what: 'pears' },
      sent: undefined,
      outcome: { content: parts },
      received: undefined,
      progress: [],
      log: [],
      ...more,
    };
    return read(callPage(callFact(fact), content, redact));
  };
  /** The page without its head. */
  const body = (whole: string): string => whole.slice(whole.indexOf('## Input'));

  it('the page of a call has its input and output, with JSON in lines', () => {
    const parts = [
      text('{"a":[1]}'),
      { type: 'image', mimeType: 'image/png', data: '' },
      text('{not JSON'),
    ];
    const whole = page(parts);
    assert.match(
      whole,
      /^# files_read\n\nread of files · Claude Code · conversation c · 5 ms · about 5 tokens · .* · instance files#1\n/,
    );
    assert.equal(
      body(whole),
      [
        '## Input',
        '```json\n{\n  "what": "pears"\n}\n```',
        '## Output',
        '```\n{\n  "a": [\n    1\n  ]\n}\n```',
        'An image, image/png.',
        '```\n{not JSON\n```',
      ].join('\n\n'),
    );
  });

  it('the page of a call shows what an override and the extension changed, the progress and the log', () => {
    const whole = page([text('long')], {
      sent: { what: 'pears', limit: 20 },
      received: { content: [text('short')] },
      progress: [{ progress: 1, total: 2, message: 'half' }, { progress: 2 }],
      log: ['[stderr] counting'],
    });
    assert.match(
      body(whole),
      /## Input as the server got it\n\n```json\n\{\n {2}"what": "pears",\n {2}"limit": 20/,
    );
    assert.match(
      whole,
      /## Output\n\n```\nshort\n```\n\n## Output as the server gave it\n\n```\nlong\n```/,
    );
    assert.match(
      whole,
      /## Progress\n\n```\n1\/2 half\n2\n```\n\n## Log of the server during the call\n\n```\n\[stderr\] counting\n```$/,
    );
  });

  it('the page of a call names its outcome, an empty output, an error, and contents that are not kept', () => {
    assert.match(page([], {}, { outcome: 'error' }), /## Output \(error\)\n\nNothing\.$/);
    assert.match(
      page([], { outcome: { kind: 'error', code: -32602, message: 'no' } }),
      /"code": -32602/,
    );
    assert.match(
      read(callPage(callFact(), undefined, redact)),
      /Its input and output are not kept here\./,
    );
  });

  it('the page of a call keeps a text inside its fence, and cuts a very long text', () => {
    assert.match(page([text('a\n````\nb')]), /\n`````\na\n````\nb\n`````$/);
    assert.match(page([text('x'.repeat(100_001))]), /x\n… \(100001 characters in all\)\n```$/);
    assert.match(page([text('x '.repeat(1_000_000))]), / \n… \(2000000 characters in all\)\n```$/);
  });

  it('the page of a call has no secret, and a mask removes no fence (E4)', () => {
    const forged = '\n```\n\n# Sign in again\n\n[Sign in](https://evil.example)';
    for (const [first, second] of [
      ['-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----'],
      ['"password": "correct horse', 'battery staple"'],
    ] as const) {
      const [one = '', two = ''] = page([text(first), text(`${second}${forged}`)]).split(
        '\n\n````\n',
      );
      assert.match(one, /\n```\n.*\n```$/);
      assert.ok(two.endsWith(`${forged}\n\`\`\`\``), two);
    }
    const secret = 'sk-ant-api03-0123456789abcdefghijklmnopqrstuvwxyz';
    const shown = page(
      [text(secret), { type: 'image', mimeType: secret, data: '' }, { type: 'other', secret }],
      {
        given: { key: secret },
        progress: [{ progress: 1, message: secret }],
        log: [secret],
      },
      { tool: secret, agent: secret, reason: secret },
    );
    assert.doesNotMatch(shown, /0123456789abc/);
  });
});
