/** The bytes of a tool (N6). */
import assert from 'node:assert/strict';
import { canonicalTool } from '../../../src/core/tools/canonicalTool.js';
import type { OfferedTool } from '../../../src/core/tools/catalogue.js';

const bytes = (inputSchema: object, more: object = {}): string =>
  JSON.stringify(canonicalTool({ name: 't', inputSchema, ...more } as OfferedTool));

describe('the bytes of a tool (N6)', () => {
  it('the order of keys and of required names does not count', () => {
    const one = { type: 'object', required: ['b', 'a'], properties: { b: { type: 'string', title: 'B' }, a: {} } };
    const two = { properties: { a: {}, b: { title: 'B', type: 'string' } }, required: ['a', 'b'], type: 'object' };
    assert.equal(bytes(one), bytes(two));
    assert.equal(
      bytes(one),
      '{"inputSchema":{"properties":{"a":{},"b":{"title":"B","type":"string"}},"required":["a","b"],"type":"object"},"name":"t"}',
    );
  });

  for (const [what, schema] of [
    ['values to choose from', { enum: ['b', 'a'] }],
    ['a list within a default', { default: { required: ['b', 'a'] } }],
    ['a list within an example', { examples: [{ required: ['b', 'a'] }] }],
    ['branches', { anyOf: [{ type: 'string' }, { type: 'number' }] }],
  ] as const)
    it(`the order of ${what} stays`, () => {
      const { inputSchema } = JSON.parse(bytes({ properties: { x: schema } })) as { inputSchema: object };
      assert.equal(JSON.stringify(inputSchema), JSON.stringify({ properties: { x: schema } }));
    });

  it('a property with the name of a keyword has a schema, and a list outside of schemas stays', () => {
    const property = { type: 'object', required: ['b', 'a'] };
    assert.match(bytes({ properties: { default: property } }), /"required":\["a","b"\]/);
    assert.match(bytes({ dependencies: { default: property } }), /"required":\["a","b"\]/);
    assert.match(bytes({ dependentRequired: { x: ['b', 'a'] } }), /"x":\["a","b"\]/);
    assert.match(bytes({}, { _meta: { required: ['b', 'a'] } }), /"required":\["b","a"\]/);
  });
});
