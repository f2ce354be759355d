/**
 * Fits tools to a provider (D3). Today every tool passes unchanged, so no guess loses one. Known refusals of the
 * provider are reported beside the tools.
 */
import type { ConversationTool } from './model.js';

export interface ProjectionProblem {
  /** Absent for all tools together. */
  readonly tool?: string;
  /** A sentence about the provider's known refusal. */
  readonly message: string;
}

interface Projection {
  readonly tools: readonly ConversationTool[];
  readonly problems: readonly ProjectionProblem[];
}

interface ProviderRules {
  /** The name for people. */
  readonly name: string;
  readonly vendors: RegExp;
  readonly mostTools?: number;
  readonly firstCharacter?: RegExp;
  readonly propertyName?: RegExp;
  /** This concerns `oneOf` and the like at the top level. */
  readonly refusesTopLevelChoices?: true;
  readonly refusesArraysWithoutItems?: true;
}

/** According to users of these providers, each of these fails the whole request. */
const rules: readonly ProviderRules[] = [
  { name: 'Copilot', vendors: /copilot/i, mostTools: 128, refusesArraysWithoutItems: true },
  {
    name: 'OpenAI',
    vendors: /openai|azure|customoai/i,
    mostTools: 128,
    refusesTopLevelChoices: true,
    refusesArraysWithoutItems: true,
  },
  {
    name: 'Anthropic',
    vendors: /anthropic|claude/i,
    propertyName: /^[a-zA-Z0-9_.-]{1,64}$/,
    refusesTopLevelChoices: true,
  },
  { name: 'Gemini', vendors: /gemini|google/i, firstCharacter: /^[a-zA-Z_]/, refusesArraysWithoutItems: true },
];

/** @param vendor the vendor as the editor names it */
export function projectToolsForProvider(vendor: string, tools: readonly ConversationTool[]): Projection {
  const known = rules.filter(({ vendors }) => vendors.test(vendor));
  return { tools, problems: known.flatMap((provider) => problemsWith(provider, tools)) };
}

function problemsWith(provider: ProviderRules, tools: readonly ConversationTool[]): ProjectionProblem[] {
  const { name, mostTools } = provider;
  const found: ProjectionProblem[] = [];
  if (mostTools !== undefined && tools.length > mostTools) {
    found.push({ message: `${name} accepts at most ${mostTools} tools in one request, not ${tools.length}.` });
  }
  for (const tool of tools) {
    for (const message of refusals(provider, tool)) found.push({ tool: tool.name, message });
  }
  return found;
}

const choices = ['oneOf', 'anyOf', 'allOf', 'not', 'enum'] as const;

function refusals(provider: ProviderRules, tool: ConversationTool): string[] {
  const { name, firstCharacter, propertyName, refusesTopLevelChoices, refusesArraysWithoutItems } = provider;
  const schema = tool.inputSchema as Record<string, unknown>;
  const found: string[] = [];
  if (firstCharacter && !firstCharacter.test(tool.name)) {
    found.push(`${name} accepts only tool names that begin with a letter or \`_\`, which \`${tool.name}\` does not.`);
  }
  const choice = choices.find((keyword) => schema[keyword] !== undefined);
  if (refusesTopLevelChoices && choice) {
    found.push(`${name} accepts no \`${choice}\` at the top of an input schema, which \`${tool.name}\` has.`);
  }
  if (propertyName) {
    const odd = Object.keys(objectIn(schema['properties'])).find((key) => !propertyName.test(key));
    if (odd !== undefined) found.push(`${name} accepts no property named \`${odd}\`, which \`${tool.name}\` has.`);
  }
  if (refusesArraysWithoutItems && hasArrayWithoutItems(schema, 0)) {
    found.push(`${name} accepts no array without \`items\` in an input schema, which \`${tool.name}\` has.`);
  }
  return found;
}

/** The content of these keywords is not a schema. */
const values: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples']);

/** Schemas of real tools are flat. Deeper levels are not checked. */
const deepestLook = 16;

function hasArrayWithoutItems(schema: unknown, depth: number): boolean {
  if (depth > deepestLook || typeof schema !== 'object' || schema === null) return false;
  if (Array.isArray(schema)) return schema.some((item) => hasArrayWithoutItems(item, depth + 1));
  const { type, items, prefixItems } = schema as Record<string, unknown>;
  if (type === 'array' && items === undefined && prefixItems === undefined) return true;
  return Object.entries(schema).some(([key, inner]) => !values.has(key) && hasArrayWithoutItems(inner, depth + 1));
}

function objectIn(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
