/**
 * What of a tool a person relies on once they let its server start (S3), as short hashes: what models read of it,
 * what it takes and gives, and what it says of its effects. Pure. Order of keys does not count; everything else does.
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../base/canonicalJson.js';
import type { OfferedTool } from '../tools/catalogue.js';
import type { Event } from '../base/events.js';
import type { LaunchDescription } from './fingerprint.js';

const toolParts = ['description', 'schema', 'hints'] as const;

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

/**
 * Tools that are no longer what they were when their server was approved (S3), as the core asks it of its shell.
 */

export interface ToolReview {
  /**
   * Which of these tools, by original name, changed and in what. Synchronous. A tool that this launch lists for the first
   * time is remembered as it is.
   */
  review(launch: LaunchDescription, tools: readonly OfferedTool[]): ReadonlyMap<string, readonly ToolPart[]>;
  /** Whether a changed tool is kept from agents until a person has accepted it. */
  holdsBack(): boolean;
  /** Accepted, forgotten, or `holdsBack` changed. */
  readonly onDidChange: Event<void>;
}
