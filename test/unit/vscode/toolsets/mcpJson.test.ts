import assert from 'node:assert/strict';
import { configuredServers } from '../../../../src/vscode/toolsets/mcpJson.js';

const labels = (text: string): string[] => configuredServers(text).map(({ label }) => label);

describe('configuredServers', () => {
  it('finds servers with their places', () => {
    const text =
      '{\n  "servers": {\n    "one": { "command": "x", "env": { "servers": "no" } },\n    "two": {}\n  }\n}';
    assert.deepEqual(configuredServers(text), [
      {
        label: 'one',
        range: { start: { line: 2, character: 4 }, end: { line: 2, character: 9 } },
        isOurs: false,
      },
      {
        label: 'two',
        range: { start: { line: 3, character: 4 }, end: { line: 3, character: 9 } },
        isOurs: false,
      },
    ]);
  });

  it('knows both forms and no other container', () => {
    assert.deepEqual(labels('{"mcpServers":{"a":{}},"inputs":{"b":{}},"servers":{"c":{}}}'), [
      'a',
      'c',
    ]);
  });

  it('reads comments, trailing commas, CRLF and escapes', () => {
    const text =
      '// "servers": {"no": 1}\r\n{ /* {"servers": */ "servers": {\r\n "a\\"b": {"url": "http://x//y"}, // c\r\n "d": [], }, }';
    assert.deepEqual(labels(text), ['a"b', 'd']);
    assert.equal(configuredServers(text)[1]?.range.start.line, 3);
  });

  it('tells entries of ours from others', () => {
    const entry = { command: 'npx', args: ['-y', 'mcp-toolsets@1.0.0', 'connect', 'a'] };
    const text = JSON.stringify({
      mcpServers: { a: entry, b: { command: 'npx', args: ['-y', 'connect', 'b'] } },
    });
    assert.deepEqual(
      configuredServers(`${text.slice(0, -2)},}}`).map(({ label, isOurs }) => [label, isOurs]),
      [
        ['a', true],
        ['b', false],
      ],
    );
  });

  it('ignores servers at a deeper level', () => {
    assert.deepEqual(
      labels('{"x": {"servers": {"no": {}}}, "servers": {"yes": {"servers": {"no": {}}}}}'),
      ['yes'],
    );
    assert.deepEqual(labels('[{"servers": {"no": {}}}]'), []);
  });

  it('reads an incomplete file as far as possible', () => {
    assert.deepEqual(labels('{"servers": {"a": {"command": "np'), ['a']);
    assert.deepEqual(labels('{"servers": {"a": {}, "b'), ['a']);
    assert.deepEqual(labels(''), []);
    assert.deepEqual(labels('"'), []);
  });
});
