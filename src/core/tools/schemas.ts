/**
 * Finds schemas unusable for every client, and schemas refused only by the editor (N7). GitHub
 * Copilot rejects the whole request with an `array` of undescribed content. The SDK's client
 * compiles every output schema with Ajv (N7c).
 */
import { english } from '../base/language.js';
import {
  asFields,
  asList,
  isObject,
  isTexts,
  mapped,
  without,
  type Fields,
} from '../base/isObject.js';
import { perObject } from '../base/perObject.js';
import { unlessThrown } from '../base/unlessThrown.js';
import { inBrief } from '../protocol/inBrief.js';
import { mirroredParams, withoutMirroring } from '../protocol/mirroredParams.js';
import { schemaKeywords, schemaLists } from '../protocol/shapes.js';
import type { OfferedTool } from './catalogue.js';
import { isUnionOfObjects, type Place } from './modelForm.js';
import { targetOf, type Schema } from './schemaJudge.js';

const jsonTypes = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);
const arrayKeywords = ['items', 'prefixItems', 'contains', '$ref', '$dynamicRef'];
const schemaListKeywords = [...schemaLists, 'items'];
const schemaMapKeywords = [
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
];
/** A deeper schema is taken as it is, because the walk must end. */
const deepest = 64;

/**
 * `readable` is for strict clients. Each edit, and each list of a server, curates the same tools
 * again.
 */
export const lookedAt = perObject((tool: OfferedTool) => {
  const { outputSchema } = tool;
  const { schema, drafts } = withCurrentKeywords(tool.inputSchema);
  const inputSchema = isUnionOfObjects(schema) ? { type: 'object', ...schema } : schema;
  const unusable = unusableTopLevel(inputSchema, 'inputSchema');
  if (unusable !== undefined) {
    return { unusable, drafts, readable: tool };
  }
  const isWrong = typeof mirroredParams(inputSchema) === 'string';
  const mirrored = isWrong ? (withoutMirroring(inputSchema) as typeof inputSchema) : inputSchema;
  const input = withoutBooleanProperties(mirrored) as typeof tool.inputSchema;
  // The editor gets no output schemas.
  const refused = refusedPart(inputSchema, 'inputSchema', 0);
  const given = input === tool.inputSchema ? tool : { ...tool, inputSchema: input };
  if (outputSchema === undefined) {
    return { refused, drafts, readable: given };
  }
  const output = { ...outputSchema };
  if ('$id' in output) delete output['$id'];
  const outputLeftOut = unusableTopLevel(outputSchema, 'outputSchema') ?? notToBeCompiled(output);
  if (outputLeftOut !== undefined) {
    return {
      refused,
      drafts,
      outputLeftOut,
      readable: withoutOutput(given),
    };
  }
  const outputForAll = withoutBooleanProperties(output);
  return { refused, drafts, readable: { ...given, outputSchema: outputForAll } };
});

function withoutOutput({ outputSchema: _, ...rest }: OfferedTool): OfferedTool {
  return rest;
}

function withoutBooleanProperties<Schema extends { readonly properties?: object | undefined }>(
  schema: Schema,
): Schema {
  const properties = schema.properties ?? {};
  if (!Object.values(properties).some(isFlag)) return schema;
  return { ...schema, properties: mapped(properties as Fields, withoutBoolean) };
}

function withoutBoolean(schema: unknown): unknown {
  if (schema === true) return {};
  return schema === false ? { not: {} } : schema;
}

function unusableTopLevel(schema: unknown, where: string): string | undefined {
  if (!isObject(schema)) {
    return english`${where} is ${describe(schema)}, not an object`;
  }
  const { type, properties = {}, required = [] } = schema;
  if (type !== 'object') {
    return english`${where}.type is ${describe(type)}, not "object"`;
  }
  if (!isObject(properties)) {
    return english`${where}.properties is ${describe(properties)}, not an object`;
  }
  const [name, wrong] = Object.entries(properties).find(([, value]) => !isSchema(value)) ?? [];
  if (name !== undefined) {
    return english`${where}.properties.${name} is ${describe(wrong)}, not a schema`;
  }
  return isTexts(required) ? undefined : english`${where}.required is not a list of names`;
}

function refusedPart(
  schema: unknown,
  where: string,
  depth: number,
  mayBeBare = false,
): string | undefined {
  if (!isObject(schema) || depth > deepest) return undefined;
  const { type = [] } = schema;
  const wrong = [type].flat().find((name) => !isType(name));
  if (wrong !== undefined) {
    return english`${where}.type is ${describe(wrong)}, not a JSON type`;
  }
  if (type === 'array' && !mayBeBare && arrayKeywords.every((key) => schema[key] === undefined)) {
    return english`${where} is an array without "items"`;
  }
  for (const [place, part] of partsBelow(schema)) {
    const reason = refusedPart(
      part,
      `${where}.${place}`,
      depth + 1,
      place === 'additionalProperties',
    );
    if (reason !== undefined) return reason;
  }
  return undefined;
}

type Part = readonly [place: string, part: unknown];

function partsBelow(
  schema: Fields,
  keywords = schemaKeywords,
  mapKeywords = schemaMapKeywords,
): Part[] {
  return Object.entries(schema).flatMap(([key, value]): Part[] => {
    if (typeof value !== 'object') return [];
    if (schemaListKeywords.includes(key) && Array.isArray(value)) {
      return value.map((part: unknown, index): Part => [`${key}[${index}]`, part]);
    }
    if (mapKeywords.includes(key) && isObject(value)) {
      return Object.entries(value).map(([name, part]): Part => [`${key}.${name}`, part]);
    }
    return keywords.includes(key) ? [[key, value]] : [];
  });
}

type Test = (value: unknown) => boolean;

const isText: Test = (value) => typeof value === 'string';
const isFlag: Test = (value) => typeof value === 'boolean';
const isSchema: Test = (value) => isObject(value) || isFlag(value);
const isType: Test = (value) => typeof value === 'string' && jsonTypes.has(value);
const isCount: Test = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isFilled: Test = (value) => Array.isArray(value) && value.length > 0;
const isListOf =
  (test: Test): Test =>
  (value) =>
    Array.isArray(value) && value.every(test);
const isMapOf =
  (test: Test, isName: Test = isText): Test =>
  (value) =>
    isObject(value) && Object.entries(value).every(([name, part]) => isName(name) && test(part));

const isPattern: Test = (value) =>
  typeof value === 'string' && unlessThrown(() => new RegExp(value, 'u')) !== undefined;

/** The editor does not look at these, but they are compiled. */
const compiledKeywords = [
  ...schemaKeywords,
  'additionalItems',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const compiledMapKeywords = [...schemaMapKeywords, 'dependencies'];
/**
 * Ajv does not compile `id`, limits of formats without a known format, and identities that it knows
 * from elsewhere.
 */
const limits = [
  'formatMinimum',
  'formatMaximum',
  'formatExclusiveMinimum',
  'formatExclusiveMaximum',
];
const referenceKeywords = ['$ref', '$dynamicRef', '$recursiveRef'];

const valueRules: readonly (readonly [
  keywords: readonly string[],
  isRight: Test,
  wanted: string,
])[] = [
  [
    ['type'],
    (value) => isType(value) || (isFilled(value) && isListOf(isType)(value)),
    'a JSON type',
  ],
  [['enum'], isFilled, 'a list of values'],
  [
    ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
    Number.isFinite,
    'a number',
  ],
  [['minLength', 'minItems', 'minProperties', 'minContains'], isCount, 'a count'],
  [['maxLength', 'maxItems', 'maxProperties', 'maxContains'], isCount, 'a count'],
  [['uniqueItems', 'nullable'], isFlag, 'true or false'],
  [['format', '$schema'], isText, 'a text'],
  [['required'], isTexts, 'a list of names'],
  [['pattern'], isPattern, 'a pattern of JavaScript'],
  [compiledKeywords, isSchema, 'a schema'],
  [
    schemaListKeywords,
    (value) => isFilled(value) && isListOf(isSchema)(value),
    'a list of schemas',
  ],
  [['items'], (value) => isSchema(value) || isListOf(isSchema)(value), 'a schema'],
  [schemaMapKeywords, isMapOf(isSchema), 'a map of schemas'],
  [
    ['patternProperties'],
    isMapOf(isSchema, isPattern),
    'a map of schemas by patterns of JavaScript',
  ],
  [['dependentRequired'], isMapOf(isTexts), 'a map of names'],
  [
    ['dependencies'],
    isMapOf((value) => isTexts(value) || isSchema(value)),
    'a map of names or schemas',
  ],
  [['id', '$id', '$async', ...limits], () => false, 'known to every client'],
];
const valueTests = new Map(
  valueRules.flatMap(([keywords, isRight, wanted]) =>
    keywords.map((key) => [key, { isRight, wanted }] as const),
  ),
);

/** Other pointers than those from the root may lead somewhere. */
const otherAddresses = /"(?:\$?id|\$anchor|\$dynamicAnchor)":"/;

/** The API of a model takes any value of these. */
const unjudged =
  /^(?:\$?id|\$async|nullable|pattern|patternProperties|enum|additionalItems|format[A-Z].*)$/;
const testsOfModels = new Map([...valueTests].filter(([key]) => !unjudged.test(key)));

/** Rewrites older drafts of JSON Schema with the same meaning, and references to nowhere (N7d). */
function withCurrentKeywords(root: Schema): { schema: Schema; drafts: readonly Place[] } {
  const drafts: Place[] = [];
  const changes = new Map<object, Schema>();
  let mayLead: boolean | undefined;
  const look = (part: unknown, where: string, depth: number): void => {
    if (!isObject(part) || depth > deepest) return;
    let current = currentPart(part);
    const note = (fault: Place['fault'], key: string): void => {
      const text = () => `${where}.${key} is ${describe(part[key])}`;
      drafts.push({ fault, text, isMended: current[key] !== part[key] });
    };
    const { $ref, type, items } = part;
    if ($ref !== undefined && targetOf($ref, root) === undefined) {
      mayLead ??= otherAddresses.test(JSON.stringify(root));
      if (!mayLead) {
        // Only the editor refuses an `array` without a description of its content (N7b).
        current = { ...(type === 'array' && { items: {} }), ...without(current, '$ref') };
        note('reference', '$ref');
      }
    }
    for (const key of Object.keys(part)) {
      if (testsOfModels.get(key)?.isRight(part[key]) === false) {
        note('keyword', key);
      }
    }
    if (Array.isArray(items)) {
      note('keyword', 'items');
    }
    if (current !== part) changes.set(part, current);
    for (const [at, below] of partsBelow(part)) {
      look(below, `${where}.${at}`, depth + 1);
    }
  };
  look(root, 'inputSchema', 0);
  const changed = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      return value.map(changed);
    }
    return isObject(value) ? mapped(changes.get(value) ?? value, changed) : value;
  };
  return { schema: changes.size > 0 ? (changed(root) as Schema) : root, drafts };
}

const bounds = [
  ['minimum', 'exclusiveMinimum'],
  ['maximum', 'exclusiveMaximum'],
] as const;

function currentPart(part: Schema): Schema {
  let current = part;
  for (const [bound, exclusive] of bounds) {
    const { [bound]: limit, [exclusive]: isExclusive } = part;
    if (typeof isExclusive !== 'boolean') continue;
    current = without(current, exclusive);
    if (isExclusive && typeof limit === 'number') {
      current = { ...without(current, bound), [exclusive]: limit };
    }
  }
  const { items, additionalItems = {}, required, properties } = part;
  if (Array.isArray(items)) {
    const rest = without(current, 'items', 'additionalItems');
    current = { ...rest, prefixItems: items, items: additionalItems };
  }
  const named = Object.entries(asFields(properties));
  const names = named.flatMap(([name, one]) => (asFields(one)['required'] === true ? [name] : []));
  if (typeof required !== 'boolean' && names.length === 0) return current;
  const all = new Set([...asList(required), ...names]);
  const rest = without(current, 'required');
  return all.size > 0 ? { ...rest, required: [...all] } : rest;
}

function notToBeCompiled(schema: unknown): string | undefined {
  // Ajv looks for these in unknown keywords too.
  const [, named] = /"(\$(?:id|anchor|dynamicAnchor))":"/.exec(JSON.stringify(schema)) ?? [];
  if (named !== undefined) return english`outputSchema has a part with ${named}`;
  const known = new Set<unknown>();
  const references: (readonly [where: string, part: object, reference: unknown])[] = [];
  const wrongPart = (part: unknown, where: string, depth: number): string | undefined => {
    if (!isObject(part)) return undefined;
    if (depth > deepest) return english`outputSchema is more than ${deepest} levels deep`;
    known.add(part);
    for (const [key, value] of Object.entries(part)) {
      const test = valueTests.get(key);
      if (test?.isRight(value) === false) {
        return `${where}.${key} is ${describe(value)}, not ${test.wanted}`;
      }
      if (referenceKeywords.includes(key)) {
        references.push([`${where}.${key}`, part, value]);
      }
    }
    const { nullable, type } = part;
    if (
      nullable !== undefined &&
      (type === undefined || (!nullable && [type].flat().includes('null')))
    ) {
      return english`${where}.nullable does not fit its type`;
    }
    for (const [place, below] of partsBelow(part, compiledKeywords, compiledMapKeywords)) {
      const reason = wrongPart(below, `${where}.${place}`, depth + 1);
      if (reason !== undefined) return reason;
    }
    return undefined;
  };
  return wrongPart(schema, 'outputSchema', 0) ?? wrongReference();

  function wrongReference(): string | undefined {
    const targets = new Map<unknown, unknown>();
    for (const [where, part, reference] of references) {
      const target = targetOf(reference, schema);
      if (!known.has(target)) {
        return english`${where} is ${describe(reference)}, not a part of the schema`;
      }
      targets.set(part, target);
    }
    const ending = new Set<unknown>();
    for (const [where, part] of references) {
      const trail = new Set<unknown>();
      for (
        let next: unknown = part;
        targets.has(next) && !ending.has(next);
        next = targets.get(next)
      ) {
        if (trail.has(next)) return english`${where} leads back to itself`;
        trail.add(next);
      }
      for (const each of trail) ending.add(each);
    }
    return undefined;
  }
}

function describe(value: unknown): string {
  return value === undefined ? 'missing' : inBrief(value, 40);
}
