/**
 * Shows overrides in the tools for agents (O1), finds unfit ones, and completes and checks
 * calls.
 */
import { english } from '../base/language.js';
import { asFields, asList, isObject, without, type Fields } from '../base/isObject.js';
import { quoted } from '../base/inert.js';
import { clipped, shortList } from '../base/text.js';
import { inBrief } from '../protocol/inBrief.js';
import type { ToolOverride } from '../config/model.js';
import type { AppliedOverride, ArgumentRule, OfferedTool } from './catalogue.js';
import { compileAllowed, foldedName, isAllowed } from './allowed.js';
import { type Pattern, stepsToMatch } from './patterns.js';
import {
  type GivenSchema,
  givenSchema,
  isRequiredBy,
  withChanged,
  withFixed,
} from './schemaEdits.js';
import { targetOf, type Schema } from './schemaJudge.js';

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

export function overridden(tool: OfferedTool, { description, arguments: given }: ToolOverride) {
  const faults: OverrideFault[] = [];
  const rules: ArgumentRule[] = [];
  const server = givenSchema(tool.inputSchema);
  let schema = server.root;
  for (const [argument, override] of given) {
    const { allow, ...rest } = override;
    const rule = {
      name: argument,
      ...rest,
      ...(allow && { allow: allow.map(compileAllowed) }),
    };
    const found: OverrideFault[] = [];
    const { schema: changed, ...facts } = applied(server, schema, rule, (kind, detail, at) =>
      found.push({
        kind,
        argument,
        detail,
        ...at,
      }),
    );
    schema = changed;
    rules.push({ ...rule, ...facts });
    if (server.steps.areSpent) {
      faults.push({
        kind: 'unusable',
        argument,
        detail: tooLong,
      });
    } else {
      for (const fault of found) faults.push(fault);
    }
  }
  const inputSchema = schema as OfferedTool['inputSchema'];
  const shown: OfferedTool = {
    ...tool,
    ...(description !== undefined && { description }),
    inputSchema,
  };
  return {
    tool: shown,
    applied: { offered: tool, rules },
    faults,
  };
}

type Report = (
  kind: OverrideFault['kind'],
  detail: string,
  at?: Pick<OverrideFault, 'key' | 'index' | 'fix'>,
) => void;

type Applied = { readonly schema: Schema } & Pick<ArgumentRule, 'isRequired' | 'isUnknown'>;

function applied(server: GivenSchema, schema: Schema, rule: ArgumentRule, report: Report): Applied {
  if (rule.fixed) {
    return fixed(server, schema, rule.name, rule.fixed.value, report);
  }
  const { name, default: byDefault, allow } = rule;
  const isAllowedDefault = byDefault !== undefined && isAllowed(byDefault.value, rule);
  const change = (given: unknown): unknown => {
    const property = asFields(given);
    const narrowed = allow ? withAllowed(server, property, { ...rule, allow }, report) : property;
    if (isAllowedDefault) {
      return { ...narrowed, default: byDefault.value };
    }
    return byDefault ? without(narrowed, 'default') : narrowed;
  };
  if (byDefault && withFixed(server, schema, name, byDefault.value)?.isRefused) {
    const detail = english`does not take the default ${inBrief(byDefault.value, 100)}`;
    report('refused', detail, { key: 'default' });
  }
  const changed = withChanged(server, schema, name, change, isAllowedDefault);
  if (byDefault && !isAllowedDefault) {
    const detail = english`may not have the default ${inBrief(byDefault.value, 100)}, by its \`allow\``;
    report('refused', detail, { key: 'default', fix: 'Write a default that `allow` allows.' });
  }
  if (!changed) {
    report('unusable', unusable);
    return { schema };
  }
  if (!changed.isKnown) {
    report('unknown', byDefault ? notSent : unknown);
    return { schema, isUnknown: true };
  }
  // If a call left it out, the server would take its own default.
  if (!allow || isAllowedDefault) {
    return { schema: changed.schema };
  }
  return { schema: withRequired(changed.schema, name), isRequired: true };
}

/** Returns the schema without an argument that every call gets from the file. */
function fixed(
  server: GivenSchema,
  schema: Schema,
  name: string,
  value: unknown,
  report: Report,
): Applied {
  const found = withFixed(server, schema, name, value);
  if (!found) {
    report('unusable', unusable);
    return { schema };
  }
  const isUnknown = !found.isKnown;
  if (isUnknown) report('unknown', notSent);
  if (found.isRefused) {
    report('refused', english`does not take the value ${inBrief(value, 100)}`, { key: 'fixed' });
  }
  return isUnknown ? { schema, isUnknown } : { schema: found.schema };
}

function withRequired(schema: Schema, name: string): Schema {
  if (isRequiredBy(schema, name)) return schema;
  const required = [...asList(schema['required']), name];
  return { ...schema, required };
}

const unusable = 'is in a part of the schema that no override can change';
const tooLong = 'is in a schema that is too long to judge with its references';
const unknown = 'is not in its schema';
const notSent = 'is not in its schema, so it is not sent';

type AllowRule = ArgumentRule & Required<Pick<ArgumentRule, 'allow'>>;

function withAllowed(server: GivenSchema, given: Schema, rule: AllowRule, report: Report): Schema {
  const { allow: patterns } = rule;
  // A client may follow the default of the server.
  const { default: byDefault } = given;
  const property = isAllowed(byDefault, rule) ? given : without(given, 'default');
  const { type, items } = property;
  const types = type === undefined ? [] : [type].flat();
  if (types.length > 0 && !types.includes('string') && !types.includes('array')) {
    const detail = 'is neither a text nor a list of texts, so `allow` refuses every value';
    report('refused', detail, { key: 'allow', fix: 'Remove `allow`, or use `fixed`.' });
  } else {
    for (const [index, pattern] of patterns.entries()) {
      if (mayTake(server, property, pattern)) continue;
      const detail = english`has no value that the pattern ${quoted(pattern.text)} allows`;
      const fix = 'Remove the pattern, or write one for a value of the server’s schema.';
      report('refused', detail, {
        key: 'allow',
        index,
        fix,
      });
    }
  }
  const isList = types.includes('array') && !types.includes('string');
  const inner: Schema = isList ? asFields(items) : property;
  const narrowed = narrowedText(server, inner, patterns);
  const told = narrowed === inner ? withNote(property, patterns) : undefined;
  if (!isList) return told ?? narrowed;
  const shown = told ?? { ...property, items: narrowed };
  if (isAllowed([], rule)) return shown;
  const minItems = Math.max(1, Number(property['minItems']) || 1);
  return { ...shown, minItems };
}

/** False if a schema refuses every text, and every list of a text, that a pattern allows. */
function mayTake(server: GivenSchema, property: Schema, pattern: Pattern): boolean {
  const { judge } = server;
  const takes = (text: string) => judge.accepts(property, text) || judge.accepts(property, [text]);
  if (!pattern.text.includes('*')) {
    return takes(pattern.text);
  }
  const { items } = property;
  const texts =
    knownTexts(server, property) ?? (isObject(items) ? knownTexts(server, items) : undefined);
  return texts === undefined || matching(server, texts, [pattern]).some(takes);
}

/** Returns all texts that a schema can take, alone or in a list, if it lists them. */
function knownTexts({ root, steps }: GivenSchema, schema: Schema): readonly string[] | undefined {
  const texts = new Set<string>();
  const seen = new Set<unknown>();
  const add = (part: unknown, depth: number): boolean => {
    if (!isObject(part) || depth > deepest || !steps.take()) return false;
    if (seen.has(part)) return true;
    seen.add(part);
    const { enum: values, const: only, type, items, anyOf, oneOf, $ref } = part;
    if (Array.isArray(values) || only !== undefined) {
      const listed: readonly unknown[] = Array.isArray(values) ? values : [only];
      steps.takeFor(listed.length);
      for (const value of listed) {
        if (typeof value === 'string') texts.add(value);
      }
      return true;
    }
    const types = [type].flat();
    if (type !== undefined && !types.includes('string')) {
      return !types.includes('array') || add(items, depth + 1);
    }
    const target = targetOf($ref, root);
    const branches = isObject(target) ? [target] : [anyOf, oneOf].find(Array.isArray);
    return branches?.every((one: unknown) => add(one, depth + 1)) ?? false;
  };
  return add(schema, 0) ? [...texts] : undefined;
}

const deepest = 64;

/** A step of a schema takes as long as so many steps of a pattern (N4a). */
const stepsOfPattern = 200;

function matching(
  { steps }: GivenSchema,
  texts: readonly string[],
  patterns: readonly Pattern[],
): readonly string[] {
  if (!steps.take(stepsToMatch(patterns, texts) / stepsOfPattern)) return [];
  return texts.filter((text) => patterns.some((pattern) => pattern.matches(text)));
}

function narrowedText(server: GivenSchema, schema: Schema, patterns: readonly Pattern[]): Schema {
  const { enum: values, const: only, type } = schema;
  if (Array.isArray(values)) {
    const texts = (values as unknown[]).filter((value) => typeof value === 'string');
    const kept = matching(server, texts, patterns);
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
  if (typeof description !== 'string' || description === '') {
    return { ...property, description: note };
  }
  const end = /[.!?]\s*$/.test(description) ? '' : '.';
  return { ...property, description: `${description.trimEnd()}${end} ${note}` };
}

export type Completed =
  | { readonly kind: 'completed'; readonly arguments: Fields | undefined }
  /** `message` is a sentence with the argument, its value and what is allowed. */
  | { readonly kind: 'refused'; readonly message: string };

export function completed(override: AppliedOverride, given: Fields | undefined): Completed {
  const { rules } = override;
  if (rules.length === 0) {
    return { kind: 'completed', arguments: given };
  }
  const sent = new Map(Object.entries(given ?? {}).filter(isNotOtherSpelling(override)));
  for (const rule of rules) {
    const { name, fixed, default: byDefault, allow, isRequired, isUnknown } = rule;
    if (isUnknown) {
      // No agent may choose a value that the file fixes.
      if (fixed) sent.delete(name);
    } else if (fixed) {
      sent.set(name, fixed.value);
    } else if (byDefault && sent.get(name) === undefined) {
      sent.set(name, byDefault.value);
    }
    const value = sent.get(name);
    const isMissing = value === undefined;
    if (!allow || (isMissing ? !isRequired : isAllowed(value, rule))) continue;
    const patterns = allow.map(({ text }) => quoted(clipped(text, 100)));
    const allowed = shortList(patterns, 20);
    const what = isMissing ? 'be left out' : refusedPart(value, rule);
    return {
      kind: 'refused',
      message: `The argument "${name}" may not ${what}. Allowed: ${allowed}.`,
    };
  }
  return { kind: 'completed', arguments: Object.fromEntries(sent) };
}

/**
 * Some servers read a name in any case or normal form, and would take the value of another
 * spelling.
 */
function isNotOtherSpelling({
  rules,
  offered,
}: AppliedOverride): (entry: readonly [string, unknown]) => boolean {
  const names = new Set(rules.flatMap(({ name, fixed, allow }) => (fixed || allow ? [name] : [])));
  const folded = new Set([...names].map(foldedName));
  const known = offered.inputSchema.properties ?? {};
  return ([given]) =>
    names.has(given) || Object.hasOwn(known, given) || !folded.has(foldedName(given));
}

/** A long list would hide the refused item. */
function refusedPart(value: unknown, rule: ArgumentRule): string {
  const items = asList(value);
  const refused = items.find((item) => Array.isArray(item) || !isAllowed(item, rule));
  return refused === undefined ? `be ${inBrief(value, 100)}` : `contain ${inBrief(refused, 100)}`;
}
