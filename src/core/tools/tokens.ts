/**
 * Estimates a tool's share of a model's context, to compare tools. The real count depends on its
 * vocabulary.
 */
import { isForAppAlone } from '../apps/toolMeta.js';
import { perObject } from '../base/perObject.js';
import type { OfferedTool, ServedTool } from './catalogue.js';

const bytesPerToken = 4;

/** A server's tool stays the same object in every snapshot until the next list. */
export const bytesOf = perObject(({ description = '', inputSchema: parameters }: OfferedTool) =>
  Buffer.byteLength(
    JSON.stringify({
      name: '',
      description,
      parameters,
    }),
  ),
);

export function estimatedTokens({ editorId, tool }: Pick<ServedTool, 'editorId' | 'tool'>): number {
  return Math.ceil((bytesOf(tool) + editorId.length) / bytesPerToken);
}

/** Every snapshot asks for it, and each list of tools stays the same object. */
export function savedTokens(
  listed: readonly OfferedTool[],
  published: readonly ServedTool[],
): number {
  return savedOf(listed)(published);
}

const savedOf = perObject((listed: readonly OfferedTool[]) =>
  perObject((published: readonly ServedTool[]) => countedSaving(listed, published)),
);

function countedSaving(listed: readonly OfferedTool[], published: readonly ServedTool[]): number {
  const [first] = published;
  if (!first) return 0;
  const prefix = first.editorId.slice(0, first.editorId.length - first.editorName.length);
  const names = new Set(published.map(({ original }) => original));
  const keptOut = listed.filter((tool) => !names.has(tool.name) && !isForAppAlone(tool));
  const ofKeptOut = keptOut.reduce(
    (sum, tool) => sum + estimatedTokens({ editorId: prefix + tool.name, tool }),
    0,
  );
  const overridden = published.filter(({ override }) => override);
  return overridden.reduce(
    (sum, tool) => sum + offeredTokens(tool) - estimatedTokens(tool),
    ofKeptOut,
  );
}

export function offeredTokens({ editorId, tool, override }: ServedTool): number {
  return estimatedTokens({ editorId, tool: override?.offered ?? tool });
}

export function estimatedTokensOf(tools: readonly ServedTool[]): number {
  return tools.reduce((sum, tool) => sum + estimatedTokens(tool), 0);
}
