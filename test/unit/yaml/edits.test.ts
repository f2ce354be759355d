import assert from 'node:assert/strict';
import fc from 'fast-check';
import { EditNodes } from '../../../src/core/yaml/editNodes.js';
import {
  removeItem,
  removeKey,
  renameKey,
  replaceItem,
  replaceValue,
  scalarText,
} from '../../../src/core/yaml/edits.js';
import { assertMinimal, check, file, modelOf, textOf } from './editCases.js';
import { plain } from './plain.js';

check('rename a key', (_, nodes, at) => renameKey(nodes, at, 'command'), [
  ['a:\n  |comand: npx # why\n', 'a:\n  command: npx # why\n'],
  ["{ |'comand': npx }", "{ 'command': npx }"],
  ['{|"comand":"npx"}', '{"command":"npx"}'],
  ['? |comand\n: npx\n', '? command\n: npx\n'],
]);

check('replace a value', (_, nodes, at) => replaceValue(nodes, at, 'streamable_http'), [
  ['|transport: sse # old\n', 'transport: streamable_http # old\n'],
  ["|transport: 'sse'\n", "transport: 'streamable_http'\n"],
  ['{ "a": 1, |"transport": "sse" }', '{ "a": 1, "transport": "streamable_http" }'],
  ['|transport: &t sse\nb: *t\n', 'transport: &t streamable_http\nb: *t\n'],
  ['b: &t sse\n|transport: *t\n', 'b: &t sse\ntransport: streamable_http\n'],
  ['|transport: # none\nb: 1\n', 'transport: streamable_http # none\nb: 1\n'],
  ['|transport: |-\n  sse\n'.replace('|', '¦').replace('|-', '>-').replace('¦', '|'), undefined],
  ['|transport: [sse]\n', undefined],
]);

check('replace an item', (_, nodes, at) => replaceItem(nodes, at, 'new_*'), [
  ['- a\n- |old # c\n', '- a\n- new_* # c\n'],
  ["[a, |'old']", "[a, 'new_*']"],
]);

check('remove an item', (_, nodes, at) => removeItem(nodes, at), [
  ['w:\n  # all\n  - |a # gone\n  # b\n  - b\n', 'w:\n  # all\n  # b\n  - b\n'],
  ['w:\n  - a\n  - |b', 'w:\n  - a\n'],
  ['w:\n- |a\n- b\nx: 1\n', 'w:\n- b\nx: 1\n'],
  ['w:\n  - |k: 1\n    l: 2\n  - b\n', 'w:\n  - b\n'],
  ['w:\n  -   !t |a\n  - b\n', 'w:\n  - b\n'],
  ["w: [|'a', 'b', c] # x\n", "w: ['b', c] # x\n"],
  ["w: ['a', |'b', c]\n", "w: ['a', c]\n"],
  ["w: ['a','b',|c]\n", "w: ['a','b']\n"],
  ['w: [|a]\n', 'w: []\n'],
  ['w: [ a, |b, ]\n', 'w: [ a, ]\n'],
  ['w: [\n  a, # first\n  |b,\n  c\n]\n', 'w: [\n  a, # first\n  c\n]\n'],
  ['w: [\n  |a, # first\n  b\n]\n', 'w: [\n   # first\n  b\n]\n'],
  ['w: [\n  a, # first\n  |b # second\n]\n', 'w: [\n  a # first\n   # second\n]\n'],
  ['w: [\n  |a # first\n  , b\n]\n', undefined],
  ['w: [&x |a, *x]\n', undefined],
  ['w:\n  - - |a\n    - b\n', undefined],
]);

check('remove a key', (_, nodes, at) => removeKey(nodes, at), [
  ['a: 1\n|b: 2 # gone\nc: 3\n', 'a: 1\nc: 3\n'],
  [
    'a: 1\n# about b\n|b:\n  - x\n  - y\n\n# about c\nc: 3\n',
    'a: 1\n# about b\n\n# about c\nc: 3\n',
  ],
  ['s:\n  a: 1\n  |b:\n', 's:\n  a: 1\n'],
  ['{ a: 1, |b: [x, y], c: 3 }', '{ a: 1, c: 3 }'],
  ['{ a: 1, |b: 2 }', '{ a: 1 }'],
  ['{ |b: 2 }', '{  }'],
  ['{\n  "a": 1,\n  |"b": 2\n}', '{\n  "a": 1\n}'],
  ['|b: &x 2\na: *x\n', undefined],
  ['- |b: 2\n  c: 3\n', undefined],
]);

describe('a text as a scalar', () => {
  it('a written scalar means its text, in every quote', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom<"'" | '"' | ''>("'", '"', ''), (value, quote) => {
        // No name here has characters outside single quotes on one line of YAML.
        const text = value.replace(/[\p{Cc}\p{Cs}\u2028\u2029\uFEFF]/gu, '');
        assert.deepEqual(plain(`[${scalarText(text, quote)}]`), [text]);
      }),
    );
    for (const text of [
      'true',
      '1',
      '*_x',
      'a: b',
      '#',
      '',
      '~',
      'null',
      '-',
      '0x1',
      '.5',
      "it's",
    ]) {
      assert.deepEqual(plain(`[${scalarText(text)}]`), [text]);
    }
  });
});

describe('edits of random files (E1)', function () {
  this.timeout(20_000);

  it('edits remove any item of any list, and rename or remove any key', () => {
    fc.assert(
      fc.property(file, fc.nat(), fc.nat(), (made, index, at) => {
        const text = textOf(made);
        const [id, { list, keys }] = made.servers[index % made.servers.length] ?? ['', { list: [], keys: [] }];
        const nodes = EditNodes.read(text);
        const entry = nodes?.pairOf(nodes.pairOf(nodes.root, 'servers')?.pair.value, id)?.pair.value;
        assert.ok(nodes);
        const rangeStart = (node: unknown): number => (node as { range: [number] }).range[0];
        const args = nodes.pairOf(entry, 'args')?.pair.value as { items: unknown[] };
        if (list.length > 0) {
          const item = at % list.length;
          const result = assertMinimal(text, removeItem(nodes, rangeStart(args.items[item])), 30);
          const expected = modelOf(text);
          const left = (expected[id]?.['args'] as unknown[]).filter((_, other) => other !== item);
          expected[id] = { ...expected[id], args: left };
          const found = modelOf(result);
          // An empty list in block style is `null`, with the same meaning.
          assert.deepEqual(found[id]?.['args'] ?? [], left);
          assert.deepEqual({ ...found, [id]: { ...found[id], args: left } }, expected);
        }
        const key = keys[at % keys.length]?.[0] ?? '';
        const keyStart = rangeStart(nodes.pairOf(entry, key)?.pair.key);
        const without = modelOf(assertMinimal(text, removeKey(nodes, keyStart), 40));
        const expected = modelOf(text);
        delete expected[id]?.[key];
        assert.deepEqual(without, expected);
        const renamed = modelOf(assertMinimal(text, renameKey(nodes, keyStart, 'other'), 20));
        assert.deepEqual(Object.keys(renamed[id] ?? {}), Object.keys(modelOf(text)[id] ?? {}).map((one) => (one === key ? 'other' : one)));
      }),
      { numRuns: 60 },
    );
  }); // oxfmt-ignore
});
