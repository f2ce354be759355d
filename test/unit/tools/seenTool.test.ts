/** The canonical form of a tool, and the order of its keys (N6a). */
import assert from 'node:assert/strict';
import { inOrder, seenTool } from '../../../src/core/tools/seenTool.js';
import type { OfferedTool } from '../../../src/core/tools/catalogue.js';

const toolOf = (inputSchema: object, more: object = {}): OfferedTool =>
  ({ name: 't', inputSchema, ...more }) as OfferedTool;
const formOf = (inputSchema: object, more: object = {}): string =>
  seenTool(toolOf(inputSchema, more))[1];

describe('the canonical form of a tool (N6a)', () => {
  it('the order of keys and of required names does not count', () => {
    const one = {
      type: 'object',
      required: ['b', 'a'],
      properties: { b: { type: 'string', title: 'B' }, a: {} },
    };
    const two = {
      properties: { a: {}, b: { title: 'B', type: 'string' } },
      required: ['a', 'b'],
      type: 'object',
    };
    assert.equal(formOf(one), formOf(two));
    assert.notEqual(formOf(one), formOf({ ...two, required: ['a'] }));
  });

  for (const [what, one, other] of [
    ['values to choose from', { enum: ['b', 'a'] }, { enum: ['a', 'b'] }],
    [
      'a list within a default',
      { default: { required: ['b', 'a'] } },
      { default: { required: ['a', 'b'] } },
    ],
    [
      'a list within an example',
      { examples: [{ required: ['b', 'a'] }] },
      { examples: [{ required: ['a', 'b'] }] },
    ],
    [
      'branches',
      { anyOf: [{ type: 'a' }, { type: 'b' }] },
      { anyOf: [{ type: 'b' }, { type: 'a' }] },
    ],
  ] as const)
    it(`the order of ${what} counts`, () => {
      assert.notEqual(formOf({ properties: { x: one } }), formOf({ properties: { x: other } }));
    });

  it('names in dependencies, and in a property named like a keyword, have no order; a list outside of schemas has one', () => {
    const sets = (names: readonly string[]): object[] => [
      { properties: { default: { required: names } } },
      { dependencies: { default: { required: names } } },
      { dependentRequired: { x: names } },
    ];
    for (const [index, one] of sets(['b', 'a']).entries())
      assert.equal(formOf(one), formOf(sets(['a', 'b'])[index]!));
    assert.notEqual(
      formOf({}, { _meta: { required: ['b', 'a'] } }),
      formOf({}, { _meta: { required: ['a', 'b'] } }),
    );
  });
});

describe('the order of the keys of a tool (N6a)', () => {
  const first = toolOf({
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Where.' },
      content: { description: 'What.', type: 'string' },
    },
    required: ['path', 'content'],
    $defs: { one: { enum: [2, 1] } },
    dependentRequired: { path: ['z', 'content', 'a'] },
  });
  const shuffled: OfferedTool = {
    inputSchema: {
      dependentRequired: { path: ['a', 'content', 'z'] },
      $defs: { one: { enum: [2, 1] } },
      required: ['content', 'path'],
      properties: {
        content: { type: 'string', description: 'What.' },
        path: { description: 'Where.', type: 'string' },
      },
      type: 'object',
    } as OfferedTool['inputSchema'],
    name: 't',
  };

  it('is given to another order of the same form, to the byte', () => {
    const [, , order] = seenTool(first);
    assert.notEqual(JSON.stringify(shuffled), JSON.stringify(first));
    assert.equal(JSON.stringify(inOrder(shuffled, order)), JSON.stringify(first));
  });

  for (const order of [
    '',
    '0',
    '9,9,9',
    'x',
    '-1,0',
    '0.5',
    seenTool(first)[2].replace('1', '0'),
    '0,'.repeat(100_000),
  ])
    it(`a damaged order leaves the tool as it is: ${order.slice(0, 20)}`, () => {
      assert.equal(inOrder(shuffled, order), shuffled);
    });

  it('keys with special names stay', () => {
    const odd = JSON.parse(
      '{"name":"t","inputSchema":{"__proto__":1,"constructor":2,"":3,"10":4}}',
    ) as OfferedTool;
    assert.equal(JSON.stringify(inOrder(odd, seenTool(odd)[2])), JSON.stringify(odd));
  });
});
