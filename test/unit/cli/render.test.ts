import assert from 'node:assert/strict';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import {
  messageTexts,
  problemLine,
  promptsTable,
  resultTexts,
  subjectOfProblem,
} from '../../../src/cli/render.js';
import { newLines } from '../../../src/cli/output.js';
import { envUnset } from '../../../src/core/config/problems.js';
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
    assert.deepEqual(
      messageTexts({ messages: [{ role: wordless, content: { type: 'text', text: 'x' } }] }),
      ['an object: x'],
    );
    const prompts = [
      { published: 'p', prompt: { name: 'p', arguments: [{ name: wordless }, { name: ['a'] }] } },
    ];
    assert.match(
      promptsTable([{ id: 's', prompts } as unknown as Toolset]),
      /\[an object\] \[a list\]$/,
    );
  });
});

describe('problems on the terminal', () => {
  const range = { start: { line: 4, character: 2 }, end: { line: 4, character: 3 } };

  it('an unset variable is to be set in the shell of the command', () => {
    const line = problemLine(envUnset({ file: 'mcp.yaml', range }, 'X', '`X`', undefined));
    assert.match(line, /Set `X` in the shell that runs this command/);
    assert.doesNotMatch(line, /editor/);
  });

  it('too many tools are reported once until they end, and a moved problem once', () => {
    const written: string[] = [];
    const say = newLines((line) => written.push(line), subjectOfProblem);
    const tooMany = (count: number): string =>
      `a.yaml:3:3: warning too-many-tools: Agents get ${count} tools.`;
    say([tooMany(129)]);
    say([tooMany(130), 'a.yaml:4:3: error url-invalid: x']);
    say([tooMany(131), 'a.yaml:5:3: error url-invalid: x']);
    say([]);
    say([tooMany(130)]);
    assert.deepEqual(written, [tooMany(129), 'a.yaml:4:3: error url-invalid: x', tooMany(130)]);
  });
});
