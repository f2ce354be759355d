/**
 * What of a tool a person relies on once they let its server start (spec S3), as short hashes: what models read of it,
 * what it takes and gives, and what it says of its effects. Pure. Order of keys does not count; everything else does.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../base/canonicalJson.js';
import type { OfferedTool } from '../tools/catalogue.js';

export const toolParts = ['description', 'schema', 'hints'] as const;

export type ToolPart = (typeof toolParts)[number];

/** One hash a part, in the order of `toolParts`. */
export type ToolPrint = readonly [description: string, schema: string, hints: string];

const printed = new WeakMap<OfferedTool, ToolPrint>();

export function printOf(tool: OfferedTool): ToolPrint {
  const known = printed.get(tool);
  if (known) return known;
  const { title, description, inputSchema, outputSchema, annotations } = tool;
  const { title: shownTitle, ...hints } = annotations ?? {};
  const print: ToolPrint = [hash([title, description, shownTitle]), hash([inputSchema, outputSchema]), hash(hints)];
  printed.set(tool, print);
  return print;
}

export function differingParts(before: ToolPrint, now: ToolPrint): readonly ToolPart[] {
  return toolParts.filter((_, index) => before[index] !== now[index]);
}

/** 96 bits: nobody finds a second description for one by chance, and thousands of tools fit into a store. */
function hash(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url').slice(0, 16);
}
