/**
 * Schemas of servers that are short to write and long to judge: `allOf`, `anyOf`, `oneOf` and
 * `$ref` in width and depth. Every function that takes a schema gets every one of them (S2h).
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { mostParts, Steps } from '../../src/core/base/steps.js';
import { atOnce } from '../../src/core/base/turns.js';
import { formAnswers } from '../../src/cli/formAnswers.js';
import { reviewedTool } from '../../src/core/approval/offerPrints.js';
import { RequestHeaders } from '../../src/core/connections/eras/requestHeaders.js';
import { keptListing } from '../../src/core/connections/listing.js';
import type { ArgumentOverride } from '../../src/core/config/model.js';
import { clientRequest, entries } from '../../src/core/gateway/dialect.js';
import { projectToolsForProvider } from '../../src/core/tools/projection.js';
import { mirroredParams, withoutMirroring } from '../../src/core/protocol/mirroredParams.js';
import { presentParams, rightStructure, rightTool } from '../../src/core/protocol/shapes.js';
import { modelForm } from '../../src/core/tools/modelForm.js';
import { SchemaJudge } from '../../src/core/tools/schemaJudge.js';
import { inOrder, seenTool } from '../../src/core/tools/seenTool.js';
import type { OfferedTool } from '../../src/core/tools/catalogue.js';
import { boundedSchema } from '../../src/core/tools/localReferences.js';
import { completed, overridden } from '../../src/core/tools/override.js';
import { lookedAt } from '../../src/core/tools/schemas.js';
import { estimatedTokens } from '../../src/core/tools/tokens.js';
import { formOf } from '../../src/webview/schemaForm.js';
import { threadTime } from '../support/core/threadTime.js';
import { linearPass, mostTries } from './longTexts.js';

type Schema = Readonly<Record<string, unknown>>;
type Definitions = Readonly<Record<string, unknown>>;

const source = path.resolve(__dirname, '../../src');

/**
 * The maximum for one function and one tool of up to a mebibyte, in linear passes over a mebibyte
 * (P10).
 */
const mostPasses = 120;
/** An override is applied between two turns of the loop (S2h). 10 passes are some 50 ms. */
const mostOfOverride = 30;

const ref = (name: string): Schema => ({ $ref: `#/$defs/${name}` });
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** `depth` levels, each with `width` references to the next one. */
function tree(
  depth: number,
  width: number,
  level: (next: Schema[]) => unknown,
  leaf: unknown,
): Definitions {
  const levels = times(depth, (at): [string, unknown] => [
    `a${at}`,
    level(times(width, () => ref(`a${at + 1}`))),
  ]);
  return Object.fromEntries([...levels, [`a${depth}`, leaf]]);
}

/** Each below its name: the schema of an argument, and definitions beside it. */
function bombs(): Map<string, { readonly argument: unknown; readonly definitions?: Definitions }> {
  const found = new Map<
    string,
    { readonly argument: unknown; readonly definitions?: Definitions }
  >();
  const levels: Readonly<Record<string, (next: Schema[]) => unknown>> = {
    allOf: (next) => ({ allOf: next }),
    anyOf: (next) => ({ anyOf: next }),
    oneOf: (next) => ({ oneOf: next }),
    not: ([first, ...rest]) => ({ not: first, allOf: rest }),
    if: ([first, second, third = {}]) => ({ if: first, then: second, else: third }),
    items: ([first, ...rest]) => ({ items: first, prefixItems: rest, contains: first }),
    properties: (next) => ({
      properties: Object.fromEntries(next.map((one, at) => [`p${at}`, one])),
    }),
    'properties that every name has': (next) => ({
      additionalProperties: { allOf: next },
      propertyNames: next[0],
    }),
    dependentSchemas: (next) => ({
      dependentSchemas: Object.fromEntries(next.map((one, at) => [`p${at}`, one])),
    }),
  };
  for (const [keyword, level] of Object.entries(levels)) {
    for (const [depth, width] of [
      [26, 2],
      [16, 6],
      [3, 300],
    ] as const) {
      for (const leaf of [{ enum: ['/data/a'] }, { type: 'number' }]) {
        const what = `${keyword}, ${depth} deep and ${width} wide, over ${JSON.stringify(leaf)}`;
        found.set(what, { argument: ref('a0'), definitions: tree(depth, width, level, leaf) });
      }
    }
  }
  const chain = tree(9000, 1, ([next]) => next, { type: 'string' });
  found.set('a chain of references', { argument: ref('a0'), definitions: chain });
  found.set('a circle', {
    argument: ref('a'),
    definitions: { a: { allOf: [ref('b'), ref('b')] }, b: ref('a') },
  });
  found.set('a circle to the whole', {
    argument: { anyOf: [{ $ref: '#' }, { $ref: '#/properties/path' }] },
  });
  const recursive = {
    properties: { next: ref('node'), path: { anyOf: [ref('node'), ref('node'), ref('node')] } },
  };
  found.set('a recursive schema', {
    argument: ref('node'),
    definitions: { node: { ...recursive, items: ref('node') } },
  });
  found.set('a recursive anchor', {
    argument: { $recursiveAnchor: true, anyOf: times(9, () => ({ $recursiveRef: '#' })) },
  });
  found.set('a dynamic anchor', {
    argument: { $dynamicAnchor: 'n', anyOf: times(9, () => ({ $dynamicRef: '#n' })) },
  });
  let addresses: Schema = { type: 'string' };
  for (let depth = 0; depth < 60; depth++)
    addresses = { $id: `https://example.com/${depth}`, x: addresses, id: {} };
  found.set('addresses in addresses', { argument: addresses });
  const wide = times(20_000, (at) => `/data/${at}`);
  for (const [what, argument] of Object.entries({
    'a long enum': { enum: wide },
    'a long enum that nothing is in': {
      allOf: [{ enum: wide }, { not: {} }],
      type: 'string',
      enum: wide,
    },
    'a long list of types': { type: times(100_000, () => 'object') },
    'long required names': { type: 'object', required: wide },
    'long dependencies': {
      dependentRequired: Object.fromEntries(wide.map((name) => [name, [name]])),
    },
    'many properties': {
      type: 'object',
      properties: Object.fromEntries(wide.map((name) => [name, {}])),
    },
    'a wide anyOf': { anyOf: times(20_000, () => ({ type: 'number' })) },
    'a wide oneOf': { oneOf: times(20_000, () => ({ const: 1 })) },
    'unique items': { allOf: times(2000, () => ({ uniqueItems: true })) },
    'a pattern': { pattern: '^(a+)+$' },
    'names by pattern': { patternProperties: { '^(a+)+$': {} }, additionalProperties: false },
    'a format': {
      allOf: [{ format: 'url' }, { format: 'email' }, { format: 'uri' }, { format: 'ipv6' }],
    },
    'many patterns': {
      allOf: times(5000, () => ({ pattern: '(?:(?:a?){99}){99}', format: 'url' })),
    },
    'a long pointer': { $ref: `#/${'a/'.repeat(200_000)}` },
    'long texts': { minLength: 1, description: 'a'.repeat(500_000), title: '..'.repeat(100_000) },
    'a long default': {
      default: times(50_000, () => '/data/../a'),
      type: 'array',
      items: { type: 'string' },
    },
  })) {
    found.set(what, { argument });
  }
  const shared = {
    enum: wide,
    const: { long: wide },
    default: 'a'.repeat(100_000),
    format: 'date-time',
  };
  const places = times(900, (at): [string, Schema] => [`p${at}`, ref('shared')]);
  found.set('a long part in many places', {
    argument: { type: 'object', properties: Object.fromEntries(places) },
    definitions: { shared },
  });
  let nested: unknown = { type: 'string' };
  for (let depth = 0; depth < 60; depth++) nested = { allOf: [nested], properties: { path: {} } };
  found.set('a deep schema', { argument: nested });
  return found;
}

/** The bomb as an argument, beside others, and as the whole schema. */
function toolsOf({
  argument,
  definitions = {},
}: {
  argument: unknown;
  definitions?: Definitions;
}): OfferedTool[] {
  const more = { other: { type: 'string' }, more: { anyOf: [{ $ref: '#/$defs/none' }] } };
  const schemas: Schema[] = [
    {
      type: 'object',
      properties: { path: argument, ...more },
      $defs: definitions,
      required: ['path'],
    },
    {
      type: 'object',
      properties: { path: { type: 'string' } },
      ...(argument as Schema),
      $defs: definitions,
    },
    {
      type: 'object',
      properties: { path: { type: 'string' } },
      allOf: [argument],
      anyOf: [argument],
      $defs: definitions,
    },
  ];
  return schemas.map((schema) => {
    const given = { ...schema, type: 'object' } as OfferedTool['inputSchema'];
    return { name: 'x', inputSchema: given, outputSchema: given as OfferedTool['outputSchema'] };
  });
}

const values: readonly unknown[] = [
  '/data/a',
  `${'a'.repeat(40)}!`,
  `http://${'a'.repeat(60)}_`,
  'a'.repeat(20_000),
  times(3000, (at) => `/data/${at}`),
  { next: { next: { next: { path: { path: { path: { path: ['x'] } } } } } } },
  times(200, () => ({ path: 'a', next: { path: 1 } })),
  1,
];

function overrides(): ArgumentOverride[] {
  return [
    ...values.map((value): ArgumentOverride => ({ fixed: { value } })),
    { default: { value: values.at(-2) } },
    { allow: ['/data/*'] },
    { allow: ['/data/a', '/data/b', '*a*b*c*', '..*'], default: { value: '/data/a' } },
    { allow: times(300, (at) => `/data/*${at}*`) },
  ];
}

const call = { path: '/data/a', other: ['x'] };

/**
 * By what is done. Each file in `src` that names a schema of a server is the key of one, or has a
 * reason.
 */
const takers: Readonly<Record<string, Readonly<Record<string, (tool: OfferedTool) => unknown>>>> = {
  'core/tools/override.ts core/tools/schemaEdits.ts core/tools/curate.ts': Object.fromEntries(
    overrides().map((override, at) => [
      `an override, ${at}: ${JSON.stringify(override).slice(0, 40)}`,
      (tool) =>
        completed(overridden(tool, { arguments: new Map([['path', override]]) }).applied, call),
    ]),
  ),
  'core/tools/schemas.ts': { 'a look at the schemas': lookedAt },
  'core/tools/modelForm.ts': { 'the form for models': modelForm },
  'core/calling/calls.ts': {
    'objects in place of empty lists': ({ outputSchema }) =>
      values.map((value) => atOnce(rightStructure(value, outputSchema))),
  },
  'core/reconcile/outputs.ts': {
    'a judged result': ({ outputSchema = {} }) =>
      values
        .slice(5)
        .map((value) =>
          new SchemaJudge(outputSchema, new Steps(mostParts)).accepts(outputSchema, value),
        ),
  },
  'core/tools/seenTool.ts': { 'the order of keys': (tool) => inOrder(tool, seenTool(tool)[2]) },
  'core/tools/tokens.ts': {
    'the tokens of a tool': (tool) => estimatedTokens({ editorId: 'x', tool: tool as never }),
  },
  'core/tools/localReferences.ts vscode/tryTool/panels.ts': {
    'the schema of a document': ({ inputSchema }) => boundedSchema(inputSchema),
  },
  'core/protocol/mirroredParams.ts core/connections/eras/modern.ts core/gateway/conversations/listings.ts':
    {
      'parameters in headers': ({ inputSchema }) => [
        mirroredParams(inputSchema),
        withoutMirroring(inputSchema),
      ],
    },
  'core/connections/eras/requestHeaders.ts': {
    'the headers of calls': (tool) => new RequestHeaders().learn({ tools: [tool] }),
  },
  'core/connections/listing.ts': {
    'a remembered list': (tool) => keptListing({ tools: [tool], malformed: [] }),
  },
  'core/protocol/shapes.ts': {
    'a tool of a list': rightTool,
    'a form': ({ inputSchema }) =>
      presentParams('elicitation/create', { requestedSchema: inputSchema }),
  },
  'core/gateway/dialect.ts core/catalogue/servedToolsets.ts core/calling/conversationTools.ts': {
    'a tool for an older client': (tool) => entries('2024-11-05', [tool]),
    'a form for an older client': ({ inputSchema }) =>
      clientRequest('2025-06-18', 'elicitation/create', {
        mode: 'form',
        requestedSchema: inputSchema,
      }),
  },
  'core/approval/offerPrints.ts': { 'the review of a tool': (tool) => reviewedTool(tool).text() },
  'core/tools/projection.ts': {
    'a tool for a model': (tool) =>
      projectToolsForProvider('copilot', [{ ...tool, toolset: 'a' } as never]),
  },
  'cli/formAnswers.ts': {
    'answers to a form': ({ inputSchema }) =>
      formAnswers({}, () => {}).ask(
        'elicitation/create',
        { requestedSchema: inputSchema },
        {} as never,
      ),
  },
  'webview/schemaForm.ts webview/messages.ts webview/tryTool.ts': {
    'the form of Try Tool': ({ inputSchema }) => formOf(inputSchema),
  },
};

/** Reasons to leave a file out. */
const notTaken: Readonly<Record<string, string>> = {
  'cli/explainCommand.ts': 'It reads the names of the arguments.',
  'core/catalogue/admin.ts': 'It has our own schemas.',
  'core/tools/problems.ts': 'It names a schema in a text.',
  'core/minds/model.ts': 'It has a type.',
  'core/minds/budget.ts': 'It writes JSON once.',
  'vscode/minds/chatModel.ts': 'It passes the schema on.',
  'vscode/authoring/authoring.ts': 'It reads the names of the arguments.',
  'vscode/commands/fixArgument.ts': 'It reads the names of the arguments.',
  'vscode/views/rows/serverRows.ts': 'It reads the names of the arguments.',
};

describe('schemas that take for ever', function () {
  this.timeout(1_800_000);

  it('every file that takes a schema of a server has a test, or a reason', () => {
    const named = new Set([
      ...Object.keys(takers).flatMap((files) => files.split(' ')),
      ...Object.keys(notTaken),
    ]);
    const all = readdirSync(source, { recursive: true, encoding: 'utf8' }).map((name) =>
      name.replaceAll(path.sep, '/'),
    );
    const taking = all.filter((name) => {
      if (!name.endsWith('.ts')) return false;
      return /inputSchema|outputSchema|requestedSchema|JsonSchema/.test(
        readFileSync(path.join(source, name), 'utf8'),
      );
    });
    assert.deepEqual(
      taking.filter((name) => !named.has(name) && name !== 'core/tools/schemaJudge.ts'),
      [],
    );
    assert.deepEqual(
      [...named].filter((name) => !all.includes(name)),
      [],
    );
  });

  const given = [...bombs()].map(([what, bomb]) => [what, toolsOf(bomb)] as const);
  for (const [what, take] of Object.values(takers).flatMap((functions) =>
    Object.entries(functions),
  )) {
    it(`${what}: bounded for every schema (S2h)`, async () => {
      const passes = what.startsWith('an override') ? mostOfOverride : mostPasses;
      for (const [bomb, tools] of given) {
        for (const tool of tools) {
          // Some results are kept for the tool.
          const timed = (): number => {
            const copy = { ...tool };
            const before = threadTime();
            try {
              void take(copy);
            } catch {
              // It refuses the schema in time.
            }
            return threadTime() - before;
          };
          const bound = passes * (await linearPass());
          let took = timed();
          for (let again = 0; took > bound && again < mostTries; again++)
            took = Math.min(took, timed());
          assert.ok(took <= bound, `${bomb} took ${took.toFixed(0)} ms, of ${bound.toFixed(0)} ms`);
        }
      }
    });
  }
});
