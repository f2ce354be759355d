import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { format } from 'oxfmt';
import type { ProblemCode } from '../../../src/core/base/problemCatalogue.js';
import { configSchema, layerSchema } from '../../support/configSchema.js';
import { readYaml } from '../../../src/core/yaml/yamlTree.js';
import manifest from '../../../package.json';
import { assertGolden } from '../../support/golden.js';
import { parse, wholeFormat } from './fixtures.js';
import { plain } from '../yaml/plain.js';

const root = path.join(import.meta.dirname, '../../..');
const shipped = path.join(root, 'media/mcp.schema.json');
const golden = path.join(root, 'test/golden/config');
const validate = new Ajv({ strict: false, allowUnionTypes: true }).compile(configSchema());

/** Errors outside the reach of a schema, or with another form there. */
const beyond: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'duplicate-key',
  'duplicate-server',
  'env-name-invalid',
  'header-invalid',
  'env-unset',
  'cwd-missing',
  'url-invalid',
  'duration-invalid',
  'server-id-invalid',
  'wrong-type',
]);

describe('the JSON schema (E2)', () => {
  it('the shipped schema is up to date; UPDATE_GOLDEN=1 writes it', async () => {
    const local = path.join(root, 'media/mcp.local.schema.json');
    for (const [file, schema] of [
      [shipped, configSchema()],
      [local, layerSchema()],
    ] as const) {
      const { code } = await format(file, JSON.stringify(schema), { printWidth: 100 });
      assertGolden(file, code);
    }
    assert.deepEqual(manifest.contributes.yamlValidation, [
      { fileMatch: '.minds/mcp.yaml', url: './media/mcp.schema.json' },
      { fileMatch: '.minds/mcp.local.yaml', url: './media/mcp.local.schema.json' },
    ]);
  });

  it('the schema of a layer accepts parts, null and a server of one’s own, and refuses wrong types', () => {
    const check = new Ajv({ strict: false, allowUnionTypes: true }).compile(layerSchema());
    const isValid = (body: string): boolean => check(plain(`version: 1\nservers:\n  a: ${body}\n`));
    const right = [
      '{ enabled: false }', '', '{ envFile: null, env: null }', '{ env: { LOG_LEVEL: debug, A: null } }',
      '{ timeouts: { call: 5m, idle: null } }', "{ tools: { blacklist: ['write_*'], override: { x: null } } }",
      '{ args: [x] }', '{ transport: stdio, command: node, args: [scratch.mjs] }', '{ env: { A: { secret: b } } }',
    ]; // oxfmt-ignore
    const wrong = [
      '{ enabled: 1 }', '{ timeouts: { call: soon } }', '{ colour: red }', '{ transform: [{}] }',
      '{ tools: { blacklist: x } }', '{ env: { A: [] } }', '[]',
    ]; // oxfmt-ignore
    assert.deepEqual(
      right.filter((body) => !isValid(body)),
      [],
    );
    assert.deepEqual(wrong.filter(isValid), []);
    assert.ok(check(plain(wholeFormat)), JSON.stringify(check.errors));
  });

  for (const file of readdirSync(golden).filter((name) => name.endsWith('.yaml'))) {
    const text = readFileSync(path.join(golden, file), 'utf8').replace(/^\uFEFF/, '');
    if (readYaml(text).errors.length > 0) continue;
    const { problems, kind } = parse(text);
    const errors = problems.filter(({ severity }) => severity !== 'information');
    if (errors.length === 0) {
      it(`the schema accepts ${file}`, () => {
        const value = plain(text);
        assert.ok(validate(value) || value === null, JSON.stringify(validate.errors, null, 1));
      });
    } else if (
      errors.some(({ code, severity }) => severity === 'error' && !beyond.has(code)) ||
      kind === 'refused'
    ) {
      if (errors.every(({ code }) => beyond.has(code))) continue;
      it(`the schema refuses ${file}`, () => assert.equal(validate(plain(text)), false));
    }
  }

  const server = (body: string): string =>
    `version: 1\nservers: { a: { transport: stdio, command: x, ${body} } }`;
  const wrong = [
    'enabled: 1', "enabled: 'true'", 'truely-stateless: []', 'args: x', 'args: [[]]', 'args: [null]', 'args: { a: b }', 'cwd: 1',
    'env: x', 'env: [a]', 'env: { A: [] }', 'env: { A: { env: 1 } }', 'env: { A: {} }', 'tools: []', 'tools: { whitelist: x }',
    'transform: {}', 'transform: [x]', 'transform: [{}]', 'transform: [{ prefix: a, suffix: b }]', 'transform: [{ prefix: { add: x } }]',
    'transform: [{ suffix: [] }]', 'timeouts: 5', 'timeouts: { call: true }', 'timeouts: { call: soon }', 'timeouts: { call: 0 }',
    'prompts: { transform: x }', 'resources: { blacklist: 1 }', 'command: []', "command: ''", 'transport: sse', 'colour: red',
  ]; // oxfmt-ignore
  for (const body of wrong) {
    it(`the schema refuses ${body}, as the validator does`, () => {
      const text = server(
        body.startsWith('command') || body.startsWith('transport') ? 'x: 1' : body,
      );
      const [key = ''] = body.split(':');
      const replaced =
        body.startsWith('command') || body.startsWith('transport')
          ? text.replace(', x: 1', '').replace(new RegExp(`${key}: \\w+`), body)
          : text;
      assert.ok(parse(replaced).problems.length > 0);
      assert.equal(validate(plain(replaced)), false);
    });
  }

  it('the schema accepts every key of the format', () => {
    assert.ok(validate(plain(wholeFormat)), JSON.stringify(validate.errors));
  });
});
