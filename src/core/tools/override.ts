/** Shows overrides in the tools for agents (O1–O3, O6), finds unfit ones, and completes and checks calls. */
import { isObject, isTexts } from '../base/isObject.js';
import { quoted } from '../base/inert.js';
import { clipped, shortList } from '../base/text.js';
import { inBrief } from '../protocol/inBrief.js';
import type { ToolOverride } from '../config/model.js';
import type { AppliedOverride, ArgumentRule, OfferedTool } from './catalogue.js';
import { compilePattern, isTooMuchToMatch, type Pattern } from './patterns.js';
import { accepts, targetOf, withChanged, withFixed } from './schemaEdits.js';

export interface OverrideFault {
  /** `unusable`: the schema cannot show the override, so the tool is left out. */
  readonly kind: 'unknown' | 'unusable' | 'refused';
  readonly argument: string;
  readonly key?: 'fixed' | 'default' | 'allow';
  readonly index?: number;
  /** Completes “The argument …”. */
  readonly detail: string;
  /** A sentence, if the usual one would not help. */
  readonly fix?: string;
}

type Schema = Readonly<Record<string, unknown>>;

export function overridden(tool: OfferedTool, { description, arguments: given }: ToolOverride) {
  const faults: OverrideFault[] = [];
  const rules: ArgumentRule[] = [];
  let schema = tool.inputSchema as Schema;
  for (const [argument, override] of given) {
    const { allow, ...rest } = override;
    const rule = { name: argument, ...rest, ...(allow && { allow: allow.map(compilePattern) }) };
    rules.push(rule);
    schema = applied(schema, rule, (kind, detail, at) => faults.push({ kind, argument, detail, ...at }));
  }
  const inputSchema = schema as OfferedTool['inputSchema'];
  const shown: OfferedTool = { ...tool, ...(description !== undefined && { description }), inputSchema };
  return { tool: shown, applied: { offered: tool, rules }, faults };
}

type Report = (kind: OverrideFault['kind'], detail: string, at?: Pick<OverrideFault, 'key' | 'index' | 'fix'>) => void;

function applied(schema: Schema, { name, fixed, default: byDefault, allow }: ArgumentRule, report: Report): Schema {
  if (fixed) {
    const found = withFixed(schema, name, fixed.value);
    if (!found) report('unusable', unusable);
    else if (!found.isKnown) report('unknown', unknown);
    if (found?.isRefused) report('refused', `does not take the value ${inBrief(fixed.value, 100)}`, { key: 'fixed' });
    return found?.schema ?? schema;
  }
  let isKnown = false;
  const isAllowedDefault = byDefault && (!allow || isAllowed(byDefault.value, allow));
  const change = (property: unknown): unknown => {
    isKnown = true;
    const asObject = isObject(property) ? property : {};
    const narrowed = allow ? withAllowed(asObject, allow, schema, report) : asObject;
    if (!byDefault) return narrowed;
    return isAllowedDefault ? { ...narrowed, default: byDefault.value } : withoutDefault(narrowed);
  };
  const judged = byDefault && withFixed(schema, name, byDefault.value);
  if (byDefault && judged?.isRefused) {
    report('refused', `does not take the default ${inBrief(byDefault.value, 100)}`, { key: 'default' });
  }
  const changed = withChanged(schema, name, change, isAllowedDefault === true);
  if (byDefault && !isAllowedDefault) {
    const at = { key: 'default', fix: 'Write a default that `allow` allows.' } as const;
    report('refused', `may not have the default ${inBrief(byDefault.value, 100)}, by its \`allow\``, at);
  }
  if (changed === undefined) report('unusable', unusable);
  else if (!isKnown) report('unknown', unknown);
  return changed ?? schema;
}

function withoutDefault({ default: _, ...rest }: Schema): Schema {
  return rest;
}

const unusable = 'is in a part of the schema that no override can change';
const unknown = 'is not in its schema';

function withAllowed(given: Schema, patterns: readonly Pattern[], root: Schema, report: Report): Schema {
  // A client may follow the default of the server.
  const { default: byDefault, ...rest } = given;
  const property = byDefault === undefined || isAllowed(byDefault, patterns) ? given : rest;
  const { type, items } = property;
  const types = type === undefined ? [] : [type].flat();
  if (types.length > 0 && !types.some((one) => one === 'string' || one === 'array')) {
    report('refused', 'is neither a text nor a list of texts, so `allow` refuses every value', { key: 'allow' });
  } else {
    for (const [index, pattern] of patterns.entries()) {
      if (mayTake(property, pattern, root)) continue;
      const fix = 'Remove the pattern, or write one for a value of the server’s schema.';
      report('refused', `has no value that the pattern ${quoted(pattern.text)} allows`, { key: 'allow', index, fix });
    }
  }
  const isList = types.includes('array') && !types.includes('string');
  const inner: Schema = isList ? (isObject(items) ? items : {}) : property;
  const narrowed = narrowedText(inner, patterns);
  const told = narrowed === inner ? withNote(property, patterns) : undefined;
  return told ?? (isList ? { ...property, items: narrowed } : narrowed);
}

/** False if a schema refuses every text, and every list of a text, that a pattern allows. */
function mayTake(property: Schema, pattern: Pattern, root: Schema): boolean {
  const takes = (text: string): boolean => accepts(property, text, root) || accepts(property, [text], root);
  if (!pattern.text.includes('*')) return takes(pattern.text);
  const { items } = property;
  const texts = knownTexts(property, root) ?? (isObject(items) ? knownTexts(items, root) : undefined);
  return texts === undefined || texts.some((text) => pattern.matches(text) && takes(text));
}

/** Returns all texts that a schema can take, alone or in a list, if it lists them. */
function knownTexts(schema: Schema, root: Schema, depth = 0): readonly string[] | undefined {
  const { enum: values, const: only, type, items, anyOf, oneOf, $ref } = schema;
  const listed = Array.isArray(values) ? (values as unknown[]) : only === undefined ? undefined : [only];
  if (listed) return listed.filter((value) => typeof value === 'string');
  if (depth > deepest) return undefined;
  const types = [type].flat();
  if (type !== undefined && !types.includes('string')) {
    if (!types.includes('array')) return [];
    return isObject(items) ? knownTexts(items, root, depth + 1) : undefined;
  }
  const target = targetOf($ref, root);
  const branches = isObject(target) ? [target] : [anyOf, oneOf].find(Array.isArray);
  const found = branches?.map((one: unknown) => (isObject(one) ? knownTexts(one, root, depth + 1) : undefined));
  return found?.every((texts) => texts !== undefined) ? found.flat() : undefined;
}

const deepest = 16;

function narrowedText(schema: Schema, patterns: readonly Pattern[]): Schema {
  const { enum: values, const: only, type } = schema;
  if (Array.isArray(values)) {
    const texts = (values as unknown[]).filter((value) => typeof value === 'string');
    const kept = texts.filter((text) => patterns.some((pattern) => pattern.matches(text)));
    return kept.length > 0 ? { ...schema, enum: kept } : schema;
  }
  const isLiteral = patterns.every(({ text }) => !text.includes('*'));
  if (!isLiteral || type !== 'string' || only !== undefined) return schema;
  return { ...schema, enum: patterns.map(({ text }) => text) };
}

/** Models read descriptions, and not every one of them reads `pattern`. */
function withNote(property: Schema, patterns: readonly Pattern[]): Schema {
  const { description } = property;
  const note = `Allowed: ${patterns.map(({ text }) => quoted(text)).join(', ')}.`;
  if (typeof description !== 'string' || description === '') return { ...property, description: note };
  const end = /[.!?]\s*$/.test(description) ? '' : '.';
  return { ...property, description: `${description.trimEnd()}${end} ${note}` };
}

type Arguments = Readonly<Record<string, unknown>>;

export type Completed =
  | { readonly kind: 'completed'; readonly arguments: Arguments | undefined }
  /** `message` is a sentence with the argument, its value and what is allowed. */
  | { readonly kind: 'refused'; readonly message: string };

export function completed({ rules }: AppliedOverride, given: Arguments | undefined): Completed {
  if (rules.length === 0) return { kind: 'completed', arguments: given };
  const sent = new Map(Object.entries(given ?? {}));
  for (const { name, fixed, default: byDefault, allow } of rules) {
    if (fixed) sent.set(name, fixed.value);
    else if (byDefault && sent.get(name) === undefined) sent.set(name, byDefault.value);
    const value = sent.get(name);
    if (!allow || value === undefined || isAllowed(value, allow)) continue;
    const patterns = allow.map(({ text }) => quoted(clipped(text, 100)));
    const what = `${refusedPart(value, allow)}. Allowed: ${shortList(patterns, 20)}.`;
    return { kind: 'refused', message: `The argument "${name}" may not ${what}` };
  }
  return { kind: 'completed', arguments: Object.fromEntries(sent) };
}

/** A long list would hide the refused item. */
function refusedPart(value: unknown, allow: readonly Pattern[]): string {
  const items = Array.isArray(value) ? (value as unknown[]) : [];
  const refused = items.find((item) => Array.isArray(item) || !isAllowed(item, allow));
  return refused === undefined ? `be ${inBrief(value, 100)}` : `contain ${inBrief(refused, 100)}`;
}

function isAllowed(value: unknown, allow: readonly Pattern[]): boolean {
  const texts: unknown = Array.isArray(value) ? value : [value];
  if (!isTexts(texts)) return false;
  if (isTooMuchToMatch(allow, texts)) return false;
  return texts.every((text) => allow.some((pattern) => pattern.matches(text)));
}
