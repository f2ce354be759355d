/**
 * Fits tools to a provider (D3): every tool passes unchanged, and known refusals are reported
 * beside the tools.
 */
import { english } from '../base/language.js';
import { shortList } from '../base/text.js';
import type { OfferedTool } from './catalogue.js';
import { modelForm, refuses, type Place } from './modelForm.js';
import { lookedAt } from './schemas.js';

interface ProjectionProblem {
  /** Absent for all tools together. */
  readonly tool?: string;
  readonly message: string;
}

/** The APIs by the vendors of the editor's models. */
const vendors = {
  Copilot: /copilot/i,
  OpenAI: /openai|azure|customoai/i,
  Anthropic: /anthropic|claude/i,
  Gemini: /gemini|google/i,
};

const mostTools = 128;

export function projectToolsForProvider<Tool extends OfferedTool>(
  vendor: string,
  tools: readonly Tool[],
) {
  const problems: ProjectionProblem[] = [];
  for (const [api, pattern] of Object.entries(vendors)) {
    if (!pattern.test(vendor)) continue;
    if (tools.length > mostTools && refuses(api, 'count')) {
      const message = english`${api} accepts at most ${mostTools} tools in one request, not ${tools.length}.`;
      problems.push({ message });
    }
    for (const tool of tools) {
      const places = placesIn(tool).filter(({ fault }) => refuses(api, fault));
      if (places.length === 0) continue;
      const { name } = tool;
      const why = shortList(
        places.map(({ text }, index) => (index < 3 ? text() : '')),
        3,
      );
      problems.push({
        tool: name,
        message: english`${api} refuses every request with the tool "${name}": ${why}.`,
      });
    }
  }
  return {
    tools,
    problems,
  };
}

type FoundPlace = Pick<Place, 'fault' | 'text'>;

function placesIn(tool: OfferedTool): readonly FoundPlace[] {
  const found: FoundPlace[] = [];
  if (hasArrayWithoutItems(tool.inputSchema, 0)) {
    const text = () => 'inputSchema has an array without "items"';
    found.push({
      fault: 'items',
      text,
    });
  }
  if (!/^[a-zA-Z_]/.test(tool.name)) {
    const text = () => 'its name does not begin with a letter or "_"';
    found.push({
      fault: 'nameBeginning',
      text,
    });
  }
  return [...lookedAt(tool).drafts, ...modelForm(tool).places, ...found];
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
