import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  addStep,
  insertVersion,
  setEnabled,
  setServerKey,
} from '../../../../src/core/config/edit/serverEdits.js';
import { EditNodes } from '../../../../src/core/yaml/editNodes.js';
import { applyEdits } from '../../../../src/core/yaml/edits.js';
import { assertMinimal, check, file, modelOf, textOf } from '../../yaml/editCases.js';

check('insert the version', (_, nodes) => insertVersion(nodes), [
  ['# Servers\nservers: {}\n', '# Servers\nversion: 1\nservers: {}\n'],
  ['version: # one\nservers: {}\n', 'version: 1 # one\nservers: {}\n'],
  ["version: '1'\nservers: {}\n", 'version: 1\nservers: {}\n'],
  ['---\nservers: {}\n', '---\nversion: 1\nservers: {}\n'],
  ['{ servers: {} }', '{ version: 1, servers: {} }'],
  ['{\n  "servers": {}\n}\n', '{\n  "version": 1,\n  "servers": {}\n}\n'],
  ['{}', '{ version: 1 }'],
  ['# only this\n', '# only this\nversion: 1\n'],
  ['just text\n', undefined],
]);

it('the version is inserted into an empty file', () => {
  const edits = insertVersion(EditNodes.read('') as EditNodes);
  assert.equal(applyEdits('', edits ?? []), 'version: 1\n');
});

check('disable a server', (text) => setEnabled(text, 'a', false), [
  ['servers:\n  a: # mine\n    # runs it\n    command: x\n', 'servers:\n  a: # mine\n    enabled: false\n    # runs it\n    command: x\n'],
  ['servers:\n  a:\n    command: x\n    enabled: true # on\n', 'servers:\n  a:\n    command: x\n    enabled: false # on\n'],
  ["servers:\n  a:\n    'enabled': yes\n", "servers:\n  a:\n    'enabled': false\n"],
  ['servers: { a: { command: x } }\n', 'servers: { a: { enabled: false, command: x } }\n'],
  ['servers: { a: {} }\n', 'servers: { a: { enabled: false } }\n'],
  ['{"servers":{"a":{"command":"x"}}}', '{"servers":{"a":{"enabled": false, "command":"x"}}}'],
  ['servers:\n  a: {\n    command: x,\n  }\n', 'servers:\n  a: {\n    enabled: false,\n    command: x,\n  }\n'],
  ['servers:\n  a: &b # shared\n    command: x\n', 'servers:\n  a: &b # shared\n    enabled: false\n    command: x\n'],
  ['servers:\n  a:\n    &b\n    command: x\n', 'servers:\n  a:\n    &b\n    enabled: false\n    command: x\n'],
  ['x-b: &b { command: x }\nservers:\n  a: *b\n', 'x-b: &b { command: x }\nservers:\n  a: { <<: *b, enabled: false }\n'],
  ['x-b: &b { enabled: true }\nservers:\n  a:\n    <<: *b\n', 'x-b: &b { enabled: true }\nservers:\n  a:\n    enabled: false\n    <<: *b\n'],
  ['servers:\n  a: &a\n    command: x\n  b:\n    <<: *a\n', undefined],
  ['servers:\n  a: &a { command: x }\n  b: *a\n', undefined],
  ['servers:\n  a:\n  b: {}\n', 'servers:\n  a: { enabled: false }\n  b: {}\n'],
  ['servers:\n  a: { enabled: false }\n', 'servers:\n  a: { enabled: false }\n'],
  ['servers:\n  b: {}\n', undefined],
]); // oxfmt-ignore

check('enable a server', (text) => setEnabled(text, 'a', true), [
  ['servers:\n  a:\n    enabled: false # for now\n', 'servers:\n  a:\n    enabled: true # for now\n'],
  ['x: &off { enabled: false }\nservers:\n  a:\n    <<: *off\n    command: x\n', 'x: &off { enabled: false }\nservers:\n  a:\n    enabled: true\n    <<: *off\n    command: x\n'],
  ['servers:\n  a: { enabled: &no false }\n  b: { enabled: *no }\n', undefined],
]); // oxfmt-ignore

check('add a prefix', (text) => addStep(text, 'a', "prefix: 'a_'"), [
  ['servers:\n  a:\n    command: x # c\n\n  b: {}\n', "servers:\n  a:\n    command: x # c\n    transform:\n      - prefix: 'a_'\n\n  b: {}\n"],
  ['servers:\n    a:\n        command: x', "servers:\n    a:\n        command: x\n        transform:\n            - prefix: 'a_'"],
  ['servers:\n  a:\n    transform:\n    - suffix: _s # s\n    # end\n', "servers:\n  a:\n    transform:\n    - suffix: _s # s\n    - prefix: 'a_'\n    # end\n"],
  ['servers:\n  a:\n    transform: [{ suffix: _s }]\n', "servers:\n  a:\n    transform: [{ suffix: _s }, { prefix: 'a_' }]\n"],
  ['servers:\n  a:\n    transform: []\n', "servers:\n  a:\n    transform: [{ prefix: 'a_' }]\n"],
  ['servers:\n  a:\n    transform: # none\n', "servers:\n  a:\n    transform: [{ prefix: 'a_' }] # none\n"],
  ['servers: { a: { command: x } }\n', "servers: { a: { transform: [{ prefix: 'a_' }], command: x } }\n"],
  ['servers:\n  a:\n    command: >-\n      x\n', "servers:\n  a:\n    transform: [{ prefix: 'a_' }]\n    command: >-\n      x\n"],
  ['servers:\n  a: &a\n    command: x\n  b:\n    <<: *a\n', undefined],
  ['servers:\n  a: { transform: &t [{ suffix: s }] }\n  b: { transform: *t }\n', undefined],
  ['x: &t { transform: [{ suffix: s }] }\nservers:\n  a: { <<: *t }\n', undefined],
  ['x: &t { transform: [{ suffix: s }] }\nservers:\n  a:\n    <<: *t\n', undefined],
]); // oxfmt-ignore

check('add a missing key', (text) => setServerKey(text, 'a', 'transport', 'stdio'), [
  ['servers:\n  a:\n    command: x\n', 'servers:\n  a:\n    transport: stdio\n    command: x\n'],
  ['servers:\n  a: { command: x }\n', 'servers:\n  a: { transport: stdio, command: x }\n'],
]);

describe('edits of random files (E1)', function () {
  this.timeout(20_000);

  it('an edit disables one server and changes no other', () => {
    fc.assert(
      fc.property(file, fc.nat(), (made, index) => {
        const text = textOf(made);
        const id = made.servers[index % made.servers.length]?.[0] ?? '';
        const result = assertMinimal(text, setEnabled(text, id, false), 4);
        const expected = modelOf(text);
        expected[id] = { ...expected[id], enabled: false };
        assert.deepEqual(modelOf(result), expected);
        const back = setEnabled(result, id, true);
        assert.deepEqual(modelOf(applyEdits(result, back ?? [])), { ...expected, [id]: { ...expected[id], enabled: true } });
      }),
      { numRuns: 60 },
    );
  }); // oxfmt-ignore

  it('an edit adds a prefix to one server', () => {
    fc.assert(
      fc.property(file, fc.nat(), (made, index) => {
        const text = textOf(made);
        const id = made.servers[index % made.servers.length]?.[0] ?? '';
        const result = assertMinimal(text, addStep(text, id, `prefix: '${id}_'`), 0);
        const expected = modelOf(text);
        expected[id] = { ...expected[id], transform: [{ prefix: `${id}_` }] };
        assert.deepEqual(modelOf(result), expected);
      }),
      { numRuns: 60 },
    );
  });
});
