/** Overrides of tools and of their arguments (O1). */
import assert from 'node:assert/strict';
import type { ArgumentOverride } from '../../../src/core/config/model.js';
import type { OverrideFault } from '../../../src/core/tools/override.js';
import { changed, type Schema } from './overriding.js';

const fixed = (value: unknown): ArgumentOverride => ({ fixed: { value } });
const text = { type: 'string' };
const kinds = (faults: readonly OverrideFault[]): string[] =>
  faults.map(({ kind, argument }) => `${kind} ${argument}`);

describe('overrides of tools (O1)', () => {
  it('a description replaces the one of the server, and the text of the server is kept beside it', () => {
    const { tool, applied, faults } = changed({}, {}, 'Short.');
    assert.deepEqual(
      [tool.description, applied.offered.description, faults],
      ['Short.', 'Long.', []],
    );
  });

  it('a fixed argument leaves the schema and is in every call, whatever the agent sends (O2)', () => {
    const { schema, send, faults } = changed(
      { properties: { repo: text, title: text }, required: ['repo', 'title'] },
      { repo: fixed('acme/app') },
    );
    assert.deepEqual(schema, { type: 'object', properties: { title: text }, required: ['title'] });
    assert.deepEqual(faults, []);
    for (const args of [undefined, {}, { repo: 'other/app' }]) {
      assert.deepEqual(send(args), { kind: 'completed', arguments: { repo: 'acme/app' } });
    }
  });

  it('a fixed value may be any JSON value, and the argument may have the name of an inherited property', () => {
    const given = JSON.parse('{ "__proto__": { "type": "object" } }') as Schema;
    const { schema, send } = changed(
      { properties: given },
      { ['__proto__']: fixed({ a: [null, 1.5, true] }) },
    );
    assert.deepEqual(Object.keys(schema['properties'] as object), []);
    const sent = send({});
    assert.ok(sent.kind === 'completed');
    assert.equal(JSON.stringify(sent.arguments), '{"__proto__":{"a":[null,1.5,true]}}');
  });

  it('every override leaves the arguments and the keys of the schema in the order of the server (N6)', () => {
    const { tool } = changed(
      {
        required: ['path', 'mode', 'content'],
        properties: {
          path: { type: 'string', description: 'Where.' },
          mode: text,
          content: text,
          after: text,
        },
        additionalProperties: false,
      },
      { mode: fixed('w'), path: { allow: ['/a/*'] }, content: { default: { value: '' } } },
      'Short.',
    );
    assert.equal(
      JSON.stringify(tool),
      JSON.stringify({
        name: 'create_issue',
        description: 'Short.',
        inputSchema: {
          type: 'object',
          required: ['path'],
          properties: {
            path: { type: 'string', description: 'Where. Allowed: "/a/*".' },
            content: { type: 'string', default: '' },
            after: text,
          },
          additionalProperties: false,
        },
      }),
    );
  });

  it('a default is in the schema, is not required, and fills a gap only (O2)', () => {
    const { schema, send } = changed(
      { properties: { limit: { type: 'integer' } }, required: ['limit'] },
      { limit: { default: { value: 20 } } },
    );
    assert.deepEqual(schema, {
      type: 'object',
      properties: { limit: { type: 'integer', default: 20 } },
    });
    assert.deepEqual(send({}), { kind: 'completed', arguments: { limit: 20 } });
    assert.deepEqual(send({ limit: 5 }), { kind: 'completed', arguments: { limit: 5 } });
    assert.deepEqual(send({ limit: null }), { kind: 'completed', arguments: { limit: null } });
  });

  for (const [what, property, allow, shown] of [
    ['a text with names alone', text, ['a', 'b'], { ...text, enum: ['a', 'b'] }],
    [
      'a text with a wildcard',
      text,
      ['a', 'b-*'],
      { ...text, description: 'Allowed: "a", "b-*".' },
    ],
    [
      'a described text',
      { ...text, description: 'Which.' },
      ['b-*'],
      { ...text, description: 'Which. Allowed: "b-*".' },
    ],
    ['values of the server', { enum: ['a', 'b-1', 'c', 4] }, ['a', 'b-*'], { enum: ['a', 'b-1'] }],
    [
      'a list of texts',
      { type: 'array', items: text },
      ['a'],
      { type: 'array', items: { ...text, enum: ['a'] }, minItems: 1 },
    ],
    [
      'a text or nothing',
      { type: ['string', 'null'] },
      ['a'],
      { type: ['string', 'null'], description: 'Allowed: "a".' },
    ],
    ['anything', true, ['a'], { description: 'Allowed: "a".' }],
  ] as const) {
    it(`agents see what is allowed: ${what}`, () => {
      const { schema, faults } = changed({ properties: { x: property } }, { x: { allow } });
      assert.deepEqual([schema['properties'], faults], [{ x: shown }, []]);
    });
  }

  for (const [value, isAllowed] of [
    ['bug', true],
    ['area-ui', true],
    ['area', false],
    [['bug', 'area-ui'], true],
    [[], false],
    [['bug', 'x'], false],
    [['bug', 1], false],
    [[['bug']], false],
    [4, false],
    [null, false],
    [{ 0: 'bug' }, false],
    ['x'.repeat(3_000_000), false],
  ] as const) {
    it(`a call with ${JSON.stringify(value).slice(0, 30)} ${isAllowed ? 'leaves' : 'is refused'}`, () => {
      const { send } = changed(
        { properties: { labels: {} } },
        { labels: { allow: ['bug', 'area-*'] } },
      );
      const outcome = send({ labels: value });
      assert.equal(outcome.kind, isAllowed ? 'completed' : 'refused');
      if (outcome.kind === 'refused') {
        assert.match(
          outcome.message,
          /^The argument "labels" may not (?:be|contain) .{1,101}\. Allowed: "bug", "area-\*"\.$/,
        );
      }
    });
  }

  describe('an unknown argument gets no value of the file (O4)', () => {
    const open = { properties: { deep: { type: 'object', properties: { x: {} } }, a: text } };
    const closed = { ...open, additionalProperties: false };
    for (const [name, schema] of Object.entries({ open, closed, empty: {} })) {
      it(`a fixed value of an unknown argument is not sent, also if an agent gives one: ${name} schema`, () => {
        const made = changed(schema, { 'deep.x': fixed(1) });
        assert.deepEqual(made.schema, { type: 'object', ...schema });
        assert.deepEqual(made.send({ a: 'b' }), { kind: 'completed', arguments: { a: 'b' } });
        assert.deepEqual(made.send(undefined), { kind: 'completed', arguments: {} });
        const own = { 'deep.x': 2, 'DEEP.X': 3, a: 'b' };
        assert.deepEqual(made.send(own), { kind: 'completed', arguments: { a: 'b' } });
        assert.match(made.faults[0]?.detail ?? '', /^is not in its schema, so it is not sent$/);
      });

      it(`a default of an unknown argument is not sent: ${name} schema`, () => {
        const made = changed(schema, { b: { default: { value: 1 } } });
        assert.deepEqual(made.schema, { type: 'object', ...schema });
        assert.deepEqual(made.send({}), { kind: 'completed', arguments: {} });
        assert.deepEqual(made.send({ b: 2 }), { kind: 'completed', arguments: { b: 2 } });
      });
    }

    it('the other overrides of the tool still apply', () => {
      const made = changed(open, { b: fixed(1), a: fixed('x') });
      assert.deepEqual(made.send({}), { kind: 'completed', arguments: { a: 'x' } });
    });

    it('`allow` still holds for an unknown argument', () => {
      const made = changed(open, { b: { allow: ['x'], default: { value: 'x' } } });
      assert.deepEqual(made.send({}), { kind: 'completed', arguments: {} });
      assert.equal(made.send({ b: 'y' }).kind, 'refused');
    });

    it('an argument that the schema only requires is sent', () => {
      for (const given of [fixed(1), { default: { value: 1 } }]) {
        for (const schema of [{ required: ['b'] }, { allOf: [{ required: ['b'] }] }]) {
          const made = changed(schema, { b: given });
          assert.deepEqual(made.faults, []);
          assert.ok(!JSON.stringify(made.schema).includes('required'));
          assert.deepEqual(made.send({}), { kind: 'completed', arguments: { b: 1 } });
        }
      }
    });

    it('an argument that only one alternative has is sent', () => {
      const schema = { oneOf: [{ properties: { a: text } }, { properties: { b: text } }] };
      const made = changed(schema, { b: fixed('x') });
      assert.deepEqual(made.send({}), { kind: 'completed', arguments: { b: 'x' } });
    });
  });

  for (const [what, schema, given, faults] of [
    [
      'an argument that the schema does not have',
      { properties: { a: text } },
      { b: fixed(1) },
      ['unknown b'],
    ],
    ['the same with a default', {}, { b: { default: { value: 1 } } }, ['unknown b']],
    ['the same with `allow`', {}, { b: { allow: ['x'] } }, ['unknown b']],
    [
      'a fixed value that the schema refuses',
      { properties: { a: text } },
      { a: fixed(1) },
      ['refused a'],
    ],
    [
      'a default that the schema refuses',
      { properties: { a: text } },
      { a: { default: { value: 1 } } },
      ['refused a'],
    ],
    [
      'a default that `allow` refuses',
      { properties: { a: text } },
      { a: { default: { value: 'x' }, allow: ['y'] } },
      ['refused a'],
    ],
    [
      'a pattern that allows nothing',
      { properties: { a: { enum: ['x'] } } },
      { a: { allow: ['x', 'y'] } },
      ['refused a'],
    ],
    [
      '`allow` for a number',
      { properties: { a: { type: 'number' } } },
      { a: { allow: ['1'] } },
      ['refused a'],
    ],
    [
      'a closed schema',
      { properties: {}, additionalProperties: false },
      { a: fixed(1) },
      ['unknown a', 'refused a'],
    ],
    [
      'a condition on the argument',
      { if: { properties: { a: text } } },
      { a: fixed('x') },
      ['unusable a'],
    ],
    [
      'a reference at the top',
      { $ref: '#/$defs/t', $defs: { t: { properties: { a: text } } } },
      { a: fixed('x') },
      ['unusable a'],
    ],
    [
      'a reference to the argument',
      { properties: { a: text, b: { $ref: '#/properties/a' } } },
      { a: fixed('x') },
      ['unusable a'],
    ],
    [
      'a default below `oneOf`',
      { oneOf: [{ properties: { a: text } }] },
      { a: { default: { value: 'x' } } },
      ['unusable a'],
    ],
    [
      'no branch for the value',
      { anyOf: [{ properties: { a: { const: 'y' } } }] },
      { a: fixed('x') },
      ['refused a'],
    ],
    [
      'a definition beside it',
      { properties: { a: { $ref: '#/$defs/t' } }, $defs: { t: text } },
      { a: fixed('x') },
      [],
    ],
    [
      'a definition that refuses it',
      { properties: { a: { $ref: '#/$defs/t' } }, $defs: { t: text } },
      { a: fixed(1) },
      ['refused a'],
    ],
    [
      'a reference to nothing',
      { properties: { a: { $ref: '#/$defs/none' } } },
      { a: fixed(1) },
      [],
    ],
    [
      'a pattern of the server, which is not run',
      { properties: { a: { pattern: '^(a+)+$' } } },
      { a: fixed(`${'a'.repeat(40)}!`) },
      [],
    ],
    ...(
      [
        ['no text', { type: 'string', not: { pattern: '^-' } }, 'main'],
        ['one of two texts', { oneOf: [{ pattern: '^#' }, { pattern: '^[a-z]' }] }, 'red'],
        ['a condition', { type: 'string', if: { pattern: '^/' }, then: { minLength: 50 } }, 'abc'],
        [
          'names',
          { patternProperties: { '^[A-Z]+$': text }, additionalProperties: false },
          { LANG: 'C' },
        ],
        ['a definition', { not: { $ref: '#/$defs/dash' } }, 'main'],
      ] as const
    ).map(([what, property, value]) => [
      `a pattern of the server for ${what}, which is not run`,
      { properties: { a: property }, $defs: { dash: { pattern: '^-' } } },
      { a: fixed(value) },
      [],
    ]),
    [
      'a property with the name of a keyword',
      {
        properties: {
          a: { properties: { $schema: text, pattern: text }, additionalProperties: false },
        },
      },
      { a: fixed({ $schema: 'x', pattern: 'y' }) },
      [],
    ],
    [
      'data with the name of a keyword',
      { properties: { a: { const: { pattern: 'x' } } } },
      { a: fixed({ pattern: 'x' }) },
      [],
    ],
    [
      'names that the schema forbids',
      { properties: { a: {} }, propertyNames: { enum: ['b'] } },
      { a: fixed(1) },
      ['refused a'],
    ],
    [
      'an argument that only a branch evaluates',
      {
        anyOf: [{ properties: { a: {} } }, { properties: { b: {} } }],
        unevaluatedProperties: false,
      },
      { a: fixed(1) },
      ['unusable a'],
    ],
    [
      'a reference to a schema by its address',
      { allOf: [{ $ref: 'common' }], $defs: { c: { $id: 'common', properties: { a: text } } } },
      { a: fixed('x') },
      ['unusable a'],
    ],
    [
      'a reference to the whole schema by its address',
      { $id: 'https://example.com/s', properties: { a: text, b: { $ref: 's#' } } },
      { a: fixed('x') },
      ['unusable a'],
    ],
    [
      'a dynamic reference',
      { $dynamicAnchor: 'node', properties: { a: text, b: { items: { $dynamicRef: '#node' } } } },
      { a: fixed('x') },
      ['unusable a'],
    ],
    [
      'a condition on another argument, with texts and keywords like the argument',
      {
        properties: { type: text, kind: text },
        if: { properties: { kind: { type: 'string', const: 'type' } }, required: ['kind'] },
        then: {
          required: ['file'],
          properties: { file: { type: 'object', additionalProperties: false } },
        },
      },
      { type: fixed('note') },
      [],
    ],
    [
      'a definition with a keyword like the argument',
      {
        properties: { title: text },
        allOf: [{ $ref: '#/$defs/base' }],
        $defs: { base: { title: 'Base', type: 'object' } },
      },
      { title: { default: { value: 'x' } } },
      [],
    ],
    [
      'a pattern that no value of a definition has',
      {
        properties: { a: { anyOf: [{ $ref: '#/$defs/colour' }, { type: 'null' }] } },
        $defs: { colour: { enum: ['red'] } },
      },
      { a: { allow: ['red', 'purple', 'p*'] } },
      ['refused a', 'refused a'],
    ],
    [
      'a pattern that is too long',
      { properties: { a: { type: 'string', maxLength: 3 } } },
      { a: { allow: ['long'] } },
      ['refused a'],
    ],
    [
      'a pattern for a list of lists',
      { properties: { a: { type: 'array', items: { type: 'array' } } } },
      { a: { allow: ['x'] } },
      ['refused a'],
    ],
    [
      'a pattern for a list of any texts',
      { properties: { a: { type: 'array', items: text }, b: { type: 'array' } } },
      { a: { allow: ['bug', 'area-*'] }, b: { allow: ['area-*'] } },
      [],
    ],
    [
      'a pattern that no item of a list has',
      { properties: { a: { type: 'array', items: { enum: ['bug'] } } } },
      { a: { allow: ['bug', 'area-*'] } },
      ['refused a'],
    ],
  ] as [string, Schema, Record<string, ArgumentOverride>, string[]][]) {
    it(`${faults.length > 0 ? 'is a problem' : 'is no problem'}: ${what}`, () => {
      assert.deepEqual(kinds(changed(schema, given).faults), faults);
    });
  }

  it('a branch with a pattern of the server stays beside the others', () => {
    const other = { required: ['x'] };
    const { schema } = changed(
      {
        properties: { x: {} },
        oneOf: [{ properties: { a: { ...text, not: { pattern: '^-' } } } }, other],
      },
      { a: fixed('main') },
    );
    assert.deepEqual(schema['oneOf'], [{ properties: {} }, other]);
  });

  for (const path of [
    '/data/..',
    '/data/../etc/passwd',
    '/data/a/../../etc',
    '/data/%2e%2e/etc',
    '/data/.%2E/etc',
    '/data/%252e%252e/etc',
    '/data/%25252525252525252e%2e/etc',
    '/data/%c0%ae%c0%ae/etc',
    '/data/%2%65%2%65/etc',
    '/data/..%2fetc',
    '/data/..%5cetc',
    '/data/..\\..\\etc',
    '/data/a\\..',
    '/data/..;/etc',
    '/data/..;x=y/etc',
    '/data/..?x',
    '/data/.. /etc',
    '/data/..\0',
    '/data/.\0./etc',
    '/data/.\u200b./etc',
    '/data/\uff0e\uff0e/etc',
    '/data/\u2025/etc',
    '/data/..\u2215etc',
    '/data/..::$INDEX_ALLOCATION/x',
    '/data/a ../../etc',
    '/data/a\n../etc',
  ]) {
    it(`the step \`..\` does not lead out of an allowed folder: ${JSON.stringify(path)} (O3)`, () => {
      const { send } = changed(
        { properties: { path: text } },
        { path: { allow: ['/data/*', 'file:///data/*'] } },
      );
      for (const value of [path, [path], ['/data/a', path], `file://${path}`]) {
        assert.equal(send({ path: value }).kind, 'refused', JSON.stringify(value));
      }
    });
  }

  for (const [allow, path] of [
    ['/data/*', '/data/a/b.txt'],
    ['/data/*', '/data/..a/b../c..d/...'],
    ['/data/*', '/data/50%25 of %zz'],
    ['./*', './...'],
    ['origin/*', 'origin/main..topic'],
    ['../shared/*', '../shared/a'],
    ['/data/*/../*', '/data/a/../b'],
    ['*..*', 'a/../b'],
    ['data*', 'data: see ../x'],
    ['C:\\data\\*', 'C:\\data\\a'],
    ['/data/../x', '/data/../x'],
  ] as const) {
    it(`the pattern ${JSON.stringify(allow)} allows ${JSON.stringify(path)} (O3)`, () => {
      const { send } = changed({ properties: { path: text } }, { path: { allow: [allow] } });
      assert.deepEqual(send({ path }), { kind: 'completed', arguments: { path } });
    });
  }

  for (const [allow, path] of [
    ['../shared/*', '../shared/../../etc'],
    ['/data/..*', '/data/../etc'],
    ['/data/*../x', '/data/../x'],
    ['/data/*./x', '/data/../x'],
    ['C:\\data\\*', 'C:\\data\\..\\x'],
    ['%2fdata%2f*', '%2fdata%2f..%2fetc'],
    ['\uff0fdata\uff0f*', '\uff0fdata\uff0f..\uff0fetc'],
  ] as const) {
    it(`the pattern ${JSON.stringify(allow)} refuses ${JSON.stringify(path)} (O3)`, () => {
      const { send } = changed({ properties: { path: text } }, { path: { allow: [allow] } });
      assert.equal(send({ path }).kind, 'refused');
    });
  }

  it('agents see no value of the server with a step `..`, and no such default (O3a)', () => {
    const property = { ...text, enum: ['/data/a', '/data/../b'], default: '/data/../b' };
    const { schema } = changed(
      { properties: { path: property } },
      { path: { allow: ['/data/*'] } },
    );
    assert.deepEqual(schema['properties'], { path: { ...text, enum: ['/data/a'] } });
  });

  it('an argument with `allow` and without a default is required, so no default of the server slips through (O3)', () => {
    const given = {
      properties: { path: { ...text, default: '/data/own' }, more: text },
      required: ['more'],
    };
    const { schema, send } = changed(given, { path: { allow: ['/data/*'] } });
    assert.deepEqual(schema['required'], ['more', 'path']);
    const message = 'The argument "path" may not be left out. Allowed: "/data/*".';
    for (const args of [undefined, {}, { more: 'x' }])
      assert.deepEqual(send(args), { kind: 'refused', message });
    const completing = changed(given, {
      path: { allow: ['/data/*'], default: { value: '/data/x' } },
    });
    assert.deepEqual(completing.schema['required'], ['more']);
    assert.deepEqual(completing.send({}), { kind: 'completed', arguments: { path: '/data/x' } });
    // Nobody can send an argument that the server does not have.
    assert.equal(changed({}, { path: { allow: ['/data/*'] } }).send({}).kind, 'completed');
  });

  it('an empty list is allowed only as the default of the file, because a server may take its own for it (O3)', () => {
    const given = { properties: { labels: { type: 'array', items: text } } };
    const required = changed(given, { labels: { allow: ['bug'] } });
    assert.equal(required.send({ labels: [] }).kind, 'refused');
    const { schema, send, faults } = changed(given, {
      labels: { allow: ['bug'], default: { value: [] } },
    });
    assert.deepEqual(faults, []);
    assert.deepEqual(schema['properties'], {
      labels: { type: 'array', items: { ...text, enum: ['bug'] }, default: [] },
    });
    for (const args of [{}, { labels: [] }])
      assert.deepEqual(send(args), { kind: 'completed', arguments: { labels: [] } });
  });

  it('another spelling of an argument does not reach the server beside it (O3b)', () => {
    const given = { properties: { path: text, Repo: text, repo: text } };
    const { send } = changed(given, { path: { allow: ['/data/*'] }, repo: fixed('acme') });
    const others = { PATH: '/etc', Path: '/etc', '\uff50ath': '/etc', Repo: 'own', REPO: 'x' };
    assert.deepEqual(send({ ...others, path: '/data/a', paths: 'x' }), {
      kind: 'completed',
      arguments: { path: '/data/a', paths: 'x', Repo: 'own', repo: 'acme' },
    });
    assert.equal(send({ PATH: '/data/a' }).kind, 'refused');
  });

  it('a schema that is too long with its references makes the override unusable (S2h)', () => {
    const wide = { anyOf: Array.from({ length: 12_000 }, () => ({ type: 'number' })) };
    const levels = Array.from({ length: 40 }, (_, at) => {
      const next = { $ref: `#/$defs/a${at + 1}` };
      return [`a${at}`, { allOf: [next, next] }];
    });
    const $defs = { ...(Object.fromEntries(levels) as Schema), a40: text };
    for (const schema of [
      { properties: { a: wide } },
      { properties: { a: { $ref: '#/$defs/a0' } }, $defs },
    ]) {
      for (const override of [fixed('x'), { default: { value: 'x' } }, { allow: ['x'] }]) {
        const { faults } = changed(schema, { a: override });
        assert.deepEqual(kinds(faults), ['unusable a']);
        assert.match(faults[0]?.detail ?? '', /too long/);
      }
    }
    assert.deepEqual(
      changed({ properties: { a: wide } }, {}, 'Short.').faults,
      [],
      'a description needs no judgement',
    );
  });

  it('a default of the server that `allow` refuses is not shown', () => {
    const property = { ...text, enum: ['fast', 'slow'] };
    const shown = (byDefault: unknown): unknown =>
      changed(
        { properties: { a: { ...property, default: byDefault } } },
        { a: { allow: ['fast'] } },
      ).schema['properties'];
    assert.deepEqual(shown('slow'), { a: { ...text, enum: ['fast'] } });
    assert.deepEqual(shown(null), { a: { ...text, enum: ['fast'] } });
    assert.deepEqual(shown('fast'), { a: { ...text, enum: ['fast'], default: 'fast' } });
  });

  it('a default of the file that `allow` refuses is not shown, and the argument stays required', () => {
    const { schema, faults } = changed(
      { properties: { a: { ...text, default: 'q' } }, required: ['a'] },
      { a: { default: { value: 'zz' }, allow: ['q'] } },
    );
    assert.deepEqual(
      [schema['properties'], schema['required']],
      [{ a: { ...text, enum: ['q'] } }, ['a']],
    );
    assert.deepEqual(kinds(faults), ['refused a']);
  });

  it('a refused list is told by the item that is refused', () => {
    const { send } = changed({ properties: { labels: {} } }, { labels: { allow: ['label-*'] } });
    const labels = [...Array.from({ length: 20 }, (_, index) => `label-${index}`), 'evil'];
    assert.deepEqual(send({ labels }), {
      kind: 'refused',
      message: 'The argument "labels" may not contain "evil". Allowed: "label-*".',
    });
  });

  it('a fixed argument below `allOf`, `anyOf` and `oneOf` is resolved there (O6)', () => {
    const branch = (kind: string, more: string): Schema => ({
      properties: { kind: { const: kind }, [more]: text },
      required: ['kind', more],
    });
    const { schema, faults } = changed(
      {
        properties: { kind: text },
        required: ['kind'],
        oneOf: [branch('file', 'path'), branch('url', 'address')],
      },
      { kind: fixed('url') },
    );
    assert.deepEqual([schema['properties'], schema['required'], faults], [{}, undefined, []]);
    assert.deepEqual(schema['oneOf'], [{ properties: { address: text }, required: ['address'] }]);
  });
});
