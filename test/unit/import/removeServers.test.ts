/** The removal of servers from a JSON file of the editor changes nothing else in it (C6, G3i). */
import assert from 'node:assert/strict';
import { isOfEditor } from '../../../src/core/import/dialects.js';
import { planRemoval } from '../../../src/core/import/removeServers.js';

const cases: [what: string, before: string, names: string[], after: string][] = [
  ['the first of several', '{\n  "servers": {\n    "a": {\n      "command": "x"\n    },\n    "b": {}\n  }\n}\n', ['a'], '{\n  "servers": {\n    "b": {}\n  }\n}\n'],
  ['the last of several, with the comma before it', '{\n  "servers": {\n    "a": {}, // one\n    // two\n    "b": {}\n  }\n}\n', ['b'], '{\n  "servers": {\n    "a": {} // one\n    // two\n  }\n}\n'],
  ['the last one, whose comma may stay before another end', '{\n  "servers": {\n    "a": {},\n    "b": {},\n  }\n}\n', ['b'], '{\n  "servers": {\n    "a": {},\n  }\n}\n'],
  ['all of them', '{\n  "inputs": [],\n  "servers": {\n    "a": {},\n    "b": {}\n  } // end\n}\n', ['a', 'b'], '{\n  "inputs": [],\n  "servers": {\n  } // end\n}\n'],
  ['two at the end', '{ "servers": { "a": {}, "b": {}, "c": {} } }', ['b', 'c'], '{ "servers": { "a": {} } }'],
  ['one in the middle of a line', '{ "servers": { "a": {}, "b": {}, "c": {} } }', ['b'], '{ "servers": { "a": {}, "c": {} } }'],
  ['one beside a comment, which stays', '{\n\t"servers": {\n\t\t"a": {}, // mine\n\t\t"b": {}\n\t}\n}', ['a'], '{\n\t"servers": {\n\t\t // mine\n\t\t"b": {}\n\t}\n}'],
  ['one with Windows line ends', '{\r\n  "servers": {\r\n    "a": {},\r\n    "b": {}\r\n  }\r\n}', ['a'], '{\r\n  "servers": {\r\n    "b": {}\r\n  }\r\n}'],
  ['one in any case, as the editor compares', '{ "mcpServers": { "Files": {} } }', ['files'], '{ "mcpServers": { } }'],
  ['one in a dev container, with its comments', '{\n  // image\n  "image": "x",\n  "customizations": {\n    "vscode": {\n      "extensions": ["a"],\n      "mcp": {\n        "servers": {\n          // mine\n          "a": { "command": "x" },\n          "b": {} // two\n        }\n      }\n    }\n  }\n}\n', ['a'], '{\n  // image\n  "image": "x",\n  "customizations": {\n    "vscode": {\n      "extensions": ["a"],\n      "mcp": {\n        "servers": {\n          // mine\n          "b": {} // two\n        }\n      }\n    }\n  }\n}\n'],
  ['one in the settings of a dev container', '{ "customizations": { "vscode": { "settings": { "mcp.servers": { "a": {}, "b": {} } } } } }', ['a'], '{ "customizations": { "vscode": { "settings": { "mcp.servers": { "b": {} } } } } }'],
  ['one in a workspace file, beside its folders', '{\n\t"folders": [{ "path": "a" }],\n\t"settings": {\n\t\t"mcp": {\n\t\t\t"servers": {\n\t\t\t\t"a": {},\n\t\t\t\t"b": {},\n\t\t\t},\n\t\t},\n\t},\n}\n', ['b'], '{\n\t"folders": [{ "path": "a" }],\n\t"settings": {\n\t\t"mcp": {\n\t\t\t"servers": {\n\t\t\t\t"a": {},\n\t\t\t},\n\t\t},\n\t},\n}\n'],
  ['one behind keys that dots join', '{ "settings": { "mcp.servers": { "a": {} } }, "settings.mcp": { "servers": { "a": {} } } }', ['a'], '{ "settings": { "mcp.servers": { } }, "settings.mcp": { "servers": { } } }'],
]; // oxfmt-ignore

describe('planRemoval', () => {
  for (const [what, before, names, after] of cases) {
    it(`the removal takes out ${what}`, () =>
      assert.equal(planRemoval(before, names).after, after));
  }

  it('the removal changes nothing in a file without the servers, or without JSON', () => {
    for (const text of [
      '{ "servers": { "b": {} } }',
      '{ "a": {} }',
      '{ "servers": ["a"] }',
      '{ "customizations": { "other": { "mcp": { "servers": { "a": {} } } } }, "a": { "servers": { "a": {} } } }',
      '{ "settings": { "mcp": { "inputs": { "a": {} } }, "a": {} } }',
      '',
      '{',
      '[1',
    ]) {
      assert.deepEqual(planRemoval(text, ['a']), { names: [], edits: [], after: text });
    }
  });

  it('the removal names the servers as in the file', () => {
    assert.deepEqual(planRemoval('{ "servers": { "A": {}, "b": {} } }', ['a', 'c']).names, ['A']);
  });
});

describe('isOfEditor', () => {
  for (const [file, expected] of [
    ['/ws/.vscode/mcp.json', true],
    ['/home/me/.config/Code/User/mcp.json', true],
    ['/ws/.mcp.json', true],
    ['/ws/below/.mcp.json', false],
    ['/ws/.cursor/mcp.json', false],
    ['/ws/team.code-workspace', true],
    ['/ws/.devcontainer.json', true],
    ['/ws/.devcontainer/api/devcontainer.json', true],
    ['/ws/.vscode/settings.json', false],
  ] as const) {
    it(`isOfEditor(${file}): ${expected}`, () => assert.equal(isOfEditor(file, ['/ws']), expected));
  }
});
