/**
 * What a person relies on in a tool once they let its server start (S3): what models read of it, what it takes and
 * gives, and what it says of its effects. Each part is kept as a short hash, for which the order of keys does not count
 * and everything else does. The hashes are pure; what was seen before is the shell's knowledge (`ToolReview`).
 */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../base/canonicalJson.js';
import type { Event } from '../base/events.js';
import type { OfferedTool } from '../tools/catalogue.js';
import type { LaunchDescription } from './fingerprint.js';

const toolParts = ['description', 'schema', 'hints'] as const;

export type ToolPart = (typeof toolParts)[number];

/** Holds one hash for each part, in the order of `toolParts`. */
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

/**
 * Keeps 96 bits, for which nobody finds a second description by chance, and which let thousands of tools fit into a
 * store.
 */
function hash(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url').slice(0, 16);
}

/** A tool that is no longer what it was when its server was approved (S3). */
export interface ChangedTool {
  readonly original: string;
  /** Says which parts of it changed; never empty. */
  readonly parts: readonly ToolPart[];
  /** Whether it is kept from agents until a person accepts it. */
  readonly held: boolean;
}

/** Tells changed tools from unchanged ones; the core asks it of its shell. */
export interface ToolReview {
  /**
   * Returns the parts that changed, by the original names of the tools. A tool that this launch lists for the first
   * time is remembered as it is.
   */
  review(launch: LaunchDescription, tools: readonly OfferedTool[]): ReadonlyMap<string, readonly ToolPart[]>;
  /** Whether a changed tool is kept from agents until a person has accepted it. */
  holdsBack(): boolean;
  /** Fires when a change was accepted, when a server was forgotten, and when `holdsBack` changed. */
  readonly onDidChange: Event<void>;
}
