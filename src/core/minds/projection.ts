/**
 * Fits tools to a provider (D3): every tool passes unchanged, and known refusals are reported
 * beside the tools.
 */
import { asFields } from '../base/isObject.js';
import type { ConversationTool } from './model.js';

interface ProjectionProblem {
  /** Absent for all tools together. */
  readonly tool?: string;
  readonly message: string;
}

type Projection = {
  readonly tools: readonly ConversationTool[];
  readonly problems: readonly ProjectionProblem[];
};

/** Completes "accepts" for a refused tool. */
type Refusal = (tool: ConversationTool) => string | undefined;

const otherBeginning: Refusal = ({ name }) =>
  /^[a-zA-Z_]/.test(name)
    ? undefined
    : `only tool names that begin with a letter or \`_\`, which \`${name}\` does not`;

const topLevelChoice: Refusal = ({ name, inputSchema }) => {
  const choice = ['oneOf', 'anyOf', 'allOf', 'not', 'enum'].find(
    (keyword) => inputSchema[keyword] !== undefined,
  );
  return choice && `no \`${choice}\` at the top of an input schema, which \`${name}\` has`;
};

const otherProperty: Refusal = ({ name, inputSchema: { properties } }) => {
  const odd = Object.keys(asFields(properties)).find((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key));
  return odd === undefined ? undefined : `no property named \`${odd}\`, which \`${name}\` has`;
};

const arrayWithoutItems: Refusal = ({ name, inputSchema }) =>
  hasArrayWithoutItems(inputSchema, 0)
    ? `no array without \`items\` in an input schema, which \`${name}\` has`
    : undefined;

interface ProviderRules {
  readonly name: string;
  readonly vendors: RegExp;
  readonly mostTools: number;
  readonly refusals: readonly Refusal[];
}

/** According to users of these providers, each of these fails the whole request. */
const rules: readonly ProviderRules[] = [
  {
    name: 'Copilot',
    vendors: /copilot/i,
    mostTools: 128,
    refusals: [arrayWithoutItems],
  },
  {
    name: 'OpenAI',
    vendors: /openai|azure|customoai/i,
    mostTools: 128,
    refusals: [topLevelChoice, arrayWithoutItems],
  },
  {
    name: 'Anthropic',
    vendors: /anthropic|claude/i,
    mostTools: Infinity,
    refusals: [topLevelChoice, otherProperty],
  },
  {
    name: 'Gemini',
    vendors: /gemini|google/i,
    mostTools: Infinity,
    refusals: [otherBeginning, arrayWithoutItems],
  },
];

export function projectToolsForProvider(
  vendor: string,
  tools: readonly ConversationTool[],
): Projection {
  const known = rules.filter(({ vendors }) => vendors.test(vendor));
  const problems = known.flatMap(({ name, mostTools, refusals }) => {
    const message = `${name} accepts at most ${mostTools} tools in one request, not ${tools.length}.`;
    const refused = tools.flatMap((tool) =>
      refusals.flatMap((refusal) => [{ tool: tool.name, why: refusal(tool) }]),
    );
    return [
      ...(tools.length > mostTools ? [{ message }] : []),
      ...refused.flatMap(({ tool, why }) =>
        why ? [{ tool, message: `${name} accepts ${why}.` }] : [],
      ),
    ];
  });
  return { tools, problems };
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
  return Object.entries(schema).some(
    ([key, inner]) => !values.has(key) && hasArrayWithoutItems(inner, depth + 1),
  );
}
