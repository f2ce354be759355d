/** Providers' limits on tools (D3). */
import assert from 'node:assert/strict';
import { projectToolsForProvider } from '../../../src/core/tools/projection.js';
import { tool } from '../minds/fakes.js';

const list = {
  type: 'object' as const,
  properties: { items: { type: 'object', properties: { ids: { type: 'array' } } } },
};
const choice = { type: 'object' as const, oneOf: [{ required: ['a'] }, { required: ['b'] }] };

describe('projection of tools for a provider', () => {
  it('projection passes the same tools unchanged to every provider', () => {
    const tools = Object.freeze([
      tool('a', { inputSchema: list }),
      tool('1b', { inputSchema: choice }),
    ]);
    const before = JSON.stringify(tools);
    for (const vendor of ['copilot', 'openai', 'anthropic', 'google', 'ollama', '']) {
      const projected = projectToolsForProvider(vendor, tools);
      assert.equal(projected.tools, tools);
      assert.deepEqual(projected, projectToolsForProvider(vendor, tools), 'deterministic');
    }
    assert.equal(JSON.stringify(tools), before);
  });

  it('known refusals of a provider are reported, and nothing for unknown providers', () => {
    const tools = [
      tool('fine'),
      tool('a', { inputSchema: list }),
      tool('b', { inputSchema: choice }),
      tool('1c'),
    ];
    const odd = tool('d', {
      inputSchema: { type: 'object', properties: { 'x y': { type: 'string' } } },
    });
    const draft = tool('e', { inputSchema: { ...list, properties: { n: { minimum: '1' } } } });
    const told = (vendor: string): string[] =>
      projectToolsForProvider(vendor, [...tools, odd, draft]).problems.map(
        (problem) => `${problem.tool}: ${problem.message}`,
      );
    const refuses = (api: string, name: string, why: string): string =>
      `${name}: ${api} refuses every request with the tool "${name}": ${why}.`;
    const noItems = 'inputSchema has an array without "items"';
    const union = 'inputSchema has "oneOf" at its top';
    assert.deepEqual(told('copilot'), [refuses('Copilot', 'a', noItems)]);
    assert.deepEqual(told('anthropic'), [
      refuses('Anthropic', 'b', union),
      refuses('Anthropic', 'd', 'inputSchema has a property "x y"'),
      refuses('Anthropic', 'e', 'inputSchema.properties.n.minimum is "1"'),
    ]);
    assert.deepEqual(told('openai'), [
      refuses('OpenAI', 'a', noItems),
      refuses('OpenAI', 'b', union),
    ]);
    assert.deepEqual(told('gemini'), [
      refuses('Gemini', 'a', noItems),
      refuses('Gemini', '1c', 'its name does not begin with a letter or "_"'),
    ]);
    assert.deepEqual(told('scripted'), []);
  });

  it('too many tools are reported once', () => {
    const many = Array.from({ length: 129 }, (_, index) => tool(`t${index}`));
    assert.deepEqual(projectToolsForProvider('copilot', many).problems, [
      { message: 'Copilot accepts at most 128 tools in one request, not 129.' },
    ]);
    assert.deepEqual(projectToolsForProvider('anthropic', many).problems, []);
  });

  it('examples and defaults do not count as schemas', () => {
    const inputSchema = {
      type: 'object' as const,
      properties: { a: { type: 'object', default: { type: 'array' } } },
    };
    assert.deepEqual(projectToolsForProvider('copilot', [tool('a', { inputSchema })]).problems, []);
  });
});
