import assert from 'node:assert/strict';
import { estimatedTokens, estimatedTokensOf, savedTokens } from '../../../src/core/tools/tokens.js';
import type { ServedTool } from '../../../src/core/tools/catalogue.js';

function tool(
  description: string,
  inputSchema: ServedTool['tool']['inputSchema'] = { type: 'object' },
): ServedTool {
  const name = 'read';
  return {
    original: name,
    published: name,
    editorName: name,
    editorId: 'mcp_a_read',
    tool: { name, description, inputSchema },
  };
}

describe('estimatedTokens', () => {
  it('the estimate counts name, description and schema as sent, four bytes to a token', () => {
    const sent = JSON.stringify({
      name: 'mcp_a_read',
      description: 'Reads.',
      parameters: { type: 'object' },
    });
    assert.equal(estimatedTokens(tool('Reads.')), Math.ceil(sent.length / 4));
  });

  it('the estimate grows with the schema, and with bytes, not characters', () => {
    const wide = tool('Reads.', {
      type: 'object',
      properties: { path: { type: 'string', description: 'Which file' } },
    });
    assert.ok(estimatedTokens(wide) > estimatedTokens(tool('Reads.')));
    assert.ok(estimatedTokens(tool('讀取檔案')) > estimatedTokens(tool('read')));
  });

  it('the estimate leaves out unsent parts of a tool', () => {
    const plain = tool('Reads.');
    const annotated = {
      ...plain,
      tool: {
        ...plain.tool,
        annotations: { title: 'Read' },
        outputSchema: { type: 'object' as const },
      },
    };
    assert.equal(estimatedTokens(annotated), estimatedTokens(plain));
  });

  it('estimates add up', () => {
    assert.equal(estimatedTokensOf([tool('a'), tool('a')]), 2 * estimatedTokens(tool('a')));
  });
});

describe('savedTokens', () => {
  it('tools that are kept out and overridden parts are saved', () => {
    const long = 'Reads one file, in a long text. '.repeat(20);
    const [before, after] = [tool(long), tool('Reads.')];
    const shortened: ServedTool = { ...after, override: { offered: before.tool, rules: [] } };
    const keptOut = { ...before.tool, name: 'write' };
    const ofOverride = estimatedTokens(before) - estimatedTokens(after);
    assert.equal(savedTokens([before.tool], [before]), 0);
    assert.equal(savedTokens([before.tool], [shortened]), ofOverride);
    const ofTool = estimatedTokens({ editorId: 'mcp_a_write', tool: keptOut });
    assert.equal(savedTokens([before.tool, keptOut], [shortened]), ofOverride + ofTool);
  });
});
