import assert from 'node:assert/strict';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { messageTexts, promptsTable, resultTexts } from '../../../src/cli/render.js';
import type { Toolset } from '../../../src/core/tools/catalogue.js';

/** `String` throws for this value. */
const wordless = { toString: 1 };

describe('texts of servers on the terminal', () => {
  it('a value that should be a text is shown', () => {
    const content = [
      { type: 'text', text: wordless },
      { type: wordless, text: 'x' },
    ] as unknown as CallToolResult['content'];
    assert.deepEqual(resultTexts({ content }), [
      '{"type":"text","text":{"toString":1}}',
      '{"type":{"toString":1},"text":"x"}',
    ]);
    assert.deepEqual(messageTexts({ messages: [{ role: wordless, content: { type: 'text', text: 'x' } }] }), [
      'an object: x',
    ]);
    const prompts = [{ published: 'p', prompt: { name: 'p', arguments: [{ name: wordless }, { name: ['a'] }] } }];
    assert.match(promptsTable([{ id: 's', prompts } as unknown as Toolset]), /\[an object\] \[a list\]$/);
  });
});
