/** Providers' limits on tools (D3). */
import assert from 'node:assert/strict';
import { projectToolsForProvider } from '../../../src/core/minds/projection.js';
import { tool } from './fakes.js';

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
    const told = (vendor: string): string[] =>
      projectToolsForProvider(vendor, [...tools, odd]).problems.map(
        (problem) => `${problem.tool}: ${problem.message}`,
      );
    assert.deepEqual(told('copilot'), [
      'a: Copilot accepts no array without `items` in an input schema, which `a` has.',
    ]);
    assert.deepEqual(told('anthropic'), [
      'b: Anthropic accepts no `oneOf` at the top of an input schema, which `b` has.',
      'd: Anthropic accepts no property named `x y`, which `d` has.',
    ]);
    assert.equal(told('gemini').length, 2);
    assert.deepEqual(told('scripted'), []);
  });

  it('too many tools are reported once', () => {
    const many = Array.from({ length: 129 }, (_, index) => tool(`t${index}`));
    assert.deepEqual(projectToolsForProvider('copilot', many).problems, [
      { message: 'Copilot accepts at most 128 tools in one request, not 129.' },
    ]);
  });

  it('examples and defaults do not count as schemas', () => {
    const inputSchema = {
      type: 'object' as const,
      properties: { a: { type: 'object', default: { type: 'array' } } },
    };
    assert.deepEqual(projectToolsForProvider('copilot', [tool('a', { inputSchema })]).problems, []);
  });
});
