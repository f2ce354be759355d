/** Rule X8b: parameters that a tool mirrors in headers. */
import assert from 'node:assert/strict';
import {
  fromHeader,
  mirroredParams,
  mirrorMismatch,
  toHeader,
} from '../../../src/core/protocol/mirroredParams.js';

const text = (header: unknown): object => ({ type: 'string', 'x-mcp-header': header });
const of = (properties: object, more: object = {}): unknown =>
  mirroredParams({ type: 'object', properties, ...more });

describe('mirrored parameters (X8b)', () => {
  it('mirrored parameters are found below properties only', () => {
    const deep = { type: 'object', properties: { b: { type: 'integer', 'x-mcp-header': 'B' } } };
    assert.deepEqual(of({ a: text('A'), deep, plain: { default: text('D'), enum: [text('E')] } }), [
      { header: 'A', path: ['a'] },
      { header: 'B', path: ['deep', 'b'] },
    ]);
    assert.deepEqual(mirroredParams(undefined), []);
  });

  it('mirrored parameters in other places make the tool invalid', () => {
    const wrong: unknown[] = [
      of({ a: text('') }),
      of({ a: text('no space') }),
      of({ a: text('line\r\nbreak') }),
      of({ a: text(7) }),
      of({ a: { type: 'number', 'x-mcp-header': 'A' } }),
      of({ a: { type: 'object', 'x-mcp-header': 'A' } }),
      of({ a: text('Same'), b: text('same') }),
      of({ a: { type: 'array', items: text('A') } }),
      of({ a: { anyOf: [text('A')] } }),
      of({}, { $defs: { a: text('A') } }),
      mirroredParams({ type: 'string', 'x-mcp-header': 'Root' }),
    ];
    for (const one of wrong) assert.equal(typeof one, 'string', JSON.stringify(one));
  });

  it('mirrored headers must match the parameters in the body, and numbers match by value', () => {
    const params = [
      { header: 'Region', path: ['region'] },
      { header: 'Shard', path: ['deep', 'shard'] },
    ];
    const wrong = (args: unknown, headers: Record<string, string>): string | undefined =>
      mirrorMismatch(params, args, headers);
    const region = { 'mcp-param-region': 'north' };
    assert.equal(wrong({ region: 'north' }, region), undefined);
    assert.equal(wrong({ region: 'größe' }, { 'mcp-param-region': toHeader('größe') }), undefined);
    for (const damaged of ['=?base64?bm9ydGg?=', '=?base64?bm9y!!dGg=?='])
      assert.match(
        wrong({ region: 'north' }, { 'mcp-param-region': damaged }) ?? '',
        /Mcp-Param-Region/,
      );
    assert.equal(wrong({ region: null }, {}), undefined);
    assert.equal(wrong(undefined, {}), undefined);
    assert.equal(wrong({ deep: { shard: 42 } }, { 'mcp-param-shard': '42.0' }), undefined);
    assert.match(
      wrong({ deep: { shard: 0 } }, { 'mcp-param-shard': '' }) ?? '',
      /Mcp-Param-Shard does not match/,
    );
    assert.match(wrong({ region: 'north' }, {}) ?? '', /Mcp-Param-Region is missing/);
    assert.match(wrong({ region: 'south' }, region) ?? '', /Mcp-Param-Region does not match/);
    assert.match(wrong({}, region) ?? '', /Mcp-Param-Region does not match/);
    assert.match(wrong({ region: 'größe' }, { 'mcp-param-region': 'größe' }) ?? '', /not allowed/);
  });

  it('mirrored parameters survive their encoding in a header', () => {
    for (const value of [
      '',
      'plain',
      'größe',
      ' padded ',
      'two\nlines',
      '=?base64?literal?=',
      '=?base64?YQ==?=',
    ]) {
      assert.equal(fromHeader(toHeader(value)), value);
    }
  });
});
