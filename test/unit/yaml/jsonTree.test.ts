import assert from 'node:assert/strict';
import { readJson } from '../../../src/core/yaml/jsonTree.js';

describe('JSON as a tree', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  const tooDeep = /nested deeper than 64/;

  it('JSON is read to the depth of YAML, and refused beyond it before any recursion', () => {
    assert.deepEqual(readJson(nested(64)).errors, []);
    const deep = [
      nested(65),
      nested(100_000),
      '['.repeat(100_000),
      '{"a":'.repeat(100_000),
      '[{"a":'.repeat(33),
    ];
    for (const text of deep) {
      const [error, ...more] = readJson(text).errors;
      assert.match(error?.what ?? '', tooDeep);
      assert.deepEqual(more, []);
    }
  });

  it('brackets in a text or a comment do not count as nesting', () => {
    assert.deepEqual(readJson(`["${'['.repeat(100)}", /* ${'{'.repeat(100)} */ 1]`).errors, []);
    assert.deepEqual(readJson(`[${'[],'.repeat(100)}]`).errors, []);
  });
});
