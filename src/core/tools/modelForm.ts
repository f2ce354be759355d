/**
 * Input schemas that the API of a model refuses (N7d). An agent sends all tools with each request,
 * so one such schema costs it every request. Where the meaning stays the same, agents get a form
 * that each API takes.
 */
import { english } from '../base/language.js';
import { asFields, asList, isObject, without, type Fields } from '../base/isObject.js';
import { perObject } from '../base/perObject.js';
import { clipped, shortList } from '../base/text.js';
import { inBrief } from '../protocol/inBrief.js';
import type { OfferedTool } from './catalogue.js';
import { targetOf, type Schema } from './schemaJudge.js';

/** The last three count only for the provider of a model of `@minds` (D3). */
type Fault =
  | 'union'
  | 'limit'
  | 'name'
  | 'keyword'
  | 'reference'
  | 'items'
  | 'nameBeginning'
  | 'count';

/** The APIs do not document this, so each row names a report with the words of the refusal. */
const refusals: readonly (readonly [fault: Fault, api: string, source: string])[] = [
  ['union', 'Anthropic', 'https://github.com/marianfoo/mcp-sap-docs/pull/51'],
  ['union', 'OpenAI', 'https://github.com/nspady/google-calendar-mcp/issues/39'],
  ['limit', 'OpenAI', 'https://github.com/langchain-ai/langchainjs/issues/9804'],
  // Inner properties may have any name: issue 709 of aws-solutions-library-samples/
  // accelerated-intelligent-document-processing-on-aws.
  ['name', 'Anthropic', 'https://github.com/erikmaday/unusual-whales-mcp/pull/57'],
  ['keyword', 'Anthropic', 'https://github.com/Dokploy/mcp/issues/74'],
  ['reference', 'Anthropic', 'https://github.com/anyproto/anytype-mcp/issues/21'],
  ['items', 'Copilot', 'https://github.com/rootlyhq/rootly-mcp-server/issues/82'],
  ['items', 'OpenAI', 'https://github.com/spacelift-io/spacectl/issues/402'],
  ['items', 'Gemini', 'https://github.com/pixelsock/directus-mcp/issues/12'],
  ['nameBeginning', 'Gemini', 'https://github.com/voideditor/void/pull/961'],
  ['count', 'Copilot', 'https://github.com/microsoft/vscode-copilot-release/issues/9375'],
  ['count', 'OpenAI', 'https://github.com/zed-industries/zed/issues/32946'],
];

/** A place in a schema with a fault. A schema may have more than anybody reads. */
export interface Place {
  readonly fault: Fault;
  /** Returns a clause. */
  readonly text: () => string;
  /** True if agents get a form without the fault. */
  readonly isMended: boolean;
}

export function apisRefusing(places: readonly Place[]): readonly string[] {
  const faults = new Set(places.map(({ fault }) => fault));
  return [...new Set(refusals.flatMap(([fault, api]) => (faults.has(fault) ? [api] : [])))];
}

export function refuses(api: string, fault: Fault): boolean {
  return refusals.some((row) => row[0] === fault && row[1] === api);
}

const propertyName = /^[a-zA-Z0-9_.-]{1,64}$/;
const unions = ['anyOf', 'oneOf', 'allOf'];
const limits = ['not', 'enum'];

/** Looks at a tool after its override, which needs the whole schema of the server (O6). */
export const modelForm = perObject((tool: OfferedTool) => {
  const keys = [...unions, ...limits].filter((key) => tool.inputSchema[key] !== undefined);
  const flat = keys.length > 0 ? flattened(tool) : undefined;
  const places = keys.map((key): Place => ({
    fault: unions.includes(key) ? 'union' : 'limit',
    text: () => english`inputSchema has "${key}" at its top`,
    isMended: flat !== undefined,
  }));
  const shown = flat ?? tool;
  for (const name of Object.keys(shown.inputSchema.properties ?? {})) {
    if (propertyName.test(name)) continue;
    const text = () => english`inputSchema has a property "${clipped(name, 100)}"`;
    places.push({ fault: 'name', text, isMended: false });
  }
  return { tool: shown, places };
});

export function isUnionOfObjects(root: Schema): boolean {
  const { type, ...rest } = asFields(root);
  const parts = unions.flatMap((key) => asList(rest[key]));
  return type === undefined && parts.some((part) => namesOf(part, root).length > 0);
}

/** Undefined if a reference leads into a part that would go. */
function flattened(tool: OfferedTool): OfferedTool | undefined {
  const root: Schema = tool.inputSchema;
  if (/"\$ref":"#\/(?:anyOf|oneOf|allOf|not|enum)\//.test(JSON.stringify(root))) return undefined;
  // By name and JSON, because alternatives may say the same of an argument.
  const found = new Map<string, Map<string, unknown>>();
  for (const properties of propertiesIn(root, root, new Set())) {
    for (const [name, schema] of Object.entries(properties)) {
      found.set(name, (found.get(name) ?? new Map()).set(JSON.stringify(schema), schema));
    }
  }
  const merged = [...found].map(([name, schemas]) => {
    const [first, ...others] = schemas.values();
    return [name, others.length > 0 ? { anyOf: [first, ...others] } : first];
  });
  const required = requiredIn(root);
  const inputSchema: Schema = {
    ...without(root, ...unions, ...limits, 'required'),
    // The schema of the whole says the most about an argument.
    properties: { ...Object.fromEntries(merged), ...asFields(root['properties']) },
    ...(required.length > 0 && { required }),
  };
  const description = [tool.description ?? '', ...alternatives(root)].join('\n\n').trim();
  return { ...tool, description, inputSchema: inputSchema as OfferedTool['inputSchema'] };
}

/** @param seen keeps a schema with many references short */
function* propertiesIn(part: unknown, root: Schema, seen: Set<unknown>): Generator<Fields> {
  if (!isObject(part) || seen.has(part)) return;
  seen.add(part);
  yield asFields(part['properties']);
  const parts = [targetOf(part['$ref'], root), ...unions.flatMap((key) => asList(part[key]))];
  for (const inner of parts) {
    yield* propertiesIn(inner, root, seen);
  }
}

/** An argument is required if each alternative requires it. */
function requiredIn(root: Schema): readonly unknown[] {
  const required = new Set(asList(root['required']));
  for (const key of unions) {
    const parts = asList(root[key]);
    const counts = new Map<unknown, number>();
    for (const name of parts.flatMap((part) => asList(resolved(part, root)['required']))) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const fewest = key === 'allOf' ? 1 : parts.length;
    for (const [name, count] of counts) {
      if (count >= fewest) required.add(name);
    }
  }
  return [...required];
}

function resolved(part: unknown, root: Schema): Schema {
  return asFields(targetOf(asFields(part)['$ref'], root) ?? part);
}

const quantities = {
  anyOf: 'at least one of',
  oneOf: 'exactly one of',
  allOf: 'all of',
  not: 'not',
  enum: 'one of',
};

function alternatives(root: Schema): readonly string[] {
  return Object.entries(quantities).flatMap(([key, quantity]) => {
    const parts = [root[key] ?? []].flat();
    if (parts.length === 0) return [];
    const texts = parts.map((part, index) => (index < mostNamed ? textOf(part, root) : ''));
    const listed = shortList(texts, mostNamed);
    return [`Arguments: ${quantity} ${listed}.`];
  });
}

const mostNamed = 20;

function textOf(part: unknown, root: Schema): string {
  return `(${namesOf(part, root).join(', ') || inBrief(part, 500)})`;
}

/** Returns `a`, `b?` or `c: "x"` for each argument of an alternative. */
function namesOf(given: unknown, root: Schema): readonly string[] {
  const part = resolved(given, root);
  const properties = asFields(part['properties']);
  const required = new Set(asList(part['required']).map(String));
  const names = new Set([...required, ...Object.keys(properties)]);
  return [...names].map((name) => {
    const { const: value } = asFields(properties[name]);
    const optional = required.has(name) ? '' : '?';
    const only = value === undefined ? '' : `: ${inBrief(value, 100)}`;
    return `${name}${optional}${only}`;
  });
}
