import assert from 'node:assert/strict';
import fc from 'fast-check';
import { EditNodes } from '../../../src/core/yaml/editNodes.js';
import {
  applyEdits,
  removeItem,
  removeKey,
  renameKey,
  replaceItem,
  replaceValue,
  scalarText,
  type Edits,
} from '../../../src/core/yaml/edits.js';
import { addPrefix, insertVersion, setEnabled, setServerKey } from '../../../src/core/config/serverEdits.js';
import { plain } from './plain.js';

type Edit = (text: string, nodes: EditNodes, at: number) => Edits;

/** `|` marks where the node begins; undefined: the edit is not offered. */
function check(name: string, edit: Edit, cases: readonly (readonly [string, string | undefined])[]): void {
  describe(name, () => {
    for (const [marked, expected] of cases) {
      for (const [style, lineBreak] of [
        ['', '\n'],
        [' with CRLF', '\r\n'],
      ] as const) {
        it(`${JSON.stringify(marked)}${style}`, () => {
          const source = marked.replaceAll('\n', lineBreak);
          const at = source.indexOf('|');
          const text = source.replace('|', '');
          const nodes = EditNodes.read(text);
          assert.ok(nodes, 'the text is YAML');
          const edits = edit(text, nodes, at);
          assert.equal(edits && applyEdits(text, edits), expected?.replaceAll('\n', lineBreak));
          if (edits) assert.ok(EditNodes.read(applyEdits(text, edits)), 'the result is YAML');
        });
      }
    }
  });
}

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
  ['w: [\n  |a # first\n  , b\n]\n', 'w: [\n   # first\n   b\n]\n'],
  ['w: [&x |a, *x]\n', undefined],
  ['w:\n  - - |a\n    - b\n', undefined],
]);

check('remove a key', (_, nodes, at) => removeKey(nodes, at), [
  ['a: 1\n|b: 2 # gone\nc: 3\n', 'a: 1\nc: 3\n'],
  ['a: 1\n# about b\n|b:\n  - x\n  - y\n\n# about c\nc: 3\n', 'a: 1\n# about b\n\n# about c\nc: 3\n'],
  ['s:\n  a: 1\n  |b:\n', 's:\n  a: 1\n'],
  ['{ a: 1, |b: [x, y], c: 3 }', '{ a: 1, c: 3 }'],
  ['{ a: 1, |b: 2 }', '{ a: 1 }'],
  ['{ |b: 2 }', '{  }'],
  ['{\n  "a": 1,\n  |"b": 2\n}', '{\n  "a": 1\n}'],
  ['|b: &x 2\na: *x\n', undefined],
  ['- |b: 2\n  c: 3\n', undefined],
]);

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

it('the version of an empty file', () => {
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
  ['servers:\n  a: &a\n    command: x\n  b:\n    <<: *a\n', 'servers:\n  a: &a\n    enabled: false\n    command: x\n  b:\n    enabled: true\n    <<: *a\n'],
  ['servers:\n  a: &a { command: x }\n  b: *a\n', 'servers:\n  a: &a { enabled: false, command: x }\n  b: { <<: *a, enabled: true }\n'],
  ['servers:\n  a:\n  b: {}\n', 'servers:\n  a: { enabled: false }\n  b: {}\n'],
  ['servers:\n  a: { enabled: false }\n', 'servers:\n  a: { enabled: false }\n'],
  ['servers:\n  b: {}\n', undefined],
]); // prettier-ignore

check('enable a server', (text) => setEnabled(text, 'a', true), [
  ['servers:\n  a:\n    enabled: false # for now\n', 'servers:\n  a:\n    enabled: true # for now\n'],
  ['x: &off { enabled: false }\nservers:\n  a:\n    <<: *off\n    command: x\n', 'x: &off { enabled: false }\nservers:\n  a:\n    enabled: true\n    <<: *off\n    command: x\n'],
  ['servers:\n  a: { enabled: &no false }\n  b: { enabled: *no }\n', 'servers:\n  a: { enabled: &no true }\n  b: { enabled: false }\n'],
]); // prettier-ignore

check('add a prefix', (text) => addPrefix(text, 'a', 'a_'), [
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
]); // prettier-ignore

check('add a missing key', (text) => setServerKey(text, 'a', 'transport', 'stdio'), [
  ['servers:\n  a:\n    command: x\n', 'servers:\n  a:\n    transport: stdio\n    command: x\n'],
  ['servers:\n  a: { command: x }\n', 'servers:\n  a: { transport: stdio, command: x }\n'],
]);

describe('a text as a scalar', () => {
  it('means itself, in every quote', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom<"'" | '"' | ''>("'", '"', ''), (value, quote) => {
        // What YAML cannot hold in single quotes on one line is no name of anything here.
        const text = value.replace(/[\p{Cc}\p{Cs}\u2028\u2029\uFEFF]/gu, '');
        assert.deepEqual(plain(`[${scalarText(text, quote)}]`), [text]);
      }),
    );
    for (const text of ['true', '1', '*_x', 'a: b', '#', '', '~', 'null', '-', '0x1', '.5', "it's"]) {
      assert.deepEqual(plain(`[${scalarText(text)}]`), [text]);
    }
  });
});

describe('edits of random files (E1)', function () {
  this.timeout(20_000);
  const name = fc.constantFrom('a', 'b', 'c', 'd');
  const scalar = fc.constantFrom('x', "'y z'", '"q"', '12', 'true');
  const server = fc.record({
    style: fc.constantFrom('block', 'flow', 'flowLines', 'json'),
    keys: fc.uniqueArray(fc.tuple(fc.constantFrom('command', 'cwd', 'enabled', 'url', 'sessionId'), scalar), {
      selector: ([key]) => key,
      minLength: 1,
    }),
    list: fc.array(scalar, { maxLength: 4 }),
    comments: fc.boolean(),
  });
  type Server = { style: string; keys: [string, string][]; list: string[]; comments: boolean };

  function render(id: string, { style, keys, list, comments }: Server): string {
    const note = comments ? ' # note' : '';
    const line = comments ? '    # line\n' : '';
    const entries = keys.map(([key, value]) => [key, key === 'enabled' ? 'true' : value]);
    const flowList = `[${list.join(', ')}]`;
    switch (style) {
      case 'flow':
        return `  ${id}: { ${[...entries, ['args', flowList]].map((entry) => entry.join(': ')).join(', ')} }${note}\n`;
      case 'flowLines':
        return `  ${id}: {${note}\n${entries.map((entry) => `    ${entry.join(': ')},${note}\n`).join(line)}    args: ${flowList}${note}\n  }\n`;
      case 'json': {
        const json = (value: string): string => (/^\w+$/.test(value) && value !== '12' && value !== 'true' ? `"${value}"` : value);
        return `  "${id}": {${entries.map(([key, value]) => `"${key}": ${json(value ?? '')}`).join(', ')}, "args": [${list.map(json).join(',')}]}${note}\n`;
      }
      default: {
        const items = list.length === 0 ? ' []\n' : `${note}\n${list.map((item) => `      - ${item}${note}\n`).join(line)}`;
        return `  ${id}:${note}\n${line}${entries.map((entry) => `    ${entry.join(': ')}${note}\n`).join(line)}    args:${items}`;
      }
    }
  } // prettier-ignore

  const file = fc.record({
    servers: fc.uniqueArray(fc.tuple(name, server), { selector: ([id]) => id, minLength: 1 }),
    crlf: fc.boolean(),
    endless: fc.boolean(),
  });

  function textOf({ servers, crlf, endless }: { servers: [string, Server][]; crlf: boolean; endless: boolean }): string {
    const text = `# head\nservers:\n${servers.map(([id, body]) => render(id, body)).join('\n')}# tail\n`;
    return (endless ? text.replace(/\n# tail\n$/, '') : text).replaceAll('\n', crlf ? '\r\n' : '\n');
  } // prettier-ignore

  type Model = Record<string, Record<string, unknown>>;
  const modelOf = (text: string): Model => (plain(text) as { servers: Model }).servers;

  /** Everything outside the edits is there still; comments are never part of one, but for those on a removed line. */
  function assertMinimal(text: string, edits: Edits, most: number): string {
    assert.ok(edits, 'is offered');
    for (const { span } of edits) assert.ok(span.end - span.start <= most, JSON.stringify(text.slice(span.start, span.end)));
    return applyEdits(text, edits);
  } // prettier-ignore

  it('disable one server, and change nothing else', () => {
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
  }); // prettier-ignore

  it('add a prefix to one server', () => {
    fc.assert(
      fc.property(file, fc.nat(), (made, index) => {
        const text = textOf(made);
        const id = made.servers[index % made.servers.length]?.[0] ?? '';
        const result = assertMinimal(text, addPrefix(text, id, `${id}_`), 0);
        const expected = modelOf(text);
        expected[id] = { ...expected[id], transform: [{ prefix: `${id}_` }] };
        assert.deepEqual(modelOf(result), expected);
      }),
      { numRuns: 60 },
    );
  });

  it('remove any item of any list, and rename or remove any key', () => {
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
          // A list in block style of which nothing is left is `null`, which means the same.
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
  }); // prettier-ignore
});
