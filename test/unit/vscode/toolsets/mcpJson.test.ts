import assert from 'node:assert/strict';
import { configuredLabels } from '../../../../src/vscode/toolsets/mcpJson.js';

const labels = (text: string): string[] => configuredLabels(text).map(({ label }) => label);

describe('configuredLabels', () => {
  it('finds servers with their places', () => {
    const text = '{\n  "servers": {\n    "one": { "command": "x", "env": { "servers": "no" } },\n    "two": {}\n  }\n}';
    assert.deepEqual(configuredLabels(text), [
      { label: 'one', range: { start: { line: 2, character: 4 }, end: { line: 2, character: 9 } } },
      { label: 'two', range: { start: { line: 3, character: 4 }, end: { line: 3, character: 9 } } },
    ]);
  });

  it('knows both forms and no other container', () => {
    assert.deepEqual(labels('{"mcpServers":{"a":{}},"inputs":{"b":{}},"servers":{"c":{}}}'), ['a', 'c']);
  });

  it('reads comments, trailing commas, CRLF and escapes', () => {
    const text =
      '// "servers": {"no": 1}\r\n{ /* {"servers": */ "servers": {\r\n "a\\"b": {"url": "http://x//y"}, // c\r\n "d": [], }, }';
    assert.deepEqual(labels(text), ['a"b', 'd']);
    assert.equal(configuredLabels(text)[1]?.range.start.line, 3);
  });

  it('ignores servers at a deeper level', () => {
    assert.deepEqual(labels('{"x": {"servers": {"no": {}}}, "servers": {"yes": {"servers": {"no": {}}}}}'), ['yes']);
    assert.deepEqual(labels('[{"servers": {"no": {}}}]'), []);
  });

  it('reads an incomplete file as far as possible', () => {
    assert.deepEqual(labels('{"servers": {"a": {"command": "np'), ['a']);
    assert.deepEqual(labels('{"servers": {"a": {}, "b'), ['a']);
    assert.deepEqual(labels(''), []);
    assert.deepEqual(labels('"'), []);
  });
});
